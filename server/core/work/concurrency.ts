// Limits how many agents of one account run at once: fewer when the provider is overloaded, then
// one more after each quiet period. Only the last change is stored; the current limit is computed
// from the elapsed time.

export interface Pace {
  readonly agents: number;
  readonly atMs: number;
}

/** One more agent may start after this long without a sign of overload. */
export const paceStepMs = 15_000;
/**
 * Parallel agents report the same overload, so reports within this time of the first one are
 * ignored.
 */
export const paceCooldownMs = 5_000;

/** HTTP statuses that ask for fewer requests. */
const overloadStatuses: ReadonlySet<number> = new Set([429, 503, 529]);
const overloadErrors: ReadonlySet<string> = new Set([
  'overloaded',
  'overloaded_error',
  'rate_limit',
  'rate_limit_error',
]);

/** Uses protocol codes, never text. */
export function isOverload(retry: {
  readonly status: number | null;
  readonly error: string;
}): boolean {
  return retry.status === null
    ? overloadErrors.has(retry.error)
    : overloadStatuses.has(retry.status);
}

/** The number of agents that may run now. `pace` is null if no overload was reported. */
export function agentsAllowed(pace: Pace | null, nowMs: number, workers: number): number {
  if (pace === null) return workers;
  const steps = Math.max(0, Math.floor((nowMs - pace.atMs) / paceStepMs));
  return Math.max(1, Math.min(workers, pace.agents + steps));
}

/**
 * Halves the number of running agents after an overload. Returns null if the limit does not change.
 */
export function slowerPace(
  pace: Pace | null,
  nowMs: number,
  counts: { readonly workers: number; readonly busy: number },
): Pace | null {
  if (pace !== null && nowMs >= pace.atMs && nowMs - pace.atMs < paceCooldownMs) return null;
  const allowed = agentsAllowed(pace, nowMs, counts.workers);
  const before = Math.max(1, Math.min(allowed, counts.busy));
  return { agents: Math.max(1, Math.floor(before / 2)), atMs: nowMs };
}

/** When one more agent may start (Unix ms); null if all may. */
export function nextPaceMs(pace: Pace | null, nowMs: number, workers: number): number | null {
  if (pace === null || agentsAllowed(pace, nowMs, workers) >= workers) return null;
  const steps = Math.max(0, Math.floor((nowMs - pace.atMs) / paceStepMs));
  return pace.atMs + (steps + 1) * paceStepMs;
}
