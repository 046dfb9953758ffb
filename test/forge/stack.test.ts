// `[forge] shape = "stack"`: one pull request for each task of an epic, each based on the previous
// one.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { removeFolder } from '../remove-folder.ts';
import { soakTest } from '../tier.ts';
import type { PlanRecord } from '../e2e/support/plan.ts';
import { slug, usePulls } from './support/pulls.ts';

const stories = (count: number) =>
  Array.from({ length: count }, (_none, index) => ({
    id: `t${index + 1}`,
    epic_id: 'E1',
    title: `Step ${index + 1}`,
    ...(index > 0 && { blocked_by: [`t${index}`] }),
  }));
const epic = { id: 'E1', type: 'epic', title: 'Sell shoes' } as const;
/** All tasks change the same line. */
const agent = `cat > /dev/null
echo "$id" > line.txt
echo "work of $id" > "$id.txt"`;

suite('a stack of pull requests', function () {
  this.timeout(300_000);
  const pulls = usePulls();
  let folder: string;
  setup(() => (folder = mkdtempSync(join(tmpdir(), 'drover-gates-'))));
  teardown(() => removeFolder(folder));
  const gates = (): number => {
    const file = join(folder, 'gates');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
  };
  const begin = (plan: readonly PlanRecord[], settings = '', body = agent): Promise<Project> => {
    const gate = `[gate]\ncommand = "echo gate >> ${join(folder, 'gates')}; test -e README.md"`;
    const forge = `[forge]\nshape = "stack"\npoll = "1s"\nquiet = "0s"\n${settings}`;
    return pulls.beginWith({ settings: `${gate}\n${forge}`, agent: body }, plan);
  };
  const areReady = (count: number): Promise<true> =>
    eventually(`${count} pull requests are ready`, () => {
      const { pulls: all } = pulls.fake;
      return all.length === count && all.every(({ isDraft }) => !isDraft);
    });
  const opened = async (count: number, settings = '', body = agent): Promise<Project> => {
    const here = await begin([epic, ...stories(count)], settings, body);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'pr']);
    await areReady(count);
    return here;
  };
  const branch = (step: number): string => `drover/E1-${step}-step-${step}`;
  const tip = (name: string): string => pulls.fake.git.tip(slug, name) ?? '';
  const treeAt = (name: string): string => pulls.fake.git.git(slug, 'rev-parse', `${name}^{tree}`);
  const says = (here: Project, words: RegExp): Promise<true> =>
    eventually(`the epic says ${words}`, async () => words.test(await pulls.noteOf(here)));
  const waits = (here: Project, step: number, count: number): Promise<true> => {
    const name = `PR #${40 + step} \\(${step} of ${count}\\)`;
    return says(here, new RegExp(`^${name} waits for a person to merge it$`, 'u'));
  };
  type How = Parameters<typeof pulls.merge>[0];
  /** From the bottom, each as soon as it can be merged; no merge changes its tree. */
  const mergeAll = async (here: Project, how: readonly How[]): Promise<void> => {
    const trees = how.map((_each, index) => treeAt(branch(index + 1)));
    for (const [index, each] of how.entries()) {
      const step = index + 1;
      await waits(here, step, how.length);
      assert.equal(pulls.pull(40 + step).base, 'main');
      assert.equal(treeAt(branch(step)), trees[index]);
      pulls.merge(each, 40 + step);
      assert.equal(treeAt('main'), trees[index]);
    }
    await here.epicLanded();
    const [landed] = await here.events('--type', 'epic.landed');
    assert.equal(landed?.data['as_tested'], true);
    await eventually('the branches are deleted', () =>
      how.every((_each, index) => tip(branch(index + 1)) === ''),
    );
    await eventually('main follows', () => here.git('rev-parse', 'main') === tip('main'));
    assert.equal(pulls.fake.pulls.length, how.length);
  };

  const lands = async (count: number): Promise<void> => {
    const after = { id: 'after', blocked_by: [`t${count}`] };
    const settings = 'labels = ["drover"]\nreviewers = ["lead"]\n';
    const here = await begin([epic, ...stories(count), after], settings);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'pr']);
    await areReady(count);
    const gatesOfTasks = gates();
    assert.equal(gatesOfTasks, count);
    const steps = stories(count).map((_story, index) => index + 1);
    assert.deepEqual(
      pulls.fake.pulls.map(({ head, base, title, labels, reviewers }) => {
        return { head, base, title, labels, reviewers };
      }),
      steps.map((step) => ({
        head: branch(step),
        base: step === 1 ? 'main' : branch(step - 1),
        title: `Step ${step}`,
        labels: ['drover'],
        reviewers: ['lead'],
      })),
    );
    const { body } = pulls.pull(42);
    assert.match(body, /^- `t2` Step 2$/mu);
    assert.match(body, /on top of #41: merge that one first\./u);
    assert.ok(!body.includes('`t1`'));
    const chain = pulls.fake.git.git(slug, 'rev-list', '--parents', `main..${branch(count)}`);
    const commits = chain.split('\n').map((line) => line.split(' '));
    assert.ok(commits.length === count && commits.every(({ length }) => length === 2));
    await waits(here, 1, count);
    assert.match(await here.expect(0, ['pr', 'E1']), /^open PR #42: .* \(drover\/E1-2-step-2\)$/mu);
    assert.match(
      await here.expect(0, ['why', 'E1']),
      new RegExp(`PR #41 \\(1 of ${count}\\)`, 'u'),
    );
    await mergeAll(
      here,
      steps.map(() => 'squash'),
    );
    assert.equal(gates(), gatesOfTasks);
    await here.expect(0, ['run']);
    assert.equal((await here.task('after')).status, 'completed');
    assert.equal(here.read(`repo/t${count}.txt`), `work of t${count}\n`);
  };

  test('of two, with a squash at the bottom, runs no gate again and lands the epic', () =>
    lands(2));
  soakTest('of five, with a squash at the bottom, runs no gate again and lands the epic', () =>
    lands(5),
  );

  soakTest('is opened and moved once, although the backend is killed in the middle', async () => {
    const here = await begin([epic, ...stories(5)]);
    const serve = () => here.start(['server', '--socket', `${here.folder}/own.sock`]);
    await here.drover(['run', '--epic', 'E1', '--land', 'pr', '--detach']);
    await eventually('some are open', () => pulls.fake.pulls.length === 3);
    await here.killBackend();
    serve();
    await areReady(5);
    await waits(here, 1, 5);
    assert.equal(pulls.fake.git.pushes.length, 5);
    const gatesOfTasks = gates();
    pulls.merge('squash', 41);
    await eventually('the next one is retargeted', () => pulls.pull(42).base === 'main');
    await here.killBackend();
    serve();
    await waits(here, 2, 5);
    await eventually('the branch is deleted', () => tip(branch(1)) === '');
    // One for each level, one for the second on the squash, and the deletion.
    assert.equal(pulls.fake.git.pushes.length, 7);
    assert.equal(pulls.fake.pulls.length, 5);
    assert.equal(gates(), gatesOfTasks);
  });

  soakTest('may be merged by a merge commit, a rebase and a squash', async () => {
    const here = await opened(3);
    const gatesOfTasks = gates();
    await mergeAll(here, ['merge', 'rebase', 'squash']);
    assert.equal(gates(), gatesOfTasks);
  });

  const gentle = agent
    .replace('echo "$id" > line', 'case "$id" in t?) echo "$id" > line')
    .replace('line.txt', 'line.txt;; esac');
  const says42 = { id: 'RC_1', author: 'lead', body: 'Name it.', at: '2026-11-01T12:00:00Z' };
  const thread = { id: 'RT_1', pull: 42, isResolved: false, path: 't1.txt', line: 1 };
  const files = (name: string): readonly string[] =>
    pulls.fake.git.git(slug, 'ls-tree', '--name-only', name).split('\n');

  soakTest('takes the fix of a thread into the pull request that it is for', async () => {
    const here = await opened(3, '', gentle);
    pulls.fake.permissions.set('lead', 'write');
    pulls.fake.permissions.set('drover', 'admin');
    const [first, second, third] = [1, 2, 3].map((step) => tip(branch(step)));
    pulls.fake.threads.push({ ...thread, comments: [says42] });
    await eventually('the thread is answered', () => pulls.fake.threads[0]?.comments.length === 2);
    const reply = pulls.fake.threads[0]?.comments[1]?.body ?? '';
    assert.ok(reply.startsWith(`Done in ${tip(branch(2))}`), reply);
    const fix = (await here.status()).tasks.find(({ title }) => title.startsWith('PR #42'));
    assert.equal(fix?.title, 'PR #42: review on t1.txt:1');
    assert.equal(fix?.continues, 't2', 'not the task that wrote the file');
    const name = `${fix?.id}.txt`;
    await waits(here, 1, 3);
    assert.deepEqual(
      [1, 2, 3].map((step) => files(branch(step)).includes(name)),
      [false, true, true],
    );
    assert.equal(tip(branch(1)), first);
    for (const [step, before] of [second, third].entries())
      pulls.fake.git.git(slug, 'merge-base', '--is-ancestor', before ?? '', branch(step + 2));
    assert.match(pulls.pull(42).body, new RegExp(`^- \`${fix?.id}\``, 'mu'));
    assert.equal(pulls.fake.pulls.length, 3);
    // The fix on the epic's branch, and the tree of its level; that of the third is the first one's.
    assert.equal(gates(), 5);
    pulls.fake.threads.splice(0);
    await mergeAll(here, ['squash', 'merge', 'squash']);
    assert.equal(gates(), 5);
  });

  soakTest('puts a fix on top that does not work without the work above', async () => {
    const here = await opened(2);
    const failed = { name: 'unit', state: 'failure', text: 'exit 1' } as const;
    pulls.fake.checks.set(tip(branch(1)), [failed]);
    await areReady(3);
    const [, , top] = pulls.fake.pulls;
    assert.equal(top?.head, 'drover/E1-3-pr-41-the-check-unit-is-red');
    assert.equal(top?.base, branch(2));
    await says(here, /^PR #41 \(1 of 3\) waits for the red check "unit"$/u);
    const fix = (await here.status()).tasks.find(({ title }) => title.startsWith('PR #41'));
    assert.equal(fix?.continues, 't1');
  });

  soakTest('whose base has moved is tested on it after the merge below', async () => {
    const here = await opened(3);
    pulls.fake.git.commit(slug, 'main', 'other.txt', 'by a person\n');
    await says(here, /^PR #41 \(1 of 3\) waits for a person to merge it; main has moved since/u);
    pulls.merge('squash', 41);
    await waits(here, 2, 3);
    assert.equal(gates(), 5);
    assert.ok(files(branch(3)).includes('other.txt'));
    pulls.merge('squash', 42);
    await waits(here, 3, 3);
    pulls.merge('squash', 43);
    await here.epicLanded();
    assert.equal(gates(), 5);
    const merged = [
      ...(await here.events('--type', 'epic.pull_request_merged')),
      ...(await here.events('--type', 'epic.landed')),
    ];
    assert.deepEqual(
      merged.map(({ data }) => data['as_tested']),
      [false, true, true],
    );
  });

  soakTest('on which someone pushed a commit asks, and overwrites nothing', async () => {
    const here = await opened(3);
    const theirs = pulls.fake.git.commit(slug, branch(2), 'theirs.txt', 'by a person\n');
    await says(here, /^someone pushed commits to PR #42 \(2 of 3\)/u);
    assert.equal((await here.status()).epics[0]?.landing_state, 'returned');
    pulls.merge('squash', 41);
    await eventually('the next one is retargeted', () => pulls.pull(42).base === 'main');
    await says(here, /^someone pushed commits to PR #42 \(2 of 3\)/u);
    assert.equal(tip(branch(2)), theirs);
  });

  soakTest('takes a level that was merged into the one below as a part of it', async () => {
    const here = await opened(3);
    pulls.merge('squash', 42);
    await says(here, /^someone pushed commits to PR #41 \(1 of 3\)/u);
    await eventually('the one above is retargeted', () => pulls.pull(43).base === branch(1));
    pulls.merge('squash', 41);
    await waits(here, 3, 3);
    assert.equal(pulls.pull(43).base, 'main');
    pulls.merge('squash', 43);
    await here.epicLanded();
    assert.equal(gates(), 3);
    assert.ok(files('main').includes('t3.txt'));
  });

  soakTest('sends work again whose pull request was closed, in the same shape', async () => {
    const here = await opened(2);
    Object.assign(pulls.pull(42), { state: 'closed', lastHead: tip(branch(2)) });
    await says(here, /^PR #42 \(2 of 2\) was closed and not merged/u);
    const toml = here.read('repo/.drover.toml');
    here.write('repo/.drover.toml', toml.replace('shape = "stack"', 'shape = "epic"'));
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'pr']);
    await areReady(3);
    await waits(here, 1, 2);
    assert.equal(pulls.pull(43).head, 'drover/E1-3-step-2');
    assert.equal(pulls.pull(43).base, branch(1));
  });

  for (const step of ['retarget', 'delete'].flatMap((kind) => [
    `forge_${kind}_sent`,
    `forge_${kind}`,
  ]))
    soakTest(`is moved once, although the backend dies at ${step}`, async () => {
      const here = await begin([epic, ...stories(2)]);
      const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: step };
      await here.drover(['run', '--epic', 'E1', '--land', 'pr', '--detach'], { env });
      await areReady(2);
      await waits(here, 1, 2);
      pulls.merge('squash', 41);
      await eventually('the backend has died', () => here.backendPid() === null);
      here.start(['server', '--socket', `${here.folder}/own.sock`]);
      await waits(here, 2, 2);
      assert.equal(pulls.pull(42).base, 'main');
      await eventually('the branch is deleted', () => tip(branch(1)) === '');
      assert.equal(pulls.fake.git.pushes.length, 4);
    });

  soakTest('is merged from the bottom by GitHub, each after the next was retargeted', async () => {
    const here = await begin([epic, ...stories(3)], 'merge = "auto"\n');
    const bases: string[][] = [];
    const { mergeRequests } = pulls.fake;
    const add = mergeRequests.push.bind(mergeRequests);
    mergeRequests.push = (...words) => {
      bases.push(pulls.fake.pulls.map(({ base }) => base));
      return add(...words);
    };
    await here.drover(['run', '--epic', 'E1', '--land', 'pr']);
    await here.epicLanded();
    assert.deepEqual([...mergeRequests], ['merge 41', 'merge 42', 'merge 43']);
    assert.deepEqual(bases, [
      ['main', 'main', branch(2)],
      ['main', 'main', 'main'],
      ['main', 'main', 'main'],
    ]);
    assert.equal(gates(), 3);
  });

  soakTest('has no level whose tree the gate has not passed', async () => {
    const free = stories(4).map(({ id, epic_id, title }) => ({ id, epic_id, title }));
    const own = agent.replace('line.txt', '$id.line');
    const here = await begin([epic, ...free], '', own);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'pr']);
    await areReady(4);
    const passed = await here.events('--type', 'gate.passed');
    const trees = new Set(passed.map(({ data }) => data['tree']));
    for (const { head } of pulls.fake.pulls) assert.ok(trees.has(treeAt(head)), head);
  });

  soakTest('is undone as a whole by one pull request', async () => {
    const here = await opened(2);
    const before = treeAt('main');
    await mergeAll(here, ['squash', 'merge']);
    assert.match(await here.expect(0, ['undo', 'E1']), /goes to the forge as a pull request/u);
    await eventually('the revert is ready', () => pulls.fake.pulls[2]?.isDraft === false);
    assert.match(pulls.pull(43).body, /^Reverts #42, #41/mu);
    pulls.merge('squash', 43);
    await eventually('it is undone', async () => (await here.task('t2')).status !== 'completed');
    assert.equal(treeAt('main'), before);
  });

  test('through a merge queue is refused, with the remedy', async () => {
    const here = await begin([epic, ...stories(1)], 'merge = "queue"\n');
    const { code, stderr } = await here.drover(['run', '--epic', 'E1', '--land', 'pr']);
    assert.equal(code, 3);
    assert.match(
      stderr,
      /cannot go through a merge queue\. Set \[forge\] merge to "person" or "auto"/u,
    );
  });
});
