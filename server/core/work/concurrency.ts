// How many agents of one account work at once: fewer when its provider is overloaded, one more
// after each quiet while. Stored is the last change alone; the rest follows from the time.

export interface Pace {
  readonly agents: number;
  readonly atMs: number;
}

/** One more agent may start after this long without a sign of overload. */
export const paceStepMs = 15_000;
/**
 * Parallel agents report the same overload, so further reports within this time do not count as
 * another one.
 */
export const paceCooldownMs = 5_000;

/** HTTP statuses with which providers ask for fewer requests. */
const overloadStatuses: ReadonlySet<number> = new Set([429, 503, 529]);
const overloadErrors: ReadonlySet<string> = new Set([
  'overloaded',
  'overloaded_error',
  'rate_limit',
  'rate_limit_error',
]);

/** Detected by protocol codes, never by text. */
export function isOverload(retry: {
  readonly status: number | null;
  readonly error: string;
}): boolean {
  return retry.status === null
    ? overloadErrors.has(retry.error)
    : overloadStatuses.has(retry.status);
}

/** The number of agents that may run now. Returns null if there was no overload. */
export function agentsAllowed(pace: Pace | null, nowMs: number, workers: number): number {
  if (pace === null) return workers;
  const steps = Math.max(0, Math.floor((nowMs - pace.atMs) / paceStepMs));
  return Math.max(1, Math.min(workers, pace.agents + steps));
}

/** After a sign of overload, halves the number of running agents. Returns null for no change. */
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

/** When one more may start (Unix ms); null when all may. */
export function nextPaceMs(pace: Pace | null, nowMs: number, workers: number): number | null {
  if (pace === null || agentsAllowed(pace, nowMs, workers) >= workers) return null;
  const steps = Math.max(0, Math.floor((nowMs - pace.atMs) / paceStepMs));
  return pace.atMs + (steps + 1) * paceStepMs;
}
