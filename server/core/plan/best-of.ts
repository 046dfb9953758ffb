// Best-of-N: when a candidate can be chosen, and which one each rule chooses.

import { formatCost } from '../format.ts';
import type { TaskStatus } from './state.ts';

/**
 * `first-green`: the first candidate that passes the gate. `smallest-change`: the smallest one
 * after all have ended. `person`: a person chooses.
 */
export const chooseRules = ['first-green', 'smallest-change', 'person'] as const;
export type ChooseRule = (typeof chooseRules)[number];

export const bestOfMax = 8;

export function isBestOfMany(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= bestOfMax;
}

export interface Candidate {
  readonly id: string;
  readonly status: TaskStatus;
  readonly reviewKind: string | null;
  /** True if only a person can unblock it. */
  readonly isBlockedOutside: boolean;
  /** Lines added and removed; null if unknown. */
  readonly changedLines: number | null;
  readonly costUsd: number;
}

/**
 * `green`: passed the gate on its own tree. `open`: can still pass without a person. `ended`: needs
 * a person, or is over.
 */
export function candidateStanding(candidate: Candidate): 'green' | 'open' | 'ended' {
  switch (candidate.status) {
    case 'needs_review':
      return candidate.reviewKind === 'candidate' ? 'green' : 'ended';
    case 'blocked':
      return candidate.isBlockedOutside ? 'ended' : 'open';
    case 'ready':
    case 'claimed':
    case 'in_progress':
    case 'waiting':
    case 'paused':
      return 'open';
    case 'conflict':
    case 'completed':
    case 'failed':
    case 'cancelled':
      return 'ended';
  }
}

export type Choice =
  | { readonly kind: 'wait' }
  | { readonly kind: 'choose'; readonly id: string }
  | { readonly kind: 'ask'; readonly ids: readonly string[] }
  /** All candidates have ended, and none passed. */
  | { readonly kind: 'none' };

/** Applies the rule to the candidates, which must be in creation order. */
export function judgeCandidates(rule: ChooseRule, candidates: readonly Candidate[]): Choice {
  const green = candidates.filter((candidate) => candidateStanding(candidate) === 'green');
  const [first] = green;
  if (rule === 'first-green' && first !== undefined) return { kind: 'choose', id: first.id };
  if (candidates.some((candidate) => candidateStanding(candidate) === 'open'))
    return { kind: 'wait' };
  if (first === undefined) return { kind: 'none' };
  if (rule === 'person') return { kind: 'ask', ids: green.map(({ id }) => id) };
  const best = green.toSorted(
    (a, b) => sizeOf(a) - sizeOf(b) || a.costUsd - b.costUsd || green.indexOf(a) - green.indexOf(b),
  );
  return { kind: 'choose', id: (best[0] ?? first).id };
}

function sizeOf(candidate: Candidate): number {
  return candidate.changedLines ?? Number.MAX_SAFE_INTEGER;
}

export interface ChangedLines {
  readonly added: number;
  readonly removed: number;
}

/** Counts the lines that a unified diff adds and removes. */
export function countDiffLines(diff: string): ChangedLines {
  let [added, removed] = [0, 0];
  let isInHunk = false;
  for (const line of diff.split('\n')) {
    if (line.startsWith('diff --git ')) isInHunk = false;
    else if (line.startsWith('@@ ')) isInHunk = true;
    else if (isInHunk && line.startsWith('+')) added += 1;
    else if (isInHunk && line.startsWith('-')) removed += 1;
  }
  return { added, removed };
}

export interface CandidateFacts {
  /** Counts from 1, in creation order. */
  readonly number: number;
  readonly stand: ReturnType<typeof candidateStanding>;
  readonly added: number | null;
  readonly removed: number | null;
  readonly costUsd: number;
}

/** Returns null if the number of lines is unknown. */
export function linesOfCandidate(row: {
  readonly changed_lines: number | null;
  readonly removed_lines: number | null;
}): { readonly added: number | null; readonly removed: number | null } {
  const { changed_lines: changed, removed_lines: removed } = row;
  return { added: changed === null || removed === null ? null : changed - removed, removed };
}

/** `Candidate 1, +12 −3, green, $0.01`. `state` is used unless the candidate passed the gate. */
export function candidateLine(facts: CandidateFacts, state: string): string {
  const { number, stand } = facts;
  const size = candidateSize(facts);
  const words = [
    `Candidate ${number}`,
    ...(size === null ? [] : [size]),
    stand === 'green' ? 'green' : state,
    ...candidateCost(facts),
  ];
  return words.join(', ');
}

/** `+12 −3`. Returns null if unknown. */
export function candidateSize({ added, removed }: CandidateFacts): string | null {
  return added === null || removed === null ? null : `+${added} −${removed}`;
}

function candidateCost({ costUsd }: CandidateFacts): readonly string[] {
  return costUsd > 0 ? [formatCost(costUsd)] : [];
}

/** Label of the button that lands it: `Land Candidate 1 (+12 −3, $0.01)`. */
export function landTitle(facts: CandidateFacts): string {
  const size = candidateSize(facts);
  const more = [...(size === null ? [] : [size]), ...candidateCost(facts)].join(', ');
  return `Land Candidate ${facts.number}${more === '' ? '' : ` (${more})`}`;
}
