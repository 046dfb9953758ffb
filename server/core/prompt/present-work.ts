// The prompt section about work that already exists in the agent's directory.

import { toSingleLine } from './prompt-text.ts';

/** `interrupted`: this attempt was stopped and continues. `earlier`: a previous attempt failed. */
export interface PresentWork {
  readonly from: 'interrupted' | 'earlier';
  /** Files that differ from the last commit. Only some of them are listed. */
  readonly uncommitted: readonly string[];
  /** The git operation in progress (`merge`, `rebase` and so on), or null. */
  readonly operation: string | null;
  /** Files with conflict markers. */
  readonly marked: readonly string[];
}

/** Maximum number of listed files. */
const filesMax = 50;

export function presentWorkSection(work: PresentWork | null): string {
  if (work === null) return '';
  const lines = ['## What Your Directory Already Holds'];
  lines.push(
    work.from === 'interrupted'
      ? 'This attempt was stopped and continues now. Your directory contains all the work so far, including changes that a person made in it.'
      : 'Your directory contains the work of the previous attempt, committed or not.',
    'Read it first (`git status`, `git diff`, `git log`). Keep what is good, correct what is not, and do not redo what is done.',
  );
  if (work.operation !== null) lines.push(howToEnd(work.operation));
  lines.push(
    ...listOf(
      'These files contain conflict markers (`<<<<<<<`). Resolve them before you commit; never commit a marker:',
      work.marked,
    ),
    ...listOf('Not committed yet:', work.uncommitted),
  );
  return lines.join('\n');
}

function howToEnd(operation: string): string {
  if (operation === 'bisect')
    return 'A bisect is unfinished there. End it with `git bisect reset`.';
  return `A ${operation} is unfinished there. Resolve its conflicts and finish it (\`git ${operation} --continue\`), or abort it (\`git ${operation} --abort\`), before you do anything else.`;
}

function listOf(heading: string, files: readonly string[]): readonly string[] {
  if (files.length === 0) return [];
  const more = files.length - filesMax;
  return [
    heading,
    ...files.slice(0, filesMax).map((file) => `- ${toSingleLine(file, 500)}`),
    ...(more > 0 ? [`[… ${more} more left out]`] : []),
  ];
}
