// What a person says to a task on another machine of the fleet: the rows tell of it, and the feed
// that there is something to look at. Here it reaches the workflow that is at work.

import { askedToStop, endedQuestions, tasksWithOpenHints } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';

/** The feed can be deaf for a moment (a lost connection): looked again this often. */
const lookAgainMs = 2_000;

/**
 * Starts listening; returns stop. Nothing to do on a single machine, where every word is said in
 * this process.
 */
export function followFleetRequests(
  engine: Uses<'clock' | 'machineId' | 'report' | 'store' | 'switchboard'>,
): () => void {
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
      .catch((error: unknown) => engine.report(error, 'listening to other machines'))
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

async function passOn(engine: Uses<'store' | 'switchboard'>): Promise<void> {
  const { db } = engine.store;
  const { switchboard } = engine;
  const stoppable = [...new Set(switchboard.stoppable().map(({ taskId }) => taskId))];
  for (const { id, epoch } of await askedToStop(db, stoppable)) switchboard.stop(id, epoch);
  for (const { id, answer } of await endedQuestions(db, switchboard.questionsOpen()))
    switchboard.answered(id, answer);
  for (const id of await tasksWithOpenHints(db, switchboard.tasksWithHints()))
    switchboard.hintAdded(id);
}
