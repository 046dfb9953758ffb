// Releases the tasks of a fleet machine that exits before they have ended: stops its agents, so
// that other machines take the tasks. No attempt is used.

import { machineWork } from '../../store/port.ts';
import { requestStop } from './controls.ts';
import { waitUntilReleased } from '../engine.ts';
import type { Uses } from '../kit/engine-ports.ts';

/**
 * Resolves with the tasks when they are released or a time limit is reached. Other machines detect
 * the remaining ones by themselves.
 */
export async function releaseTasks(
  engine: Uses<'clock' | 'machineId' | 'store' | 'switchboard'>,
  reason: string,
): Promise<readonly string[]> {
  const work = await machineWork(engine.store.db, engine.machineId);
  const ids = work.filter(({ isAtWork }) => isAtWork).map(({ taskId }) => taskId);
  for (const id of ids) await requestStop(engine, id, 'stop', reason);
  await waitUntilReleased(engine, ids);
  return ids;
}
