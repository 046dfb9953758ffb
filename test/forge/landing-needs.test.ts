// The forge information that a person sees before and during the work, for each kind of server,
// token and rule: in `drover doctor --forge`, in the checks before a run, and in the epic's status.

import assert from 'node:assert/strict';
import {
  type FakeGithub,
  type FakeGithubOptions,
  startFakeGithub,
} from '../doubles/fake-github/fake-github.ts';
import { queueRule, reviewRule } from '../doubles/fake-github/rules.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { panelClient } from '../e2e/support/panel-client.ts';
import { beginPlan } from '../e2e/support/plan.ts';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';

const slug = 'acme/shop';
const token = 'ghp_dummy0123456789';

suite('the requirements of landing on GitHub', function () {
  this.timeout(180_000);
  const project = useProjects();
  let fake: FakeGithub;
  teardown(async () => {
    await fake.close();
    assert.deepEqual(fake.faults, []);
  });

  const begin = async (options: FakeGithubOptions = {}): Promise<Project> => {
    fake = await startFakeGithub({ token, ...options });
    fake.git.create(slug);
    fake.repository.user = 'lead';
    const here = project({
      env: { GH_ENTERPRISE_TOKEN: token },
      settings: '[land]\nmode = "pr"\n[gate]\ncommand = "true"\n[forge]\npoll = "1s"\n',
    });
    here.git('remote', 'add', 'origin', `${fake.url}${slug}.git`);
    here.git('push', '-q', fake.git.path(slug), 'main');
    await beginPlan(here, [
      { id: 'E1', type: 'epic', title: 'Sell shoes' },
      { id: 't1', epic_id: 'E1' },
    ]);
    return here;
  };

  /** Doctor's lines about the forge, each with its mark. */
  const doctor = async (here: Project, code: 0 | 3 = 0): Promise<Map<string, string>> => {
    const printed = await here.expect(code, ['doctor', '--forge']);
    assert.ok(!printed.includes(token), 'the token is printed');
    const lines = printed.split('\n').flatMap((line) => {
      const [, mark, topic = '', text] = /^(ok|MISSING) +forge ([^:]+): (.+)$/u.exec(line) ?? [];
      return mark === undefined ? [] : ([[topic, `${mark} ${text}`]] as const);
    });
    return new Map(lines);
  };

  /** What the checks before a run report about the forge. */
  const preflight = async (here: Project): Promise<readonly string[]> => {
    const client = await panelClient(here);
    try {
      const { checks } = await client.call('preflight', { epic: 'E1', env: here.env });
      const found = checks.filter(({ name }) => name === 'forge');
      return found.map(({ outcome, message }) => `${outcome}: ${message}`);
    } finally {
      client.close();
    }
  };

  const noteOf = async (here: Project): Promise<string> =>
    (await here.status()).epics[0]?.landing_note ?? '';

  /** What the epic waits for once its pull request is ready and was read. */
  const waitsFor = async (here: Project, wanted: RegExp): Promise<string> => {
    await here.expect(2, ['run', '--epic', 'E1']);
    await eventually(`the epic waits for ${wanted}`, async () => wanted.test(await noteOf(here)));
    const note = await noteOf(here);
    assert.ok((await here.expect(0, ['why', 'E1'])).startsWith(note));
    return note;
  };

  test('a plain repository with a classic token needs nothing more', async () => {
    const here = await begin();
    const said = await doctor(here);
    assert.deepEqual(
      [...said.values()].filter((line) => /^MISSING|warning/u.test(line)),
      [],
    );
    assert.match(said.get('repository') ?? '', /acme\/shop on 127\.0\.0\.1.*as lead\./u);
    assert.deepEqual(await preflight(here), [
      'ok: Pull requests go to acme/shop on 127.0.0.1, into main.',
    ]);
    assert.deepEqual(fake.pulls, [], 'the doctor opens no pull request');
    assert.equal(fake.git.pushes.length, 0, 'the doctor pushes nothing');
  });

  test('GHES 3.16: issues have no relations, and landing works', async () => {
    const here = await begin({ release: 'ghes-3.16' });
    const said = await doctor(here);
    assert.match(said.get('issues') ?? '', /^ok GitHub Enterprise Server 3\.16\.\d+ has no/u);
    assert.match(said.get('rules') ?? '', /^ok The rules of main can be read/u);
    await waitsFor(here, /^PR #41 waits for a person to merge it$/u);
  });

  test('a fine-grained token cannot see check runs, and every view says so', async () => {
    const here = await begin({ kind: 'fine_grained' });
    const said = await doctor(here);
    assert.match(said.get('push') ?? '', /^ok Git has permission to push/u);
    assert.match(
      said.get('checks') ?? '',
      /^ok warning: Check runs cannot be read with this token \(it needs checks=read\): only jobs/u,
    );
    const [first] = await preflight(here);
    assert.match(first ?? '', /^ok: Pull requests go to/u);
    const note = await waitsFor(here, /check runs cannot be read/u);
    assert.match(note, /^PR #41 waits for a person to merge it; check runs cannot be read/u);
  });

  test('with a read-only token, nothing can be pushed, and the epic says why', async () => {
    const here = await begin({ kind: 'read_only' });
    const said = await doctor(here, 3);
    assert.match(said.get('push') ?? '', /^MISSING .*403.*Sign git in/u);
    assert.match(
      said.get('pull requests') ?? '',
      /^MISSING This token may not write.*\(it needs pull_requests=write\)\.$/u,
    );
    await here.expect(2, ['run', '--epic', 'E1']);
    await eventually('the epic is returned', async () => /403/u.test(await noteOf(here)));
  });

  test('an archived repository and a repository without push permission are refused before the run', async () => {
    const here = await begin();
    fake.repository.isArchived = true;
    assert.match((await doctor(here, 3)).get('repository') ?? '', /^MISSING .*is archived/u);
    assert.match((await preflight(here)).join('\n'), /^error: acme\/shop is archived/mu);
    fake.repository.isArchived = false;
    fake.repository.mayPush = false;
    assert.match((await preflight(here)).join('\n'), /^error: lead may not push to acme\/shop/mu);
  });

  test('a required approval cannot come from the person whose token opens the pull request', async () => {
    const here = await begin();
    fake.rules.push(reviewRule(1));
    const wanted = /main needs 1 approval\. GitHub refuses one by lead, who opens/u;
    assert.match((await doctor(here)).get('approvals') ?? '', wanted);
    assert.match((await preflight(here)).join('\n'), wanted);
    await waitsFor(here, /^PR #41 waits for 1 approval \(not by lead\)$/u);
  });

  test('with required linear history and signatures, it lands by squash', async () => {
    const here = await begin();
    fake.rules.push({ type: 'required_linear_history' }, { type: 'required_signatures' });
    const said = await doctor(here);
    assert.match(
      said.get('history') ?? '',
      /^ok main accepts no merge commits.*by squash only\.$/u,
    );
    assert.match(said.get('signatures') ?? '', /^ok warning: .*does not sign\. Land by squash/u);
    assert.match(
      (await preflight(here)).join('\n'),
      /^warning: main accepts only signed commits/mu,
    );
    await waitsFor(here, /^PR #41 waits for a person to squash it$/u);
  });

  test('without squash, required linear history prevents any landing', async () => {
    const here = await begin();
    fake.rules.push({ type: 'required_linear_history' });
    fake.repository.methods = ['merge'];
    const wanted = /by squash only\. Allow squash merging/u;
    assert.match((await doctor(here)).get('history') ?? '', wanted);
    assert.match((await preflight(here)).join('\n'), wanted);
  });

  test('a merge queue without a workflow that handles it is reported', async () => {
    const here = await begin();
    fake.rules.push(queueRule());
    here.write('repo/.github/workflows/ci.yml', 'on:\n  pull_request:\njobs: {}\n');
    const wanted = /ci\.yml does not start in it, so their checks never report there/u;
    assert.match((await doctor(here)).get('queue') ?? '', wanted);
    assert.match((await preflight(here)).join('\n'), wanted);
    here.write('repo/.github/workflows/ci.yml', 'on:\n  pull_request:\n  merge_group:\njobs: {}\n');
    assert.match((await doctor(here)).get('queue') ?? '', /^ok Pull requests .* merge queue\.$/u);
  });

  test('without a remote on a forge, doctor and the checks name the remedy', async () => {
    const here = await begin();
    here.git('remote', 'remove', 'origin');
    const printed = await here.expect(3, ['doctor', '--forge']);
    assert.match(printed, /^MISSING {2}forge: The remote "origin" names no repository/mu);
    assert.match((await preflight(here)).join('\n'), /^error: The remote "origin" names no/mu);
  });
});
