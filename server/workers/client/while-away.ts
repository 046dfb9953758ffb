// A network that is away for a while interrupts a request, not the job: the request is made again
// until the network is back, or it is certain that the worker is not there any more.

import { setTimeout as delay } from 'node:timers/promises';
import { err, type Result } from '../../core/failure.ts';
import type { FollowTimes, IsGone } from './follow-job.ts';

export interface RequestFailure {
  readonly message: string;
  /** The connection broke; the same request may succeed. */
  readonly isInterrupted: boolean;
}

export interface Patience {
  readonly times: FollowTimes;
  readonly isGone: IsGone;
  /** Aborted: nothing is made again. */
  readonly stop: AbortSignal;
}

/** `giveUpMs` counts from the first interruption. */
export async function retryWhileUnreachable<T>(
  { times, isGone, stop }: Patience,
  act: () => Promise<Result<T, RequestFailure>>,
): Promise<Result<T, string>> {
  let since: number | null = null;
  let waitMs = times.firstDelayMs;
  for (;;) {
    const answer = await act();
    if (answer.ok) return answer;
    const { message, isInterrupted } = answer.error;
    const nowMs = performance.now();
    since ??= nowMs;
    const isOver = stop.aborted || nowMs - since >= times.giveUpMs;
    if (!isInterrupted || isOver || (await isGone())) return err(message);
    await delay(waitMs, null, { signal: stop }).catch(() => null);
    waitMs = Math.min(waitMs * 2, times.longestDelayMs);
  }
}
