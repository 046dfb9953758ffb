// The answer to `subscribe`: the number from which events follow, with the state beside it if too
// many have passed.

import type { StatusSnapshot } from '../../protocol/api.ts';
import type { Feed } from './feed.ts';
import type { Subscribed } from '../../protocol/run-views.ts';

/** Above this many missed events a snapshot is the shorter way. */
export const replayMax = 5000;

/** The answer, and the number after which the pump starts. */
export async function answerSubscribe(
  feed: Feed,
  snapshot: () => Promise<StatusSnapshot>,
  after: number | undefined,
): Promise<{ readonly answer: Subscribed; readonly pumpAfter: number }> {
  const last = await feed.lastSeq();
  // If events after the client's have been removed, only the state shows their effect.
  const isWhole = after !== undefined && after >= ((await feed.lastPruned?.()) ?? 0);
  if (isWhole && after >= 0 && after <= last && last - after <= replayMax) {
    return { answer: { kind: 'replay', seq: last, snapshot: null }, pumpAfter: after };
  }
  const state = await snapshot();
  return { answer: { kind: 'snapshot', seq: state.seq, snapshot: state }, pumpAfter: state.seq };
}
