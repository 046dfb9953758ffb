// Ends agents, setups and gate commands that a dead backend left running, before their worktrees
// are used again.

import { attemptOfOwner, endAllUpkeep, heldSlots, releaseSlot } from '../../store/port.ts';
import { gateRunIds } from './gate.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { agentRunId, reviewHolder, reviewRunId, setupRunId } from '../kit/run-ids.ts';

const endGraceMs = 2_000;

/** Called before this process starts any work, so every process found in a slot is an orphan. */
export async function endOrphanCommands(
  engine: Uses<'machineId' | 'places' | 'processes' | 'store'>,
): Promise<void> {
  await engine.store.transaction((tx) => endAllUpkeep(tx, engine.machineId));
  for (const slot of await heldSlots(engine.store.db, engine.machineId)) {
    const holder = slot.task_id ?? '';
    const runIds =
      slot.kind === 'gate'
        ? [
            ...gateRunIds(engine, holder),
            reviewRunId(engine, holder.slice(reviewHolder('').length)),
          ]
        : [setupRunId(engine, holder, slot.attempt ?? 0)];
    for (const runId of runIds) await engine.processes.endTree(runId, null, endGraceMs);
    // Only a running gate holds its slot, and no gate runs yet. Its merge may never be built again.
    if (slot.kind === 'gate')
      await engine.store.transaction((tx) => releaseSlot(tx, 'gate', holder));
  }
}

/** Kills the agent of an attempt that no backend will follow any more. */
export async function endLeftAgent(
  engine: Uses<'machineId' | 'places' | 'processes' | 'store'>,
  taskId: string,
  epoch: number,
): Promise<void> {
  const owner = { machine: engine.machineId, taskId, epoch };
  const left = await attemptOfOwner(engine.store.db, owner);
  if (left === null || left.pid === null || left.pid_start === null) return;
  const runId = agentRunId(engine, taskId, left.number, left.pid_part);
  await engine.processes.endTree(runId, { pid: left.pid, startTime: left.pid_start }, endGraceMs);
}
