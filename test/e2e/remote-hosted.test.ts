// Attempts as jobs on a platform that creates its own workers: submitted, followed, canceled, and
// fetched from the job branch.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  startHostedPlatform,
  type HostedPlatform,
  type PlatformOptions,
} from '../doubles/hosted-platform.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const token = 'token-of-the-platform';
const key = 'key-0123456789';

suite('hosted jobs', function () {
  this.timeout(120_000);
  const project = useProjects();
  let platform: HostedPlatform | null = null;
  teardown(async () => {
    await platform?.close();
    platform = null;
  });

  async function hosted(
    options: Omit<PlatformOptions, 'folder' | 'token'>,
  ): Promise<{ here: Project; there: HostedPlatform; env: Record<string, string> }> {
    const here = project({ files: { '.env': 'SECRET=1\n', 'gone.txt': 'x\n', 'kept.txt': 'k\n' } });
    const there = await startHostedPlatform({
      folder: join(here.folder, 'there'),
      token,
      ...options,
    });
    platform = there;
    const settings = [
      'runs_on = "remote"',
      '[agent]',
      'kind = "drover-code"',
      '[remote]',
      'provisioner = "hosted"',
      `url = "${there.url}"`,
      `git_remote = "${there.repository}"`,
    ];
    writeFileSync(join(here.root, '.drover.toml'), `${settings.join('\n')}\n`);
    here.git('commit', '-qam', 'settings');
    const env = {
      DROVER_AGENT_TYPE: 'drover-code',
      DROVER_REMOTE_TOKEN: token,
      ANTHROPIC_API_KEY: key,
    };
    return { here, there, env };
  }

  const leases = (here: Project): readonly string[] => {
    const folder = join(here.root, '.drover', 'remote', 'leases');
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  test('a job is submitted once, its interrupted log is followed, its branch is fetched, and its work lands', async () => {
    const { here, there, env } = await hosted({
      refusals: [],
      cutAfter: 2,
      work: (clone, print) => {
        for (const line of ['one', 'two', 'three', 'four']) print(line);
        writeFileSync(join(clone, 'far.txt'), 'work of far\n');
        writeFileSync(join(clone, '.env'), 'PLANTED=1\n');
        rmSync(join(clone, 'gone.txt'));
        return 0;
      },
    });
    await beginPlan(here, ['far']);
    await here.expect(0, ['trust', '--yes'], { env });
    await here.expect(0, ['remote', 'test'], { env });
    await here.expect(0, ['run'], { env });
    assert.deepEqual(landedTasks(here), ['far']);
    assert.equal(here.git('show', 'main:far.txt'), 'work of far');
    assert.equal(here.git('show', 'main:.env'), 'SECRET=1');
    const names = here.git('ls-tree', '--name-only', 'main').split('\n');
    assert.ok(!names.includes('gone.txt') && names.includes('kept.txt'));
    const [submission, ...others] = there.submissions;
    assert.ok(submission !== undefined && others.length === 0);
    assert.match(submission.prompt, /Task id: far/);
    assert.ok(there.requests.includes('GET /exec/JOB/stream [1]'));
    const log = await here.expect(0, ['log', 'far']);
    assert.deepEqual(
      log.match(/^.*\b(one|two|three|four)$/gm)?.map((line) => line.split(' ').at(-1)),
      ['one', 'two', 'three', 'four'],
    );
    // The platform gets only the files: no secret, no history, no credential.
    const base = `${submission.git.base_sha}`;
    assert.equal(there.git('rev-list', '--count', base), '1');
    assert.ok(!there.git('ls-tree', '-r', '--name-only', base).split('\n').includes('.env'));
    assert.ok(there.bodies.every((body) => !body.includes(key) && !body.includes(token)));
    const branches = there.git('for-each-ref', '--format=%(refname)').split('\n');
    assert.match(branches.join(' '), /^refs\/heads\/drover\/job\/[0-9a-f]{32}$/);
    assert.deepEqual(leases(here), []);
  });

  soakTest('a paused job is canceled, and the commits it had pushed are kept', async () => {
    let clones = 0;
    const { here, there, env } = await hosted({
      work: async (clone, print) => {
        clones += 1;
        if (existsSync(join(clone, 'half.txt'))) {
          writeFileSync(join(clone, 'whole.txt'), 'whole\n');
          return 0;
        }
        writeFileSync(join(clone, 'half.txt'), 'half\n');
        print('begun');
        await eventually('it is canceled', () => there.canceled.size > 0, 60_000);
        return 0;
      },
    });
    await beginPlan(here, ['held']);
    const run = here.start(['run'], { env });
    await eventually('it has begun', () => clones === 1, 60_000);
    await eventually(
      'it is followed',
      () => there.requests.includes('GET /exec/JOB/stream'),
      60_000,
    );
    await here.expect(0, ['pause', 'held']);
    await run.ended;
    assert.equal(here.git('show', 'refs/drover/work/held/1:half.txt'), 'half');
    assert.deepEqual(leases(here), []);
    await here.expect(0, ['resume-task', 'held']);
    await here.expect(0, ['run'], { env });
    assert.equal(here.git('show', 'main:whole.txt'), 'whole');
  });

  test('a branch that does not descend from the base is refused, and nothing of it is imported', async () => {
    const { here, there, env } = await hosted({
      work: (clone) => {
        writeFileSync(join(clone, 'far.txt'), 'work\n');
        return 0;
      },
      push: (clone, branch) => {
        const git = (...args: string[]): string => there.git('-C', clone, ...args);
        const identity = ['-c', 'user.name=x', '-c', 'user.email=x@localhost'];
        const orphan = git(...identity, 'commit-tree', 'HEAD^{tree}', '-m', 'other');
        git('push', '-q', 'origin', `${orphan}:${branch}`);
      },
    });
    await beginPlan(here, ['far']);
    await here.expect(1, ['run'], { env });
    assert.match(
      (await here.task('far')).last_error ?? '',
      /does not descend from the base commit/,
    );
    assert.deepEqual(landedTasks(here), []);
  });

  soakTest(
    'a refused job, another agent and missing settings are reported with their remedy',
    async () => {
      const { here, there, env } = await hosted({ refusals: [402], work: () => 0 });
      await beginPlan(here, ['far']);
      await here.expect(1, ['run'], { env });
      assert.match((await here.task('far')).last_error ?? '', /The platform refused the job: 402/);
      const unset = await here.add('Unset');
      await here.expect(1, ['run'], { env: { ...env, DROVER_REMOTE_TOKEN: '' } });
      assert.match(
        (await here.task(unset)).last_error ?? '',
        /Set the variable DROVER_REMOTE_TOKEN/,
      );
      const other = await here.add('Other');
      await here.expect(1, ['run'], { env: { ...env, DROVER_AGENT_TYPE: 'command' } });
      assert.match((await here.task(other)).last_error ?? '', /Hosted jobs run Drover Code/);
      assert.equal(there.submissions.length, 0);
      assert.deepEqual(leases(here), []);
    },
  );
});
