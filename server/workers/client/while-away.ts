// A temporary network failure interrupts a request, not the job. The request is repeated until the
// network works again, or the worker certainly no longer exists.

import { setTimeout as delay } from 'node:timers/promises';
import { err, type Result } from '../../core/failure.ts';
import type { FollowTimes, IsGone } from './follow-job.ts';

export interface RequestFailure {
  readonly message: string;
  /** The connection broke. The same request may succeed. */
  readonly isInterrupted: boolean;
}

export interface Patience {
  readonly times: FollowTimes;
  readonly isGone: IsGone;
  /** If aborted, the request is not repeated. */
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
