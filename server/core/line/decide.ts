// Decides the next step for a landing line and its branch. L is the landing ref, T the branch, F
// the state of T that L includes, and W the landings in L that F lacks. After each step Drover
// reads the facts again, so no decision depends on an earlier one.

import type { LineHold } from './holds.ts';

type Sha = string;

export interface LineFacts {
  readonly branch: string;
  /** L, or null if the ref does not exist. */
  readonly line: Sha | null;
  /** T, or null if the branch does not exist. */
  readonly target: Sha | null;
  /** The line's row in the store, or null if Drover never landed on the branch. */
  readonly known: KnownLine | null;
  /**
   * True if Drover wrote L: it has recorded this tip at some time, or it wrote every commit since
   * the last recorded tip. Also true if nothing was recorded yet.
   */
  readonly isOurs: boolean;
  /** How L and T are related; null if one of them does not exist. */
  readonly relation: Relation | null;
  /** True if T contains F, or F is unknown. */
  readonly holdsFollowed: boolean;
  /** The number of landings in W. */
  readonly waiting: number;
  /** The task whose work T contains although it never passed the gate. */
  readonly ungated: string | null;
  /**
   * True in a fleet if the refs are from the last fetch, so other machines may have moved them
   * since.
   */
  readonly isRemembered: boolean;
}

export interface KnownLine {
  /** The last tip of L that Drover recorded. */
  readonly landed: Sha;
  /** F, or null until the branch has followed L, or L has taken in a state of it. */
  readonly followed: Sha | null;
}

/** `line_ahead`: L contains T. `target_ahead`: T contains L. `apart`: neither does. */
export type Relation = 'same' | 'line_ahead' | 'target_ahead' | 'apart';

export type LineStep =
  /** T and L are the same commit, and the store has recorded it. */
  | { readonly kind: 'rest'; readonly tip: Sha }
  /** T and L are the same commit, but the store has not recorded it yet. */
  | { readonly kind: 'note'; readonly tip: Sha }
  /** Creates L at the branch, or at the landed commit that the store recorded. */
  | { readonly kind: 'make'; readonly tip: Sha; readonly from: 'branch' | 'store' }
  /** Moves T to L: by fast-forward if it is checked out, otherwise by compare-and-swap. */
  | { readonly kind: 'follow'; readonly tip: Sha }
  /** Moves L to T. `leaves`: the old tip, kept by a rescue ref because T does not contain it. */
  | { readonly kind: 'adopt'; readonly target: Sha; readonly leaves: Sha | null }
  /** Merges T into L, if the gate passes. */
  | { readonly kind: 'merge'; readonly target: Sha; readonly tip: Sha }
  /** Repeats each landing of W on T, if the gate passes. */
  | { readonly kind: 'replay'; readonly target: Sha; readonly tip: Sha }
  /** Stops landings until a person decides. */
  | { readonly kind: 'hold'; readonly hold: LineHold }
  /** Fetches from the remote, then gathers the facts again. */
  | { readonly kind: 'look' }
  /** Neither the branch nor a line for it ever existed. */
  | { readonly kind: 'absent' };

/**
 * Decides the next step. Another machine may have moved the refs since the last fetch, so a step
 * that drops commits or stops the line requires freshly read refs.
 */
export function decide(facts: LineFacts): LineStep {
  const step = nextStep(facts);
  return facts.isRemembered && needsFresh(step, facts) ? { kind: 'look' } : step;
}

function nextStep(facts: LineFacts): LineStep {
  const { branch, line, target, known } = facts;
  if (line === null) return withoutLine(facts);
  // A tip that Drover did not write may contain work that passed no gate.
  if (!facts.isOurs) return hold({ kind: 'foreign', found: line, last: known?.landed ?? line });
  if (target === null) {
    // Creates the branch if it is Drover's or never existed. A missing user's branch was renamed or
    // deleted on purpose and must not be recreated.
    const followed = known?.followed ?? null;
    const isMade = followed === null || branch.startsWith('drover/');
    return isMade ? { kind: 'follow', tip: line } : hold({ kind: 'gone', followed });
  }
  return withBoth(facts, line, target);
}

function withoutLine({ target, known }: LineFacts): LineStep {
  // The ref was deleted while landed work waited for the branch. The store still names that work.
  if (known !== null && known.followed !== known.landed)
    return { kind: 'make', tip: known.landed, from: 'store' };
  // No landed work was waiting, so L restarts at the branch.
  if (target !== null) return { kind: 'make', tip: target, from: 'branch' };
  // Recreating a lost branch would drop the landed work.
  return known === null ? { kind: 'absent' } : hold({ kind: 'lost', landed: known.landed });
}

function withBoth(facts: LineFacts, line: Sha, target: Sha): LineStep {
  const { known, relation, ungated } = facts;
  if (relation === 'same')
    return known?.followed === line && known.landed === line
      ? { kind: 'rest', tip: line }
      : { kind: 'note', tip: line };
  // Only a tree that passed the gate may land, even if an agent moved the branch itself.
  if (ungated !== null) return hold({ kind: 'ungated', task: ungated, target, back: line });
  // Users committed on top of all landings, so no merge is needed.
  if (relation === 'target_ahead') return { kind: 'adopt', target, leaves: null };
  // No landing waits: all had arrived before users moved the branch away, or users brought or
  // dropped them. The users' state wins.
  if (facts.waiting === 0) return { kind: 'adopt', target, leaves: line };
  // Users removed a commit that L includes. Following or merging would bring it back.
  if (!facts.holdsFollowed) return { kind: 'replay', target, tip: line };
  // The branch has not moved since Drover last read it, so it only has to follow.
  if (relation === 'line_ahead') return { kind: 'follow', tip: line };
  // Users committed while landings wait, so the merged tree must pass the gate first.
  return { kind: 'merge', target, tip: line };
}

function hold(why: LineHold): LineStep {
  return { kind: 'hold', hold: why };
}

function needsFresh(step: LineStep, { line, known }: LineFacts): boolean {
  switch (step.kind) {
    case 'hold':
    case 'replay':
    case 'make':
    case 'absent':
      return true;
    case 'adopt':
      return step.leaves !== null;
    case 'rest':
    case 'note':
    case 'follow':
    case 'merge':
      // Another machine has landed more than this one has fetched.
      return known !== null && known.landed !== line;
    case 'look':
      return false;
  }
}
