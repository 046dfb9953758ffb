// Decides which worktrees may be removed, and when they use so much space that no task may start.

import { formatBytes, formatCount } from '../format.ts';
import type { TaskStatus } from '../plan/state.ts';

/** What uses a worktree: a gate, Drover's upkeep, or a task in this state. */
export type WorktreeHolder = 'nobody' | 'gate' | 'upkeep' | TaskStatus;

export interface WorktreeFacts {
  readonly holder: WorktreeHolder;
  /** Whether it has changed or untracked files. */
  readonly dirty: boolean;
  /** Number of its commits that are not on any target. */
  readonly unmergedCommits: number;
}

/** The folder beside the worktrees with copies of finished setups. */
const setupsName = '.drover-setups';

/** Whether it contains unfinished work, so that not even `--force` removes it. */
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

/**
 * Why a worktree must stay, as the end of a sentence. Returns null if removing it loses nothing.
 */
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

/** For states whose names do not fit into a sentence. */
const stateWords: { readonly [H in WorktreeHolder]?: string } = {
  claimed: 'is running',
  in_progress: 'is running',
  waiting: 'waits for its account',
  conflict: 'has a conflict',
  needs_review: 'waits for a review',
};

/** Ignored files that no build creates again are kept up to this size before a removal. */
const ignoredBytesMax = 64 * 1024 * 1024;

/**
 * Why a worktree may be removed, as the end of a sentence. Its ignored files are only measured
 * during the removal: the sentence names them if they may be too large to keep.
 */
export function whyFree(holder: WorktreeHolder, sizeBytes: number): string {
  const user = holder === 'nobody' ? 'no task uses it' : `its task is ${holder}`;
  const unless =
    sizeBytes > ignoredBytesMax
      ? `. It stays if it has more than ${formatBytes(ignoredBytesMax)} of ignored files that no build creates again`
      : '';
  return `${user}, and all its work has landed or is kept by a ref${unless}`;
}

/** Why another folder beside the worktrees stays, as the end of a sentence. */
export function whyBeside(name: string): string {
  if (name === setupsName) return 'new worktrees are set up from these copies';
  if (name.includes('.kept-'))
    return 'it keeps secrets or repositories that an agent wrote; delete it when you need them no more';
  return 'it is not a worktree of this project';
}

/** A sentence with the remedy that says why no task may start. Returns null if tasks may start. */
export function worktreesHold(bytes: number, limitBytes: number): string | null {
  if (bytes < limitBytes) return null;
  return `The worktrees take ${formatBytes(bytes)} ([worktree] disk_limit = ${formatBytes(limitBytes)}); no task starts until there is room. "drover worktree list --size" shows what may go, and "drover worktree prune" removes it.`;
}
