// Stores the phase of a task's attempt in its row, and in the feed if no other event shows it.

import type { Phase } from '../../core/plan/task.ts';
import { type Claim, enterOwnedPhase } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';

export async function enterPhase(engine: Uses<'store'>, claim: Claim, phase: Phase): Promise<void> {
  await engine.store.transaction(async (tx) => {
    if (!(await enterOwnedPhase(tx, claim, phase))) return;
    await engine.store.append(tx, {
      type: 'task.phase',
      taskId: claim.taskId,
      runId: claim.runId,
      data: { attempt: claim.attempt, phase },
    });
  });
}
