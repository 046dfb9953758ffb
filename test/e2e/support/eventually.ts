// Polls for a fact about another process that sends no notification; bounded, and names the fact if
// it fails.

import { patience } from '../../patience.ts';

/**
 * A check that starts a command is expensive, so it pauses several times as long to let the other
 * process progress.
 */
const pausePerLook = 3;
const pauseMsMin = 15;
const pauseMsMax = 1_000;
const waitMaxMs = 60_000;

export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  maxMs = waitMaxMs,
): Promise<Exclude<T, null | undefined | false>> {
  const endMs = Date.now() + maxMs * patience;
  for (;;) {
    const beganMs = Date.now();
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) {
      return seen as Exclude<T, null | undefined | false>;
    }
    const nowMs = Date.now();
    if (nowMs > endMs) throw new Error(`still not after ${(maxMs * patience) / 1000} s: ${what}`);
    const pauseMs = Math.max(pauseMsMin, Math.min(pauseMsMax, (nowMs - beganMs) * pausePerLook));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
