// Decides when Drover asks the forge to merge a pull request, and explains it in the sentence for
// people. Pure.

import { formatOrdinal } from '../format.ts';
import type { PullFacts } from './observed-pull.ts';
import type { PullWait } from './pull-waits.ts';
import type { BranchRules, MergeMethod } from './pull-facts.ts';
import { pullName } from './stack.ts';

/** Gates of one head, each run on a newer base. */
export const gatesMax = 3;

/** One reason why a pull request waits. */
export interface Point {
  readonly cause: PullWait;
  readonly words: string;
  /** Whether the forge itself refuses to merge without it. */
  readonly isEnforced: boolean;
}

export type MergeStep =
  | { readonly kind: 'gate'; readonly base: string }
  | { readonly kind: 'merge'; readonly how: 'auto' | 'queue' };

/** Returns null if no request is due now. */
export function mergeStep(
  facts: PullFacts,
  points: readonly Point[],
  isPartlyUnread: boolean,
): MergeStep | null {
  const { mode, asked, gate, base, merging } = facts.merge;
  if (mode === 'person' || asked !== null || merging.kind === 'unread' || isPartlyUnread)
    return null;
  if (facts.pull.isMergeable !== true || isTooEarly(facts)) return null;
  const isReady = points.every(({ isEnforced }) => mode === 'auto' && isEnforced);
  if (!isReady) return null;
  if (gate === 'older' && base !== null) return { kind: 'gate', base };
  return gate === 'newest' ? { kind: 'merge', how: mode } : null;
}

/** Optional checks may not have started yet. */
function isTooEarly({ checks, rules, merge, nowMs, quietMs }: PullFacts): boolean {
  const hasChecks = checks.kind === 'read' && checks.value.length > 0;
  const isRequired = rules.kind === 'read' && rules.value.requiredChecks.length > 0;
  return !hasChecks && !isRequired && nowMs - merge.pushedAtMs < quietMs;
}

/**
 * The merge methods that a branch with these rules allows for an epic, whose branch has merge
 * commits without signatures.
 */
export function methodsLeft(
  { mergeMethods, needsLinearHistory, needsSignatures }: BranchRules,
  offered: readonly MergeMethod[],
): readonly MergeMethod[] {
  return offered.filter(
    (method) =>
      (mergeMethods === null || mergeMethods.includes(method)) &&
      (method === 'SQUASH' || !(needsLinearHistory || needsSignatures)),
  );
}

/**
 * Chooses the repository's usual method if the rules allow it, because GitHub refuses other
 * methods.
 */
export function chooseMethod(rules: BranchRules, usual: MergeMethod): MergeMethod {
  const left = methodsLeft(rules, [usual, 'SQUASH', 'MERGE']);
  return left[0] ?? usual;
}

/** Returns the whole sentence if the forge is merging the pull request, otherwise null. */
export function mergingWords(facts: PullFacts, points: readonly Point[]): string | null {
  const { merging } = facts.merge;
  const name = pullName(facts.pull.number, facts.place);
  if (merging.kind === 'unread') return null;
  const { queue, isAuto } = merging.value;
  if (queue !== null) return `${name} is in the merge queue, ${formatOrdinal(queue.position)}`;
  if (!isAuto) return null;
  const rest = points.map(({ words }) => words).join(', ');
  return rest === ''
    ? `${name} is being merged by GitHub`
    : `${name} waits for ${rest}; then GitHub merges it`;
}

/** Clauses that say why a person must merge it, and what changed since the gate. */
export function mergeNotes(facts: PullFacts): readonly string[] {
  const { mode, asked, gate, merging } = facts.merge;
  const base = facts.pull.baseBranch;
  const notes: string[] = [];
  if (mode !== 'person' && merging.kind === 'unread' && asked !== null)
    notes.push(`its merge cannot be read: ${merging.why}`);
  if (asked?.state === 'failed') notes.push(`GitHub does not merge it: ${asked.answer ?? ''}`);
  if (wasRemoved(facts)) {
    const why = merging.kind === 'read' ? merging.value.removed : null;
    notes.push(`it was removed from the merge queue${why === null ? '' : ` (${why})`}`);
  }
  if (gate === 'running') notes.push(`the gate runs again on the newest ${base}`);
  if (gate === 'too_often' && mode !== 'person')
    notes.push(`${base} moves faster than the gate runs`);
  if (gate === 'older' || gate === 'too_often') notes.push(`${base} has moved since the gate ran`);
  return notes.map((note) => note.replace(/\.$/u, ''));
}

/** Whether the pull request was in the queue, or was about to be, and no longer is. */
export function wasRemoved({ pull, merge: { mode, asked, merging } }: PullFacts): boolean {
  if (mode !== 'queue' || asked?.state !== 'done' || pull.state !== 'open') return false;
  return merging.kind === 'read' && merging.value.queue === null && merging.value.removed !== null;
}
