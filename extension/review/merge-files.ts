// The results of a merge in the editor: their locations, their initial content, and when they are
// done. Pure.

import {
  countChangedLines,
  mergeFault,
  type MergeSides,
} from '../../server/core/work/merge-faults.ts';

export interface MergedFile {
  readonly path: string;
  /** Address of the file that holds the result. */
  readonly output: string;
  /** Whether base, landed and the task's version have the file. */
  readonly sides: readonly boolean[];
  readonly isMerged: boolean;
  /** The user wants the lines from before both changes in it. */
  readonly keepsBase?: boolean;
}

export interface Merge {
  readonly root: string;
  readonly task: string;
  readonly title: string;
  readonly base: string | null;
  readonly onto: string;
  readonly commit: string;
  readonly files: readonly MergedFile[];
}

const marks = { ours: '<<<<<<< landed', between: '=======', theirs: '>>>>>>> this task' } as const;

/** Git's own markers: VS Code then starts from the base, and other editors show both sides. */
export function emptyResult(landed: string, task: string): string {
  return [marks.ours, withEnd(landed), `${marks.between}\n`, withEnd(task), marks.theirs]
    .map((part, at) => (at === 0 || at === 4 ? `${part}\n` : part))
    .join('');
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** The progress of a result. */
export type ResultState =
  /** It still contains conflict markers. */
  | { readonly kind: 'marked' }
  /**
   * Conflicts in it have the lines from before both changes: the merge editor starts with these
   * lines, and stores them if VS Code saves automatically.
   */
  | { readonly kind: 'undecided'; readonly undecided: number; readonly conflicts: number }
  | { readonly kind: 'decided' };

export function resultState(text: string, sides: MergeSides): ResultState {
  const lines = text.split('\n').map((line) => line.trimEnd());
  if (lines.some((line) => line === marks.ours || line === marks.theirs)) return { kind: 'marked' };
  const fault = mergeFault(sides, resultText(text, sides));
  if (fault === null) return { kind: 'decided' };
  return fault.kind === 'marks' ? { kind: 'marked' } : fault;
}

/** Returns null if the file is removed, as on one of the sides. */
export function resultText(text: string, { landed, task }: MergeSides): string | null {
  return text === '' && (landed === null || task === null) ? null : text;
}

/**
 * The change of a file that will land, in the form shown to a person before the landing: `+3 −1 in
 * README.md`.
 */
export function landingWords(path: string, text: string, sides: MergeSides): string {
  const { added, removed } = countChangedLines(sides.landed, resultText(text, sides));
  if (added + removed === 0) return `no change in ${path}`;
  return `+${added} −${removed} in ${path}`;
}

/** The files that a confirmation about a landing names. */
const wordsMax = 6;

export function joinedWords(words: readonly string[]): string {
  const more = words.length - wordsMax;
  return [...words.slice(0, wordsMax), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** The components of a path below the storage folder, none of which leads out of it. */
export function storedName(key: string, path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return [key.replaceAll(/[^\w-]/gu, '_'), ...parts];
}

/** Merges stored by an older version may have another shape. */
export function readMerges(raw: unknown): readonly Merge[] {
  return Array.isArray(raw) ? raw.filter(isMerge) : [];
}

function isMerge(value: unknown): value is Merge {
  if (typeof value !== 'object' || value === null) return false;
  const { root, task, title, onto, commit, files } = value as Readonly<Record<string, unknown>>;
  return (
    [root, task, title, onto, commit].every((each) => typeof each === 'string') &&
    Array.isArray(files) &&
    files.every((file) => typeof (file as MergedFile | null)?.output === 'string')
  );
}
