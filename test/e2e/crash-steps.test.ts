// The backend ends itself right after each stored step, again and again.

import assert from 'node:assert/strict';
import {
  assertDoneOnce,
  executions,
  type PlannedTask,
  recordedAgent,
  writePlan,
} from './support/crash-epic.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

const steps = [
  'claimed',
  'worktree_created',
  'agent_done',
  'committed',
  'verified',
  'merged',
  'completed',
];

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
      const deaths = run.stderr.split('The backend is gone').length - 1;
      assert.ok(deaths >= 2, `${step}: died ${deaths} times\n${run.stderr}`);
      await assertDoneOnce(here, chain, step);
      // The step that was stored is never run again: so the agent worked once, wherever the death came behind it.
      const worked = executions(here).filter(({ what }) => what === 'begin');
      assert.deepEqual(worked.map(({ id }) => id).sort(), ['A', 'B', 'C', 'D']);
    });
  }
});

async function begin(here: Project, tasks: readonly PlannedTask[]): Promise<void> {
  await here.expect(0, ['init']);
  await here.expect(0, ['import', writePlan(here, tasks)]);
}
