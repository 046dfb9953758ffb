// People amend, rebase, reset and merge by hand during a run: commits that they removed stay out,
// and commits that they moved are recognized.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized, soakTest } from '../tier.ts';

suite('landing: history that people rewrite', function () {
  this.timeout(240_000);
  const project = useProjects();

  test('a commit that is amended away does not come back with the task that started on it', async () => {
    const here = project({ agent: `read -r line < ../../go; ${writesOneFile}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1']);
    here.write('repo/secret.txt', 'token\n');
    here.git('add', 'secret.txt');
    here.git('commit', '-qm', 'with a secret');
    const secret = here.git('rev-parse', 'HEAD');
    const run = here.start(['run', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    here.git('rm', '-q', 'secret.txt');
    here.write('repo/plain.txt', 'plain\n');
    here.git('add', 'plain.txt');
    here.git('commit', '-q', '--amend', '-m', 'without');
    const amended = here.git('rev-parse', 'HEAD');
    barrier.open();
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 0, done.stdout.slice(-2000));
    assert.deepEqual(landedTasks(here), ['t1']);
    assert.equal(here.read('repo/secret.txt'), '');
    assert.equal(here.sh(here.root, `git merge-base --is-ancestor ${secret} main`), 1);
    assert.equal(here.git('rev-parse', 'main~1'), amended);
    assert.equal(here.read('repo/t1.txt'), 'work of t1\n');
  });
  const merging = {
    'a merge': `echo first > "$id.first"; git add -A; git commit -qm first; git merge -q --no-edit main`,
    ...sized({}, { 'a fast-forward': 'git merge -q main' }),
  };
  for (const [how, merge] of Object.entries(merging))
    test(`work is held and names a commit that the agent brought in by ${how} and that was then amended away`, async () => {
      const agent = `cat > /dev/null; read -r line < ../../go; ${merge}; : > ../../merged; read -r line < ../../go; echo work > "$id.txt"`;
      const here = project({ agent });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, ['t1']);
      const run = here.start(['run', '--json']);
      await run.line((line) => line.includes('"worktree.ready"'));
      here.write('repo/secret.txt', 'token\n');
      here.git('add', 'secret.txt');
      here.git('commit', '-qm', 'with a secret');
      const secret = here.git('rev-parse', 'HEAD');
      const seen = (): boolean => here.git('rev-parse', 'refs/drover/land/main') === secret;
      await eventually('Drover has seen it on the branch', seen);
      barrier.open();
      await eventually('it is merged', () => existsSync(join(here.folder, 'merged')));
      here.git('rm', '-q', 'secret.txt');
      here.write('repo/plain.txt', 'plain\n');
      here.git('add', 'plain.txt');
      here.git('commit', '-q', '--amend', '-m', 'without');
      barrier.open();
      const done = await run.ended;
      barrier.close();
      assert.equal(done.code, 2, done.stdout.slice(-2000));
      const task = await here.task('t1');
      assert.deepEqual([task.status, task.review_kind], ['needs_review', 'unmerged']);
      const named = `brings back commit ${secret.slice(0, 12)}`;
      assert.ok((await here.drover(['why', 't1'])).stdout.includes(named));
      assert.equal(here.git('ls-tree', '-r', '--name-only', 'main').includes('secret.txt'), false);
      await here.expect(0, ['approve', 't1']);
      await eventually('it lands on a person’s word', () => landedTasks(here).includes('t1'));
      assert.equal(here.git('show', 'main:t1.txt'), 'work');
      assert.equal(here.git('show', 'main:plain.txt'), 'plain');
    });

  soakTest(
    "a failed attempt's work is continued even if the first commit was amended in the meantime",
    async () => {
      const agent = `cat > /dev/null; echo "part of $attempt" >> parts.txt; if [ "$attempt" = 1 ]; then read -r line < ../../go; exit 9; fi`;
      const here = project({ agent });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, [{ id: 't1', max_attempts: 2 }]);
      assert.equal(here.git('rev-list', '--count', 'main'), '1');
      const run = here.start(['run', '--json']);
      await run.line((line) => line.includes('"worktree.ready"'));
      here.write('repo/mine.txt', 'mine\n');
      here.git('add', 'mine.txt');
      here.git('commit', '-q', '--amend', '--no-edit');
      barrier.open();
      const done = await run.ended;
      barrier.close();
      assert.equal(done.code, 0, done.stdout.slice(-2000));
      assert.deepEqual(landedTasks(here), ['t1']);
      assert.equal(here.git('show', 'main:parts.txt'), 'part of 1\npart of 2');
      assert.equal(here.git('show', 'main:mine.txt'), 'mine');
    },
  );

  test('landed work that an aborted rebase removes from the branch is reported with the command that restores it', async () => {
    const here = project({ agent: writesOneFile });
    await beginPlan(here, ['t1']);
    const before = here.git('rev-parse', 'main');
    await here.expect(0, ['run']);
    const landed = here.git('rev-parse', 'main');
    // Like a rebase that read the branch just before the landing.
    const putBack = (): void => {
      here.git('update-ref', '-m', 'rebase (abort): updating HEAD', 'HEAD', before);
      here.git('read-tree', '--reset', '-u', before);
    };
    putBack();
    const run = await here.drover(['run', '--target', 'main']);
    const told = /^1 landed commit is no longer on main .*"drover follow main"/m;
    assert.match(run.stderr, told);
    assert.match((await here.drover(['status'])).stdout, told);
    assert.match((await here.drover(['why', 't1'])).stdout, told);
    assert.equal(here.git('rev-parse', 'main'), before);
    await here.expect(0, ['follow']);
    assert.equal(here.git('rev-parse', 'main'), landed);
    assert.equal(here.read('repo/t1.txt'), 'work of t1\n');
    assert.equal(here.git('status', '--porcelain'), '');
    assert.equal((await here.status()).target?.wrong, undefined);
    putBack();
    await here.drover(['run', '--target', 'main']);
    await here.expect(0, ['follow', 'main', '--leave-out']);
    assert.equal((await here.status()).target?.wrong, undefined);
    assert.equal(here.git('rev-parse', 'main'), before);
  });

  test('waiting landed work is moved without the commits that a reset removed', async () => {
    const here = project({
      files: { 'poem.txt': 'one\n' },
      agent: `read -r line < ../../go; cat > /dev/null; echo "by $id" > poem.txt; echo new > "$id.txt"`,
    });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1']);
    const first = here.git('rev-parse', 'HEAD');
    here.write('repo/dropped.txt', 'dropped\n');
    here.git('add', 'dropped.txt');
    here.git('commit', '-qm', 'dropped later');
    const run = here.start(['run', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    here.write('repo/poem.txt', 'dirty\n');
    barrier.open();
    await run.ended;
    barrier.close();
    assert.equal((await here.status()).target?.pending, 1);
    // People can remove their own commits again that the waiting line has merged, each time.
    here.write('repo/taken-0.txt', 'taken in\n');
    here.git('add', 'taken-0.txt');
    here.git('commit', '-qm', 'taken in');
    for (const round of [1, 2]) {
      const theirs = here.git('rev-parse', 'HEAD');
      const isIn = (sha: string): boolean =>
        here.sh(here.root, `git merge-base --is-ancestor ${sha} refs/drover/land/main`) === 0;
      await eventually('it is taken in', () => isIn(theirs));
      here.git('mv', `taken-${round - 1}.txt`, `taken-${round}.txt`);
      here.git('commit', '-q', '--amend', '-m', `amended ${round}`);
      const amended = here.git('rev-parse', 'HEAD');
      await eventually('the amended one is taken in', () => isIn(amended));
      assert.equal(isIn(theirs), false, 'what was amended away is out of the line');
    }
    // Nothing lands until the poem is clean, so the reset is not refused because the branch moves
    // in between, and is not repeated over a landing.
    const inCheckout = (command: string): Promise<true> =>
      eventually(`git is free: ${command}`, () => here.sh(here.root, command) === 0);
    await inCheckout(`git reset -q --keep ${first}`);
    await inCheckout('git checkout -q -- poem.txt');
    await eventually('main holds the work', () => landedTasks(here).length === 1);
    assert.equal(here.read('repo/t1.txt'), 'new\n');
    assert.equal(here.read('repo/dropped.txt'), '');
    assert.equal(here.git('ls-tree', '--name-only', 'main').includes('taken'), false);
    assert.equal(here.git('rev-parse', 'main~1'), first);
    assert.deepEqual(landedTasks(here), ['t1']);
  });

  soakTest('an epic whose base was amended away stays landed', async () => {
    const here = project({ agent: `read -r line < ../../go; ${writesOneFile}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, [
      { id: 'E', type: 'epic' },
      { id: 'e1', epic_id: 'E' },
    ]);
    const run = here.start(['run', '--epic', 'E', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    here.git('commit', '-q', '--amend', '--allow-empty', '-m', 'another first one');
    barrier.open();
    assert.equal((await run.ended).code, 0);
    barrier.close();
    const landed = here.git('rev-parse', 'main');
    assert.equal(here.git('rev-list', '--count', 'main'), '2', 'without the commit amended away');
    const wide = await here.drover(['run']);
    assert.equal(wide.code, 0, wide.stderr);
    await here.expect(0, ['run', '--epic', 'E']);
    assert.equal(here.git('rev-parse', 'main'), landed, 'no second landing of nothing');
  });

  for (const first of sized([false], [false, true])) {
    test(`the recommended merge resolves the conflict of an epic whose ${first ? 'first commit' : 'base'} was amended away`, async () => {
      const here = project({
        files: { 'poem.txt': 'one\n', ...(first ? { 'secret.txt': 'token\n' } : {}) },
        agent: `read -r line < ../../go; cat > /dev/null; echo "by $id" > poem.txt`,
      });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, [
        { id: 'E', type: 'epic' },
        { id: 'e1', epic_id: 'E' },
      ]);
      if (!first) {
        here.write('repo/secret.txt', 'token\n');
        here.git('add', 'secret.txt');
        here.git('commit', '-qm', 'with a secret');
      }
      const run = here.start(['run', '--epic', 'E', '--json']);
      await run.line((line) => line.includes('"worktree.ready"'));
      here.git('rm', '-q', 'secret.txt');
      here.write('repo/poem.txt', 'mine\n');
      here.git('add', 'poem.txt');
      here.git('commit', '-q', '--amend', '-m', 'without');
      barrier.open();
      assert.equal((await run.ended).code, 2);
      barrier.close();
      const place = join(here.folder, 'by-hand');
      here.git('worktree', 'add', '-q', place, 'drover/epic/E');
      const note = (await here.status()).epics[0]?.landing_note ?? '';
      const advised = /\((git merge [^:]+):/.exec(note)?.[1] ?? 'git merge main';
      assert.equal(here.sh(place, `${advised} -q`), 1, `both have changed the poem: ${note}`);
      writeFileSync(join(place, 'poem.txt'), 'both\n');
      here.gitIn(place, 'commit', '-qam', 'by hand');
      here.git('worktree', 'remove', place);
      await here.expect(0, ['run', '--epic', 'E']);
      assert.equal(here.read('repo/poem.txt'), 'both\n');
      assert.equal(here.read('repo/secret.txt'), '', 'what was amended away stays out');
    });
  }

  for (const first of sized([true], [true, false])) {
    const what = first ? 'shares no commit' : 'has a commit that was reset';
    test(`a task whose blocker is on a history that ${what} names the command that brings only the blocker's work`, async () => {
      const here = project({ agent: writesOneFile });
      await beginPlan(here, [
        { id: 'E', type: 'epic' },
        { id: 'e1', epic_id: 'E' },
        { id: 'e2', epic_id: 'E', blocked_by: ['e1'] },
        { id: 't3', blocked_by: ['e2'] },
      ]);
      if (!first) {
        here.write('repo/secret.txt', 'token\n');
        here.git('add', 'secret.txt');
        here.git('commit', '-qm', 'with a secret');
      }
      const taken = here.git('rev-parse', 'HEAD');
      await here.drover(['run', '--epic', 'E', '--land', 'review']);
      assert.equal((await here.task('e2')).status, 'completed');
      if (first) here.git('commit', '-q', '--amend', '--allow-empty', '-m', 'another first one');
      else here.git('reset', '-q', '--hard', 'HEAD~1');
      await here.drover(['run']);
      const reason = (await here.task('t3')).blocked_reason ?? '';
      const advised = /; run (git cherry-pick .+) on main \(a merge of/.exec(reason)?.[1];
      assert.ok(advised !== undefined, reason);
      assert.equal(here.sh(here.root, advised), 0, advised);
      await here.expect(0, ['resolve', 't3', '--note', 'picked']);
      const done = await here.drover(['run']);
      assert.equal((await here.task('t3')).status, 'completed', done.stderr);
      assert.equal(here.read('repo/t3.txt'), 'work of t3\n');
      assert.equal(here.sh(here.root, `git merge-base --is-ancestor ${taken} main`), 1);
      assert.equal(here.read('repo/secret.txt'), '', 'what was taken out stays out');
      assert.deepEqual(landedTasks(here), ['e1', 'e2', 't3']);
    });
  }

  soakTest("a task continues by itself once its blockers' work was cherry-picked", async () => {
    const here = project({ agent: writesOneFile });
    await beginPlan(here, [
      { id: 'E', type: 'epic' },
      { id: 'e1', epic_id: 'E' },
      { id: 'e2', epic_id: 'E' },
      { id: 't3', blocked_by: ['e1', 'e2'] },
    ]);
    here.write('repo/secret.txt', 'token\n');
    here.git('add', 'secret.txt');
    here.git('commit', '-qm', 'with a secret');
    await here.drover(['run', '--epic', 'E', '--land', 'review']);
    here.git('reset', '-q', '--hard', 'HEAD~1');
    await here.drover(['run']);
    const reason = (await here.task('t3')).blocked_reason ?? '';
    const commits = /; run git cherry-pick -m 1 (\w+) (\w+) on main/.exec(reason);
    assert.ok(commits !== null, reason);
    here.git('cherry-pick', '-m', '1', commits[1] ?? '');
    await here.drover(['run']);
    assert.equal((await here.task('t3')).status, 'blocked', 'half of it is not enough');
    here.git('cherry-pick', '-m', '1', commits[2] ?? '');
    const done = await here.drover(['run']);
    assert.equal((await here.task('t3')).status, 'completed', done.stderr);
    assert.equal(here.read('repo/t3.txt'), 'work of t3\n');
    assert.equal(here.read('repo/secret.txt'), '', 'what was taken out stays out');
  });

  soakTest(
    'work that got new commits in a rebase still counts for the tasks that wait for it',
    async () => {
      const here = project({ agent: `if [ $id = t2 ]; then test -e t1.txt; fi; ${writesOneFile}` });
      await beginPlan(here, ['t1', { id: 't2', blocked_by: ['t1'] }]);
      await here.expect(0, ['pause', 't2']);
      await here.drover(['run']);
      const first = here.git('rev-parse', 'main~1');
      here.git('switch', '-q', '-c', 'theirs', first);
      here.write('repo/upstream.txt', 'upstream\n');
      here.git('add', 'upstream.txt');
      here.git('commit', '-qm', 'upstream');
      here.git('switch', '-q', 'main');
      here.git('rebase', '-q', 'theirs');
      await here.expect(0, ['unpause', 't2']);
      await here.expect(0, ['run']);
      assert.equal((await here.task('t2')).status, 'completed');
      assert.deepEqual(landedTasks(here), ['t1', 't2']);
      const found = (await here.task('t1')).landed_sha ?? '';
      assert.equal(here.sh(here.root, `git merge-base --is-ancestor ${found} main`), 0);
    },
  );

  soakTest('one history without the base does not affect the others in its batch', async () => {
    const here = project({
      agent: `
read -r line < ../../go
cat > /dev/null
if [ $id = odd ]; then git checkout -q --orphan lost; git commit -qm lost; fi
echo "work of $id" > "$id.txt"
`,
    });
    const barrier = makeBarrier(here.folder, 'go');
    const ids = ['a', 'b', 'odd'];
    await beginPlan(
      here,
      ids.map((id) => ({ id, max_attempts: 1 })),
    );
    const run = here.start(['run', '--workers', '3', '--json']);
    barrier.open(3);
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 1, done.stdout.slice(-2000));
    assert.deepEqual([...landedTasks(here)].sort(), ['a', 'b']);
    const odd = await here.task('odd');
    assert.equal(odd.status, 'failed');
    assert.match(odd.last_error ?? '', /unrelated history/);
  });

  test('a person may revert approved work that they merged by hand', async () => {
    const here = project({ agent: `cat > /dev/null; echo x > .env; ${writesOneFile}` });
    await beginPlan(here, ['t1']);
    await here.drover(['run']);
    assert.equal((await here.task('t1')).status, 'needs_review');
    await here.expect(0, ['server', 'stop', '--force']);
    here.git('merge', '-q', '--no-ff', '--no-edit', 'drover/t1/1');
    const merge = here.git('rev-parse', 'HEAD');
    here.write('repo/mine.txt', 'mine\n');
    here.git('add', 'mine.txt');
    here.git('commit', '-qm', 'mine');
    await here.expect(0, ['approve', 't1']);
    const landed = await eventually('it is completed', async () => {
      const task = await here.task('t1');
      return task.status === 'completed' ? task.landed_sha : null;
    });
    assert.equal(landed, merge);
    assert.equal(here.read('repo/mine.txt'), 'mine\n');
  });
});
