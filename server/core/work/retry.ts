// Decides when a failed attempt is retried.

export const retryBaseMs = 1_000;
export const retryMaxMs = 300_000;
const jitterShare = 0.2;

/**
 * Delay before the next attempt: 1 s, doubled for each failed attempt, ± 20 %, at most 5 min.
 * `chance` is a random number in [0, 1), passed in because the core is deterministic.
 */
export function retryDelayMs(failedAttempts: number, chance: number): number {
  const doublings = Math.min(Math.max(Math.trunc(failedAttempts), 1) - 1, 30);
  const share = Math.min(Math.max(chance, 0), 1);
  const jittered = retryBaseMs * 2 ** doublings * (1 - jitterShare + 2 * jitterShare * share);
  return Math.min(Math.round(jittered), retryMaxMs);
}
