// What a person says to a task on another machine of the fleet: the rows tell of it, and the feed that there is something
// to look at. Here it reaches the workflow that is at work.

import { inParts } from '../../store/port.ts';
import type { Engine } from './parts.ts';

/** The feed can be deaf for a moment (a lost connection): looked again this often. */
const lookAgainMs = 2_000;

/** Starts listening; returns stop. Nothing to do on a single machine, where every word is said in this process. */
export function hearFromElsewhere(engine: Engine): () => void {
  if (engine.machineId === '') return () => {};
  let over = false;
  let isLooking = false;
  let isAsked = false;
  let off = (): void => {};
  const look = (): void => {
    isAsked = true;
    if (isLooking || over) return;
    isLooking = true;
    isAsked = false;
    passOn(engine)
      .catch((error: unknown) => engine.report(error, 'hearing from other machines'))
      .finally(() => {
        isLooking = false;
        if (isAsked) look();
      });
  };
  const again = (): void => {
    if (over) return;
    off = engine.clock.timer(lookAgainMs, () => {
      look();
      again();
    });
  };
  const offFeed = engine.store.feed.onAppend(look);
  again();
  return () => {
    over = true;
    offFeed();
    off();
  };
}

async function passOn(engine: Engine): Promise<void> {
  const { db } = engine.store;
  const { switchboard } = engine;
  const stoppable = [...new Set(switchboard.stoppable().map(({ taskId }) => taskId))];
  for (const ids of inParts(stoppable)) {
    const stopped = await db
      .selectFrom('tasks')
      .select(['id', 'epoch'])
      .where('id', 'in', [...ids])
      .where('stop_requested', 'is not', null)
      .execute();
    for (const { id, epoch } of stopped) switchboard.stop(id, epoch);
  }
  for (const ids of inParts(switchboard.questionsOpen())) {
    const ended = await db
      .selectFrom('questions')
      .select(['id', 'state', 'answer'])
      .where('id', 'in', [...ids])
      .where('state', '!=', 'open')
      .execute();
    for (const { id, state, answer } of ended)
      switchboard.answered(id, state === 'answered' ? answer : null);
  }
  for (const ids of inParts(switchboard.tasksWithHints())) {
    const hinted = await db
      .selectFrom('guidance_queue')
      .select('task_id')
      .distinct()
      .where('task_id', 'in', [...ids])
      .where('delivered', '=', 0)
      .execute();
    for (const { task_id: id } of hinted) switchboard.hintAdded(id);
  }
}
