// One line, one truth: from the facts about a landing line and its branch to the next step. L is
// the landing ref, T the branch, F the state of T that L includes, W the landings in L that F
// lacks. Drover looks, takes the step, and looks again, so no row depends on the one before.

import type { LineHold } from './holds.ts';

type Sha = string;

export interface LineFacts {
  readonly branch: string;
  /** L, or null if the ref does not exist. */
  readonly line: Sha | null;
  /** T, or null if the branch does not exist. */
  readonly target: Sha | null;
  /** The row of the line in the store, or null if Drover never landed on the branch. */
  readonly known: KnownLine | null;
  /** True if Drover wrote L: the store has noted the tip, or every commit since bears its hand. */
  readonly isOurs: boolean;
  /** How L and T lie to each other; null if one of them does not exist. */
  readonly relation: Relation | null;
  /** True if T contains F, or F is unknown. */
  readonly holdsFollowed: boolean;
  /** The number of W. */
  readonly waiting: number;
  /** The task of which T holds work that never passed the gate. */
  readonly ungated: string | null;
  /** True in a fleet if the refs are those of the last fetch: others may have moved them. */
  readonly isRemembered: boolean;
}

export interface KnownLine {
  /** The last tip that Drover recorded. */
  readonly landed: Sha;
  /** F, or null if the branch was never followed. */
  readonly followed: Sha | null;
}

/** `line_ahead`: L contains T. `target_ahead`: T contains L. `apart`: neither does. */
export type Relation = 'same' | 'line_ahead' | 'target_ahead' | 'apart';

export type LineStep =
  /** T and L are one commit, and the store says so. */
  | { readonly kind: 'rest'; readonly tip: Sha }
  /** T and L are one commit: the store does not say so yet. */
  | { readonly kind: 'note'; readonly tip: Sha }
  /** L starts at the branch, or again at the landed work that the store names. */
  | { readonly kind: 'make'; readonly tip: Sha; readonly from: 'branch' | 'store' }
  /** Moves T to L: by fast-forward if it is checked out, or else by compare-and-swap. */
  | { readonly kind: 'follow'; readonly tip: Sha }
  /** L moves to T. `leaves`: the tip that a rescue ref keeps, because T does not contain it. */
  | { readonly kind: 'adopt'; readonly target: Sha; readonly leaves: Sha | null }
  /** T is merged into L, under the gate. */
  | { readonly kind: 'merge'; readonly target: Sha; readonly tip: Sha }
  /** Each of W is repeated on T, under the gate. */
  | { readonly kind: 'replay'; readonly target: Sha; readonly tip: Sha }
  /** Nothing lands until a person decides. */
  | { readonly kind: 'hold'; readonly hold: LineHold }
  /** The remote is asked, and the facts are gathered again. */
  | { readonly kind: 'look' }
  /** Neither the branch nor a line of it ever existed. */
  | { readonly kind: 'absent' };

/**
 * Another machine may have moved the refs since the last fetch. A step that leaves something out,
 * or stops the line, is only taken on refs that were read now.
 */
export function decide(facts: LineFacts): LineStep {
  const step = nextStep(facts);
  return facts.isRemembered && needsFresh(step, facts) ? { kind: 'look' } : step;
}

function nextStep(facts: LineFacts): LineStep {
  const { branch, line, target, known } = facts;
  if (line === null) return withoutLine(facts);
  // A tip of another hand may hold work that passed no gate.
  if (!facts.isOurs) return hold({ kind: 'foreign', found: line, last: known?.landed ?? line });
  if (target === null) {
    // A branch of Drover's own, or one that never existed, is made. A user's branch that existed
    // was renamed or deleted on purpose, and is not made again.
    const followed = known?.followed ?? null;
    const isMade = followed === null || branch.startsWith('drover/');
    return isMade ? { kind: 'follow', tip: line } : hold({ kind: 'gone', followed });
  }
  return withBoth(facts, line, target);
}

function withoutLine({ target, known }: LineFacts): LineStep {
  // The ref was deleted while landed work waited for the branch: the store still names that work.
  if (known !== null && known.followed !== known.landed)
    return { kind: 'make', tip: known.landed, from: 'store' };
  // Nothing waited, so the branch is the truth.
  if (target !== null) return { kind: 'make', tip: target, from: 'branch' };
  // A new branch in place of a lost one would leave the landed work behind.
  return known === null ? { kind: 'absent' } : hold({ kind: 'lost', landed: known.landed });
}

function withBoth(facts: LineFacts, line: Sha, target: Sha): LineStep {
  const { known, relation, ungated } = facts;
  if (relation === 'same')
    return known?.followed === line && known.landed === line
      ? { kind: 'rest', tip: line }
      : { kind: 'note', tip: line };
  // Only a tree that passed the gate lands, also if an agent moved the branch itself.
  if (ungated !== null) return hold({ kind: 'ungated', task: ungated, target, back: line });
  // People's commits on top of everything that landed need no merge.
  if (relation === 'target_ahead') return { kind: 'adopt', target, leaves: null };
  // All that landed had arrived, and people moved the branch away: their word counts.
  if (facts.waiting === 0) return { kind: 'adopt', target, leaves: line };
  // People removed something that L includes: following, or a merge, would bring it back.
  if (!facts.holdsFollowed) return { kind: 'replay', target, tip: line };
  // The branch has not moved since Drover saw it last, so it only has to follow.
  if (relation === 'line_ahead') return { kind: 'follow', tip: line };
  // People committed while landed work waits: the tree of both is tested before it moves.
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
