// The backend kills itself right after each stored step, repeatedly.

import assert from 'node:assert/strict';
import {
  assertDoneOnce,
  executions,
  type PlannedTask,
  recordedAgent,
  writePlan,
} from './support/crash-epic.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized } from '../tier.ts';

const steps = sized(
  ['worktree_created', 'verified', 'merged'],
  ['claimed', 'worktree_created', 'agent_done', 'committed', 'verified', 'merged', 'completed'],
);

const chain: readonly PlannedTask[] = [
  { id: 'A', blockedBy: [] },
  { id: 'B', blockedBy: ['A'] },
  { id: 'C', blockedBy: ['B'] },
  { id: 'D', blockedBy: [] },
];

suite('a backend that dies right after a step', function () {
  this.timeout(600_000);
  const project = useProjects();

  for (const step of steps) {
    test(step, async () => {
      const here = project({ agent: recordedAgent });
      await begin(here, chain);
      const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: step };
      const run = await here.drover(['run', '--workers', '2', '--gate', 'true'], { env });
      assert.equal(run.code, 0, `${run.stdout}\n${run.stderr}`);
      const deaths = run.stderr.split('Lost the connection to the backend').length - 1;
      assert.ok(deaths >= 2, `${step}: died ${deaths} times\n${run.stderr}`);
      await assertDoneOnce(here, chain, step);
      // A stored step never runs again, so the agent ran once, wherever the crash happened
      // afterwards.
      const worked = executions(here).filter(({ what }) => what === 'begin');
      assert.deepEqual(worked.map(({ id }) => id).sort(), ['A', 'B', 'C', 'D']);
    });
  }
});

suite('a backend that is asked to exit', function () {
  this.timeout(120_000);
  const project = useProjects();

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    test(`${signal} while an agent works uses no attempt`, async () => {
      const here = project({ agent: `read -r line < ../../go; ${recordedAgent}` });
      const barrier = makeBarrier(here.folder, 'go');
      await begin(here, [{ id: 'A', blockedBy: [] }]);
      const run = here.start(['run', '--json']);
      await run.line((line) => line.includes('"worktree.ready"'));
      const pid = here.backendPid();
      assert.ok(pid !== null);
      process.kill(pid, signal);
      await eventually('another backend', () => ![null, pid].includes(here.backendPid()));
      barrier.open(2);
      const done = await run.ended;
      barrier.close();
      assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
      const task = await here.task('A');
      assert.deepEqual([task.attempts, landedTasks(here)], [0, ['A']]);
      assert.deepEqual(
        executions(here).map(({ what }) => what),
        ['begin', 'end'],
      );
    });
  }
});

async function begin(here: Project, tasks: readonly PlannedTask[]): Promise<void> {
  await here.expect(0, ['init']);
  await here.expect(0, ['import', writePlan(here, tasks)]);
}
