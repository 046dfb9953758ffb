// Stops a running task, which later continues from the work of another task that lands first.

import { Refusal } from '../../core/failure.ts';
import { editTask, taskById } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { requestStop } from './controls.ts';

/**
 * Adds the other task to the blockers and stops the agent, keeping its work. Refused like any
 * blocker, for example if the other task waits for this one.
 */
export async function waitForTask(
  engine: Uses<'store' | 'switchboard'>,
  id: string,
  other: string,
  reason: string,
): Promise<void> {
  const { store } = engine;
  await store.transaction(async (tx) => {
    const row = await taskById(tx, other);
    if (row?.status === 'completed' || row?.status === 'cancelled') {
      throw new Refusal('bad_state', `${other} is ${row.status}, so nothing can wait for it.`);
    }
    await editTask(tx, store.sources, id, { add_blockers: [other] });
  });
  await requestStop(engine, id, 'stop', reason);
}
