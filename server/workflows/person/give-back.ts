// A machine of a fleet that ends before its tasks have: its agents are ended, and the tasks are
// given back for the others. No attempt is used.

import { machineWork } from '../../store/port.ts';
import { requestStop } from './controls.ts';
import { untilGivenBack } from '../engine.ts';
import type { Uses } from '../kit/engine-ports.ts';

/**
 * Resolves with the tasks when they are given back, or when that takes too long: then the others
 * find out by themselves.
 */
export async function giveBack(
  engine: Uses<'clock' | 'machineId' | 'store' | 'switchboard'>,
  reason: string,
): Promise<readonly string[]> {
  const work = await machineWork(engine.store.db, engine.machineId);
  const ids = work.filter(({ isAtWork }) => isAtWork).map(({ taskId }) => taskId);
  for (const id of ids) await requestStop(engine, id, 'stop', reason);
  await untilGivenBack(engine, ids);
  return ids;
}
