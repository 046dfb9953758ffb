// A person resolved an external block of a task, or its conflict.

import { Refusal } from '../../core/failure.ts';
import { redBaseCause } from '../../core/plan/block-cause.ts';
import { addHint, waiveRedBase } from '../../store/port.ts';
import { finishedAs } from '../attempt/refused-work.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { freshStart, requireRoot } from './controls.ts';
import { nextAction } from './next-action.ts';

interface Resolution {
  /** A note for the agent. */
  readonly note: string | null;
  /** Start the task although its line fails the gate, because its work may fix that. */
  readonly anyway: boolean;
}

/** Handles a person's report that the task's external block or conflict is resolved. */
export async function resolveTask(
  engine: Uses<'clock' | 'store'>,
  id: string,
  { note, anyway }: Resolution,
): Promise<void> {
  const row = await requireRoot(engine, id, 'resolved');
  const cause = redBaseCause(row);
  if (anyway && cause === null)
    throw new Refusal(
      'bad_state',
      `${id} is not blocked by a failing gate, so there is nothing to start it in spite of. Resolve it without --anyway.`,
    );
  const outside = row.status === 'blocked' && row.blocked_reason !== null;
  if (!outside && row.status !== 'conflict') {
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status}. Only a task that is blocked from outside or in conflict can be resolved; ${nextAction(id, row.status)}.`,
    );
  }
  await engine.store.transaction(async (tx) => {
    if (note !== null) await addHint(tx, engine.store.sources, id, note);
    const isBegun = await freshStart(engine, tx, row, 'task.unblocked', {
      goesOn: await finishedAs(tx, id),
      ...(anyway ? { more: { anyway } } : {}),
    });
    if (isBegun && anyway && cause !== null) await waiveRedBase(tx, id, cause);
    if (isBegun) return;
    throw new Refusal('bad_state', `${id} was just changed by someone else. Try again.`);
  });
}
