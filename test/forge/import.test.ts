// `drover import github`: the real command on a project whose remote is a GitHub.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';
import { eventually } from '../e2e/support/eventually.ts';
import type { FakeIssue } from '../doubles/fake-github/bodies.ts';
import { type FakeGithub, startFakeGithub } from '../doubles/fake-github/fake-github.ts';
import { soakTest } from '../tier.ts';

const slug = 'acme/shop';
const token = 'ghp_dummy';

function issue(number: number, more: Partial<FakeIssue> = {}): FakeIssue {
  return { slug, number, title: `Issue ${number}`, ...more };
}

interface Imported {
  readonly imported: { readonly epics: number; readonly tasks: number };
  readonly unchanged: number;
  readonly differs: readonly string[];
  readonly left_out: readonly {
    readonly id: string;
    readonly title: string;
    readonly waits_for: readonly string[];
  }[];
}

suite('import github', function () {
  this.timeout(120_000);
  const project = useProjects({ isEachProcess: true });
  let fake: FakeGithub;
  setup(async () => {
    fake = await startFakeGithub({ token });
  });
  teardown(async () => {
    await fake.close();
    assert.deepEqual(fake.faults, []);
  });

  const begin = async (signedIn = true): Promise<Project> => {
    const here = project(signedIn ? { env: { GH_ENTERPRISE_TOKEN: token } } : {});
    here.git('remote', 'add', 'origin', `${fake.url}${slug}.git`);
    await here.expect(0, ['init']);
    return here;
  };

  test('issues with edges become a plan that runs in their order', async () => {
    fake.issues.push(
      issue(1, { title: 'Sell shoes', labels: ['drover'] }),
      issue(2, { parent: `${slug}#1`, title: 'Store shoes' }),
      issue(3, { parent: `${slug}#1`, title: 'Show shoes', blockedBy: [`${slug}#2`] }),
    );
    const here = await begin();
    const shown = await here.expect(0, ['import', 'github', '1', '--dry-run']);
    assert.match(shown, /Epic: Sell shoes/u);
    assert.match(shown, /gh-3 Show shoes .*\n +after 1\n/u);
    assert.match(shown, /Would import 1 epic and 2 tasks; nothing was written\./u);
    assert.deepEqual((await here.status()).tasks, []);

    const said = await here.expect(0, ['import', 'github', '1', '--yes']);
    assert.match(said, /Imported 1 epic and 2 tasks from acme\/shop/u);
    const third = await here.task('gh-3');
    assert.deepEqual(third.blocked_by, ['gh-2']);
    await here.expect(0, ['run', '--epic', 'gh-1']);
    await here.epicLanded();
    const order = (await here.status()).tasks.map(({ id, status }) => `${id} ${status}`);
    assert.deepEqual(order, ['gh-2 completed', 'gh-3 completed']);
    assert.equal(fake.authorizations.size, 1);
  });

  test('a second import updates and adds issues, and duplicates nothing', async () => {
    fake.issues.push(issue(1, { labels: ['drover'] }), issue(2, { labels: ['drover'] }));
    const here = await begin();
    await here.expect(0, ['import', 'github', 'label:drover', '--yes']);
    fake.issues[0] = issue(1, { labels: ['drover'], title: 'A better title' });
    fake.issues.push(issue(4, { labels: ['drover'] }));
    const again = await here.json<Imported>(['import', 'github', 'label:drover', '--yes']);
    assert.deepEqual(again.imported.tasks, 1);
    assert.deepEqual(again.differs, ['gh-1']);
    const { tasks } = await here.status();
    assert.deepEqual(
      tasks.map(({ id, title }) => `${id} ${title}`),
      ['gh-1 A better title', 'gh-2 Issue 2', 'gh-4 Issue 4'],
    );
  });

  soakTest(
    'an issue that waits for an issue that is not imported stays out until it can wait for it',
    async () => {
      fake.issues.push(
        issue(1, { labels: ['x'], blockedBy: [`${slug}#9`] }),
        issue(2, { labels: ['x'] }),
        issue(9),
      );
      const here = await begin();
      const first = await here.json<Imported>(['import', 'github', 'label:x', '--yes']);
      assert.deepEqual(first.left_out, [
        { id: 'gh-1', title: 'Issue 1', waits_for: ['acme/shop#9'] },
      ]);
      assert.deepEqual(
        (await here.status()).tasks.map(({ id }) => id),
        ['gh-2'],
      );
      await here.expect(0, ['import', 'github', '9', '--yes']);
      const second = await here.json<Imported>(['import', 'github', 'label:x', '--yes']);
      assert.deepEqual(second.left_out, []);
      assert.deepEqual((await here.task('gh-1')).blocked_by, ['gh-9']);
    },
  );

  soakTest("a backend that runs without a token uses the caller's token", async () => {
    fake.issues.push(issue(1));
    const here = await begin(false);
    here.start(['server', '--socket', join(here.folder, 'own.sock')]);
    await eventually('the backend runs', () => here.backendPid() !== null);
    const env = { GH_ENTERPRISE_TOKEN: token };
    await here.expect(0, ['import', 'github', '1', '--yes'], { env });
    assert.deepEqual(
      (await here.status()).tasks.map(({ id }) => id),
      ['gh-1'],
    );
  });

  const refusals: readonly {
    readonly name: string;
    readonly signedIn?: boolean;
    readonly args: readonly string[];
    readonly says: RegExp;
  }[] = [
    {
      name: 'without a token for a private repository',
      signedIn: false,
      args: ['1', '--yes'],
      says: /needs a token: sign in \(gh auth login\)/u,
    },
    { name: 'without a terminal and --yes', args: ['1'], says: /Use --yes to import/u },
    { name: 'an unknown issue', args: ['77', '--yes'], says: /issues\/77 does not exist/u },
    { name: 'a label that no issue has', args: ['label:none', '--yes'], says: /no open issue/u },
    { name: 'a pull request', args: ['5', '--yes'], says: /#5 is a pull request/u },
    {
      name: 'a name that does not exist',
      args: ['1', '--repo', 'shop', '--yes'],
      says: /Write it as owner\/name/u,
    },
  ];
  for (const { name, signedIn, args, says } of refusals) {
    test(`${name} is refused, and nothing is written`, async () => {
      fake.issues.push(issue(1), issue(5, { isPullRequest: true }));
      const here = await begin(signedIn);
      const { code, stderr } = await here.drover(['import', 'github', ...args]);
      assert.equal(code, 3, stderr);
      assert.match(stderr, says);
      assert.ok(!stderr.includes(token), stderr);
      assert.deepEqual((await here.status()).tasks, []);
    });
  }

  test('issues that wait for each other are named, and none is imported', async () => {
    fake.issues.push(
      issue(1, { blockedBy: [`${slug}#2`] }),
      issue(2, { blockedBy: [`${slug}#1`] }),
    );
    const here = await begin();
    const { code, stderr } = await here.drover(['import', 'github', '1', '2', '--yes']);
    assert.equal(code, 3);
    assert.match(stderr, /gh-1.*gh-2|gh-2.*gh-1/u);
    assert.deepEqual((await here.status()).tasks, []);
  });
});
