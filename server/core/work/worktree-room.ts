// Which worktrees may go, and when they take so much space that no task starts.

import { formatBytes, formatCount } from '../format.ts';
import type { TaskStatus } from '../plan/state.ts';

/** The user of a worktree: a gate, Drover's own upkeep, or a task in this state. */
export type WorktreeHolder = 'nobody' | 'gate' | 'upkeep' | TaskStatus;

export interface WorktreeFacts {
  readonly holder: WorktreeHolder;
  /** Changed or untracked files. */
  readonly dirty: boolean;
  /** Commits of its HEAD that are on no target. */
  readonly unmergedCommits: number;
}

/** Copies of finished setups, beside the worktrees. */
const setupsName = '.drover-setups';

/** Unfinished work is in it, so that not even `--force` removes it. */
export function isInUse(holder: WorktreeHolder): boolean {
  switch (holder) {
    case 'gate':
    case 'upkeep':
    case 'claimed':
    case 'in_progress':
    case 'paused':
    case 'waiting':
    case 'conflict':
    case 'needs_review':
      return true;
    case 'nobody':
    case 'ready':
    case 'blocked':
    case 'completed':
    case 'failed':
    case 'cancelled':
      return false;
  }
}

/** Why a worktree stays, as the end of a sentence. Returns null if its removal loses nothing. */
export function whyKept({ holder, dirty, unmergedCommits }: WorktreeFacts): string | null {
  if (holder === 'gate') return 'the gate is running in it';
  if (holder === 'upkeep') return 'Drover is tidying it up, or has set it aside';
  if (isInUse(holder)) return `its task ${stateWords[holder] ?? `is ${holder}`}`;
  if (dirty) return 'it holds changes that are not committed';
  if (unmergedCommits > 0) {
    return formatCount(
      unmergedCommits,
      'of its commits is not on any target',
      'of its commits are not on any target',
    );
  }
  return null;
}

/** For states whose names are no English. */
const stateWords: { readonly [H in WorktreeHolder]?: string } = {
  claimed: 'is running',
  in_progress: 'is running',
  waiting: 'waits for its account',
  conflict: 'has a conflict',
  needs_review: 'waits for a review',
};

/** Why a worktree may go, as the end of a sentence. */
export function whyFree(holder: WorktreeHolder): string {
  const work = 'all its work has landed or is kept by a ref';
  return holder === 'nobody'
    ? `no task uses it, and ${work}`
    : `its task is ${holder}, and ${work}`;
}

/** Why a folder beside the worktrees stays, as the end of a sentence. */
export function whyBeside(name: string): string {
  if (name === setupsName) return 'new worktrees are set up from these copies';
  if (name.includes('.kept-'))
    return 'it keeps secrets or repositories that an agent wrote; delete it when you need them no more';
  return 'it is not a worktree of this project';
}

/** Why no task starts, as a sentence with the remedy; null if one may. */
export function worktreesHold(bytes: number, limitBytes: number): string | null {
  if (bytes < limitBytes) return null;
  return `The worktrees take ${formatBytes(bytes)} ([worktree] disk_limit = ${formatBytes(limitBytes)}); no task starts until there is room. "drover worktree list --size" shows what may go, and "drover worktree prune" removes it.`;
}
