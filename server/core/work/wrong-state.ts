// States that remain if a git command of the user runs while a branch follows its landing line, or
// if the power fails then. Nothing is lost in any of them. Drover reports them with the command
// that cures them, and changes nothing until a user runs it.

import { formatCount } from '../format.ts';

/** Files of a checkout that are not those of the commit that its branch moved to. */
export interface WrongFiles {
  /** `old`: index and files are of `from`. `missing`: the index is of `to`, and files are gone. */
  readonly kind: 'old' | 'missing';
  readonly checkout: string;
  readonly from: string;
  readonly to: string;
  /** The first of them. */
  readonly files: readonly string[];
  readonly count: number;
}

/** A reset, or a rebase that was aborted, took landed commits off a branch. */
export interface MovedBack {
  readonly kind: 'moved_back';
  readonly commits: number;
  /** The tip of the branch at that time. */
  readonly tip: string;
  /** Keeps the tip. */
  readonly ref: string;
}

export type WrongState = WrongFiles | MovedBack;

/** The first files of a state that are kept. */
export const wrongFilesMax = 5;

/** The fault, and the command that cures it. */
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
