// Drover's own refs while a person uses git: nothing is moved under a checkout, nothing that
// someone else wrote is trusted, and a branch that a person removed is not created again.

import assert from 'node:assert/strict';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const epic = { id: 'E1', type: 'epic', title: 'Build the thing' } as const;

suite("landing: Drover's branches while a person works on them", function () {
  this.timeout(240_000);
  const project = useProjects();

  test('a result branch that a person works on keeps their commits', async () => {
    const here = project({
      files: { 'poem.txt': 'one\n' },
      agent: `read -r line < ../../go; cat > /dev/null; echo "by $id" > poem.txt`,
    });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1']);
    const run = here.start(['run', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    here.write('repo/notes.txt', 'mine\n');
    here.write('repo/poem.txt', 'dirty\n');
    barrier.open();
    await run.ended;
    here.git('checkout', '-q', 'poem.txt');
    here.write('repo/poem.txt', 'mine\n');
    here.git('commit', '-qam', 'mine');
    await eventually('landed work waits', async () => (await here.status()).target?.pending === 1);
    await eventually(
      'git is free',
      () => here.sh(here.root, 'git switch -q drover/results/main') === 0,
    );
    here.sh(here.root, 'git merge -q main -m both');
    here.write('repo/poem.txt', 'both\n');
    here.git('commit', '-qam', 'both');
    const both = here.git('rev-parse', 'HEAD');
    // A check of waiting work, and the next run, would have moved it.
    await importPlan(here, ['t2']);
    const next = here.start(['run', '--target', 'main', '--json']);
    barrier.open();
    await next.ended;
    barrier.close();
    assert.equal(here.git('rev-parse', 'drover/results/main'), both);
    assert.equal(here.git('status', '--porcelain', '--untracked-files=no'), '');
  });

  soakTest('running an epic again updates the checkout of its branch', async () => {
    const here = project();
    await beginPlan(here, [epic, { id: 't1', epic_id: 'E1' }]);
    await here.expect(0, ['run', '--epic', 'E1']);
    here.write('repo/mains.txt', 'newer\n');
    here.git('add', 'mains.txt');
    here.git('commit', '-qm', 'newer');
    here.git('switch', '-q', 'drover/epic/E1');
    await importPlan(here, [{ id: 't2', epic_id: 'E1' }]);
    await here.expect(0, ['run', '--epic', 'E1', '--target', 'main']);
    assert.equal(here.git('status', '--porcelain'), '');
    assert.equal(here.read('repo/mains.txt'), 'newer\n');
    assert.equal(here.read('repo/t2.txt'), 'work of t2\n');
    assert.deepEqual(landedTasks(here, 'drover/epic/E1').slice(-1), ['t2']);
  });

  test('a landing ref that someone else moved is not trusted, and once it is restored the line continues', async () => {
    const here = project();
    await beginPlan(here, ['t1']);
    await here.expect(0, ['run']);
    const landed = here.git('rev-parse', 'refs/drover/land/main');
    here.git('switch', '-q', '-c', 'own');
    here.write('repo/planted.txt', 'planted\n');
    here.git('add', 'planted.txt');
    here.git('commit', '-qm', 'planted');
    here.git('update-ref', 'refs/drover/land/main', 'own');
    here.git('switch', '-q', 'main');
    await importPlan(here, ['t2']);
    const refused = await here.drover(['run']);
    assert.equal(refused.code, 3, refused.stderr);
    assert.match(refused.stderr, /refs\/drover\/land\/main was moved .* git update-ref/s);
    assert.equal(here.git('rev-parse', 'main'), landed);
    here.git('update-ref', 'refs/drover/land/main', landed);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['t1', 't2']);
    assert.equal(here.read('repo/planted.txt'), '');
  });

  for (const objects of ['there', 'pruned'] as const) {
    test(`a person deletes Drover's refs while landed work waits, with its commits still ${objects}`, async () => {
      const here = project({
        files: { 'poem.txt': 'one\n' },
        agent: `cat > /dev/null; echo "by $id" >> poem.txt; echo "$id" > "$id.txt"`,
        settings: '[backend]\nidle_timeout = "1s"\n',
      });
      here.write('repo/poem.txt', 'mine\n');
      await beginPlan(here, ['t1']);
      await here.expect(0, ['run']);
      await eventually('the backend has left', () => here.backendPid() === null);
      for (const line of here.git('for-each-ref', '--format=%(refname)').split('\n'))
        if (line.includes('drover/')) here.git('update-ref', '-d', line);
      here.git('checkout', '-q', 'poem.txt');
      if (objects === 'there') {
        await here.expect(0, ['run']);
        assert.equal(here.read('repo/t1.txt'), 't1\n');
        assert.deepEqual(landedTasks(here), ['t1']);
        return;
      }
      here.git('worktree', 'remove', '--force', `${here.root}.worktrees/slot-1`);
      here.git('reflog', 'expire', '--expire=now', '--all');
      here.git('gc', '-q', '--prune=now');
      const { code, stderr } = await here.drover(['run']);
      assert.notEqual(code, 0);
      assert.match(stderr, /refs\/drover\/land\/main was deleted, and git does not find/);
    });
  }

  test('a target that is renamed while agents work is not created again', async () => {
    const here = project({ agent: `read -r line < ../../go; ${writesOneFile}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1', { id: 't2', blocked_by: ['t1'] }]);
    const run = here.start(['run', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    here.git('branch', '-m', 'main', 'trunk');
    barrier.open(2);
    const done = await run.ended;
    assert.equal(done.code, 2, done.stdout.slice(-2000));
    assert.equal(here.git('branch', '--list', 'main'), '');
    assert.match(done.stdout, /"line.held".*branch main no longer exists/);
    assert.equal((await here.task('t1')).attempts, 0);
    here.git('branch', '-m', 'trunk', 'main');
    await here.expect(0, ['run']);
    barrier.close();
    assert.deepEqual(landedTasks(here), ['t1', 't2']);
  });

  for (const whose of ['a task', 'an epic'] as const) {
    test(`if the line of ${whose} is deleted completely while agents work, it is held and the work waits`, async () => {
      const here = project({
        agent: `echo x >> ../../starts; read -r line < ../../go; ${writesOneFile}`,
      });
      const barrier = makeBarrier(here.folder, 'go');
      const tasks = ['t0', 't1'].map((id) => ({ id, epic_id: 'E1', max_attempts: 1 }));
      await beginPlan(here, [epic, ...tasks]);
      const command = whose === 'an epic' ? ['run', '--epic', 'E1', '--land', 'epic'] : ['run'];
      const line = whose === 'an epic' ? 'drover/epic/E1' : 'main';
      const run = here.start([...command, '--workers', '1', '--json']);
      await run.line((text) => text.includes('"worktree.ready"'));
      barrier.open(1);
      await run.line((text) => text.includes('"task.completed"'));
      await run.line((text) => text.includes('"worktree.ready"') && text.includes('"t1"'));
      const landed = here.git('rev-parse', `refs/drover/land/${line}`);
      here.git('update-ref', '-d', `refs/heads/${line}`);
      here.git('update-ref', '-d', `refs/drover/land/${line}`);
      barrier.open(1);
      const done = await run.ended;
      assert.equal(done.code, 2, done.stdout.slice(-2000));
      const cure = `git branch ${line} ${landed}`;
      assert.match(done.stdout, new RegExp(`"line.held".*${cure}`));
      assert.equal((await here.task('t1')).attempts, 0);
      const early = await here.drover(command);
      assert.notEqual(early.code, 0);
      assert.match(early.stderr, new RegExp(cure));
      here.git('branch', line, landed);
      await here.expect(0, command);
      barrier.close();
      assert.deepEqual(landedTasks(here, line).toSorted(), ['t0', 't1']);
      assert.equal(here.read('starts').trim().split('\n').length, 2);
    });
  }
});
