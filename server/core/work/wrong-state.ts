// Describes states that remain if the user runs a git command while a branch follows its landing
// line, or if the power fails then. No data is lost in any of them. Drover reports each one with
// the command that fixes it, and changes nothing itself.

import { formatCount } from '../format.ts';

/** Files in a checkout that differ from the commit to which its branch moved. */
export interface WrongFiles {
  /**
   * `old`: index and files are those of `from`. `missing`: the index is that of `to`, but files are
   * missing.
   */
  readonly kind: 'old' | 'missing';
  readonly checkout: string;
  readonly from: string;
  readonly to: string;
  /** The first few of them. */
  readonly files: readonly string[];
  readonly count: number;
}

/** A reset or an aborted rebase removed landed commits from a branch. */
export interface MovedBack {
  readonly kind: 'moved_back';
  readonly commits: number;
  /** The branch's tip at that time. */
  readonly tip: string;
  /** The ref that keeps the tip reachable. */
  readonly ref: string;
}

export type WrongState = WrongFiles | MovedBack;

/** Maximum number of files recorded for a state. */
export const wrongFilesMax = 5;

/** Describes the problem and the command that fixes it. */
export function describeWrongState(branch: string, state: WrongState): string {
  const cure = `drover follow ${branch}`;
  switch (state.kind) {
    case 'old':
      return `${branch} moved to ${short(state.to)}, but ${state.checkout} still has the files of ${short(state.from)} (${listed(state)}): another git command ran there at the same moment. Run "${cure}" to update them. Until then, git status shows them as changed.`;
    case 'missing':
      return `Files of ${branch} are missing in ${state.checkout} (${listed(state)}): another git command removed them as they arrived. Run "${cure}" to restore them.`;
    case 'moved_back': {
      const are = formatCount(state.commits, 'landed commit is', 'landed commits are');
      return `${are} no longer on ${branch} (a reset, or a rebase that was aborted), and kept at ${state.ref}. Run "${cure}" to put ${branch} back there, or "${cure} --leave-out" to leave ${branch} as it is.`;
    }
  }
}

function listed({ files, count }: WrongFiles): string {
  const more = count > files.length ? ` and ${count - files.length} more` : '';
  return `${files.join(', ')}${more}`;
}

const shortLength = 12;

function short(sha: string): string {
  return sha.slice(0, shortLength);
}
