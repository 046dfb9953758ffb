// The section of a prompt about the work that an agent finds in its directory.

import { oneLine } from './prompt-text.ts';

/**
 * `interrupted`: this attempt was stopped and continues. `earlier`: an attempt before this one
 * failed.
 */
export interface PresentWork {
  readonly from: 'interrupted' | 'earlier';
  /** Files that differ from the last commit; at most a few of them are named. */
  readonly uncommitted: readonly string[];
}

/** Most files that are named. */
const filesMax = 50;

export function presentWorkSection(work: PresentWork | null): string {
  if (work === null) return '';
  const lines = ['## What Your Directory Already Holds'];
  lines.push(
    work.from === 'interrupted'
      ? 'This attempt was stopped and continues now. Your directory holds everything that was done until then, also changes that a person made in it.'
      : 'Your directory holds the work of the previous attempt, committed or not.',
    'Read it first (`git status`, `git diff`, `git log`). Keep what is good, correct what is not, and do not redo what is done.',
  );
  if (work.uncommitted.length > 0) {
    lines.push('Not committed yet:');
    for (const file of work.uncommitted.slice(0, filesMax)) {
      lines.push(`- ${oneLine(file, 500)}`);
    }
    const more = work.uncommitted.length - filesMax;
    if (more > 0) lines.push(`[… ${more} more left out]`);
  }
  return lines.join('\n');
}
