// Several runs on one project: each task belongs to one of them, each has its workers, and none
// counts work as done that is on no target.

import assert from 'node:assert/strict';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const recorded = `echo "$id" >> ../../executions\n${writesOneFile}`;

function executed(here: Project): readonly string[] {
  return here
    .read('executions')
    .split('\n')
    .filter((id) => id !== '');
}

suite('several runs', function () {
  this.timeout(180_000);
  const project = useProjects();

  test("W2: a run of everything leaves the tasks of an epic's own run alone, and different options are refused", async () => {
    const here = project({
      agent: `case "$id" in [ew]*) read -r line < ../../go;; esac\n${recorded}`,
    });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, [
      { id: 'E', type: 'epic' },
      { id: 'e1', epic_id: 'E' },
      { id: 'e2', epic_id: 'E', blocked_by: ['e1'] },
      't1',
    ]);
    const own = here.start(['run', '--epic', 'E', '--land', 'review', '--json']);
    await own.line((line) => line.includes('"worktree.ready"'));
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['t1']);
    const refused = await here.drover(['run', '--epic', 'E', '--land', 'task']);
    assert.equal(refused.code, 3, refused.stderr);
    assert.match(refused.stderr, /covers epic E already, and .* \(--land review\)/);
    barrier.open(2);
    const end = await own.ended;
    assert.equal(end.code, 2, end.stderr);
    assert.deepEqual(landedTasks(here), ['t1']);
    assert.deepEqual(landedTasks(here, 'drover/epic/E'), ['e1', 'e2']);

    await importPlan(here, ['w1']);
    const wide = here.start(['run']);
    await eventually('w1 runs', async () => (await here.task('w1')).phase === 'agent');
    for (const flags of [
      ['--land', 'review'],
      ['--gate', 'false'],
      ['--target', 'other'],
    ]) {
      const { code, stderr } = await here.drover(['run', '--epic', 'E', ...flags]);
      assert.equal(code, 3, stderr);
      assert.match(stderr, /^.*Run run-\w+ covers everything already, and .*, then run again\.$/m);
    }
    barrier.open(1);
    const left = await wide.ended;
    barrier.close();
    assert.equal(left.code, 2, left.stderr);
    assert.match(left.stderr, /The work of e1, e2 is only on drover\/epic\/E, not on main\./);
    assert.deepEqual(executed(here).toSorted(), ['e1', 'e2', 't1', 'w1']);
  });

  soakTest(
    "W4: a run is not at 100 % while part of the work is only on an epic's line",
    async () => {
      const here = project({
        agent: `if [ "$id" = B ] && [ ! -e ../../well ]; then cat > /dev/null; exit 9; fi\n${recorded}`,
      });
      await beginPlan(here, [
        { id: 'E', type: 'epic' },
        { id: 'A', epic_id: 'E' },
        { id: 'B', epic_id: 'E', max_attempts: 1 },
      ]);
      await here.expect(1, ['run', '--epic', 'E']);
      here.write('well', '');
      await here.expect(0, ['retry', 'B']);
      const { code, stderr } = await here.drover(['run']);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /The work of A is only on drover\/epic\/E, not on main\./);
      assert.match(stderr, /drover run --epic E/);
      const status = await here.status();
      assert.deepEqual([status.counts.completed, status.progress], [2, 99]);
      assert.equal(status.epics[0]?.progress, 99);
      // The same applies to runs that land each task separately.
      const byTask = await here.drover(['run', '--epic', 'E', '--land', 'task']);
      assert.equal(byTask.code, 2, byTask.stderr);
      assert.match(byTask.stderr, /Run "drover run --epic E --land epic" to land it\./);
      await here.expect(0, ['run', '--epic', 'E']);
      assert.equal(here.read('repo/A.txt') + here.read('repo/B.txt'), 'work of A\nwork of B\n');
      assert.deepEqual([(await here.status()).progress], [100]);
      await here.expect(0, ['run']);
    },
  );

  soakTest('S2: a run with one worker gets its turn beside a larger run', async () => {
    const here = project({
      agent: `case "$id" in b*) touch "../../begun-$id"; read -r line < ../../go;; esac\n${recorded}`,
    });
    const barrier = makeBarrier(here.folder, 'go');
    const many = ['b1', 'b2', 'b3', 'b4', 'b5'];
    await beginPlan(here, [
      { id: 'EB', type: 'epic' },
      { id: 'EA', type: 'epic' },
      ...many.map((id) => ({ id, epic_id: 'EB' })),
      { id: 'a1', epic_id: 'EA' },
    ]);
    const large = here.start(['run', '--epic', 'EB', '--workers', '2', '--json']);
    await large.line((line) => line.includes('"worktree.ready"') && line.includes('"b2"'));
    const small = here.start(['run', '--epic', 'EA', '--workers', '1', '--json']);
    await small.line((line) => line.includes('"run.started"'));
    barrier.open(1);
    const ended = await small.ended;
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(executed(here)[1], 'a1', 'the first free worker was its');
    barrier.open(many.length - 1);
    const end = await large.ended;
    barrier.close();
    assert.equal(end.code, 0, end.stderr);
    assert.deepEqual(executed(here).toSorted(), ['a1', ...many]);
  });

  test('epics that land as a whole and wait for each other are refused', async () => {
    const here = project({ agent: recorded });
    await beginPlan(here, [
      { id: 'EA', type: 'epic' },
      { id: 'EB', type: 'epic' },
      { id: 'a1', epic_id: 'EA' },
      { id: 'b1', epic_id: 'EB', blocked_by: ['a1'] },
      { id: 'a2', epic_id: 'EA', blocked_by: ['b1'] },
    ]);
    const refused = await here.drover(['run', '--epic', 'EA']);
    assert.equal(refused.code, 3, refused.stderr);
    const waits = /a2 \(EA\) waits for b1 \(EB\), b1 \(EB\) waits for a1 \(EA\)/;
    assert.match(refused.stderr, waits);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['a1', 'b1', 'a2']);
  });

  suite('S6: a task whose blocker belongs to another epic', () => {
    const plan = [
      { id: 'EA', type: 'epic' as const },
      { id: 'EB', type: 'epic' as const },
      { id: 'a1', epic_id: 'EA' },
      { id: 'a2', epic_id: 'EA', blocked_by: ['a1'], max_attempts: 1 },
      { id: 'b1', epic_id: 'EB', blocked_by: ['a1'] },
    ];

    test('it waits unclaimed while that epic runs, and starts once the epic has landed', async () => {
      const here = project({ agent: `[ "$id" != a2 ] || read -r line < ../../go\n${recorded}` });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, plan);
      const first = here.start(['run', '--epic', 'EA', '--json']);
      // A run whose task waits for an epic without a run ends at once.
      const status = async (): Promise<string> => (await here.task('a2')).status;
      await eventually('the first run works', async () => (await status()) === 'in_progress');
      const second = here.start(['run', '--epic', 'EB', '--json']);
      const waits = /b1 starts when that line holds its commit/;
      const why = async (): Promise<boolean> =>
        waits.test((await here.drover(['why', 'b1'])).stdout);
      await eventually('b1 waits', why);
      assert.equal((await here.task('b1')).status, 'ready');
      barrier.open(1);
      assert.equal((await first.ended).code, 0);
      const end = await second.ended;
      barrier.close();
      assert.equal(end.code, 0, end.stderr);
      const claims = await here.events('--task', 'b1', '--type', 'task.claimed');
      assert.equal(claims.length, 1);
      assert.equal(here.read('repo/b1.txt'), 'work of b1\n');
    });

    test('it is blocked if no run brings the work, and released once the work has arrived', async () => {
      const here = project({
        agent: `if [ "$id" = a2 ] && [ ! -e ../../well ]; then cat > /dev/null; exit 9; fi\n${recorded}`,
      });
      await beginPlan(here, plan);
      await here.expect(1, ['run', '--epic', 'EA']);
      await here.expect(2, ['run', '--epic', 'EB']);
      assert.match((await here.task('b1')).blocked_reason ?? '', /merge drover\/epic\/EA into/);
      here.write('well', '');
      await here.expect(0, ['retry', 'a2']);
      await here.expect(0, ['run', '--epic', 'EA']);
      assert.equal((await here.task('b1')).status, 'ready');
      await here.expect(0, ['run', '--epic', 'EB']);
      assert.equal(here.read('repo/b1.txt'), 'work of b1\n');
    });
  });
});
