// The response to `subscribe`: the number after which events follow, with a snapshot of the state
// if too many were missed.

import type { StatusSnapshot } from '../../protocol/api.ts';
import type { Feed } from './feed.ts';
import type { Subscribed } from '../../protocol/run-views.ts';

/** With more missed events, a snapshot is cheaper. */
export const replayMax = 5000;

/** The response, and the number after which the pump starts. */
export async function answerSubscribe(
  feed: Feed,
  snapshot: () => Promise<StatusSnapshot>,
  after: number | undefined,
): Promise<{ readonly answer: Subscribed; readonly pumpAfter: number }> {
  const last = await feed.lastSeq();
  // If events after the client's number have been removed, only a snapshot shows their effect.
  const isWhole = after !== undefined && after >= ((await feed.lastPruned?.()) ?? 0);
  if (isWhole && after >= 0 && after <= last && last - after <= replayMax) {
    return { answer: { kind: 'replay', seq: last, snapshot: null }, pumpAfter: after };
  }
  const state = await snapshot();
  return { answer: { kind: 'snapshot', seq: state.seq, snapshot: state }, pumpAfter: state.seq };
}
