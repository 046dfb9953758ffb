// How long a pull request took from the last landing to its merge, and why. Pure.

import { formatDuration } from '../format.ts';

/** The first thing that a pull request waits for. */
export const pullWaits = [
  'gate',
  'below',
  'conflict',
  'red_checks',
  'checks',
  'unread',
  'thread',
  'approval',
  'draft',
  'queue',
  'merge',
] as const;
export type PullWait = (typeof pullWaits)[number];

/** From this moment on, it waited for this. */
export interface WaitMark {
  readonly atMs: number;
  readonly cause: PullWait;
}

export interface ReportPull {
  readonly number: number;
  readonly url: string;
  /** `open`, `merged`, `closed` or `stopped`. */
  readonly state: string;
  /** From the last landing on the epic's branch to the merge, or until now. */
  readonly ms: number;
  /** Longest first; together they are `ms`. */
  readonly waits: readonly { readonly cause: PullWait; readonly ms: number }[];
}

/** Until the first mark, the gate ran and the pull request was opened. */
export function waitsBetween(
  fromMs: number,
  toMs: number,
  marks: readonly WaitMark[],
): ReportPull['waits'] {
  const all = [{ atMs: fromMs, cause: 'gate' as const }, ...marks].toSorted(
    (one, other) => one.atMs - other.atMs,
  );
  const total = new Map<PullWait, number>();
  for (const [index, { atMs, cause }] of all.entries()) {
    const start = Math.max(fromMs, atMs);
    const end = Math.min(toMs, all[index + 1]?.atMs ?? toMs);
    if (end > start) total.set(cause, (total.get(cause) ?? 0) + end - start);
  }
  return [...total]
    .map(([cause, ms]) => ({ cause, ms }))
    .toSorted((one, other) => other.ms - one.ms);
}

const names: { readonly [W in PullWait]: string } = {
  gate: 'the gate and the push',
  below: 'the pull request below',
  conflict: 'a conflict',
  red_checks: 'red checks',
  checks: 'checks',
  unread: 'facts that could not be read',
  thread: 'open threads',
  approval: 'approvals',
  draft: 'being marked as ready',
  queue: 'the merge queue',
  merge: 'the merge itself',
};

/** One sentence for people. */
export function pullTimeWords({ number, state, ms, waits }: ReportPull): string {
  const parts = waits.map(({ cause, ms: part }) => `${formatDuration(part)} for ${names[cause]}`);
  const of = parts.length === 0 ? '' : `: ${parts.join(', ')}`;
  const time = formatDuration(ms);
  return state === 'merged'
    ? `PR #${number} was merged ${time} after the last landing${of}.`
    : `PR #${number} is ${state}, ${time} after the last landing${of}.`;
}
