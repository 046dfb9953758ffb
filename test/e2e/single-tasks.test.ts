// Runs of single tasks: only these and their blockers run, and they land on their epic's line.

import assert from 'node:assert/strict';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('runs of single tasks', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('a task runs with its dependencies, and nothing else', async () => {
    const here = project({ agent: writesOneFile });
    await beginPlan(here, [
      'base',
      { id: 'wanted', blocked_by: ['base'] },
      { id: 'after', blocked_by: ['wanted'] },
      'other',
    ]);
    await here.expect(0, ['run', '--task', 'wanted']);
    assert.deepEqual(landedTasks(here).toSorted(), ['base', 'wanted']);
    assert.equal((await here.task('other')).status, 'ready');
    assert.equal((await here.task('after')).status, 'ready');
    const [started] = await here.events('--type', 'run.started');
    assert.equal(started?.data['tasks'], 2);
    for (const [flags, exit, sentence] of [
      [['--task', 'wanted'], 3, /Task wanted is completed, so there is nothing to run\./],
      [['--task', 'nowhere'], 3, /Task "nowhere" does not exist/],
      [['--task', 'other', '--epic', 'E'], 64, /cannot be used with/],
    ] as const) {
      const { code, stderr } = await here.drover(['run', ...flags]);
      assert.equal(code, exit, stderr);
      assert.match(stderr, sentence);
    }
    await here.expect(0, ['run', '--task', 'other']);
    assert.equal((await here.task('after')).status, 'ready');
  });

  test("a task of an epic waits on its epic's line, which lands when all its tasks are done", async () => {
    const here = project({ agent: writesOneFile });
    await beginPlan(here, [
      { id: 'E', type: 'epic' },
      { id: 'e1', epic_id: 'E' },
      { id: 'e2', epic_id: 'E' },
    ]);
    const { code, stderr } = await here.drover(['run', '--task', 'e1']);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /The work of e1 is only on drover\/epic\/E, not on main\./);
    assert.deepEqual(landedTasks(here, 'drover/epic/E'), ['e1']);
    assert.equal((await here.task('e2')).status, 'ready');
    await here.expect(0, ['run', '--task', 'e2']);
    assert.equal((await here.status()).epics[0]?.landing_state, 'landed');
  });

  test('a second task widens the active run', async () => {
    const here = project({
      agent: `case "$id" in a) read -r line < ../../go;; esac\n${writesOneFile}`,
    });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['a', 'b', 'c']);
    const first = here.start(['run', '--task', 'a', '--json']);
    await first.line((line) => line.includes('"worktree.ready"'));
    assert.match((await here.drover(['why', 'c'])).stdout, /The current run covers only a, and c/);
    await here.expect(0, ['run', '--task', 'b', '--detach']);
    const { run } = await here.status();
    assert.deepEqual(run?.tasks, ['a', 'b']);
    barrier.open(1);
    assert.equal((await first.ended).code, 0);
    barrier.close();
    assert.deepEqual(landedTasks(here).toSorted(), ['a', 'b']);
    assert.equal((await here.task('c')).status, 'ready');
  });
});
