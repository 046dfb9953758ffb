// Checks whether a merge of two versions decided every conflict. A conflict is undecided if its
// lines are those from before both changes. Landing it would revert earlier landings and drop the
// task's change without any visible marker.

import { type LineChange, lineChanges, splitLines } from './line-changes.ts';

/** Null if the version does not contain the file. */
export interface MergeSides {
  readonly base: string | null;
  readonly landed: string | null;
  readonly task: string | null;
}

export type MergeFault =
  | { readonly kind: 'marks' }
  /** Some conflicts still have the lines of the base. */
  | { readonly kind: 'undecided'; readonly undecided: number; readonly conflicts: number };

/** First characters of git's conflict marker. */
export const conflictStart = '<<<<<<< ';

/** Counts the conflicts with a complete set of git's markers. */
export function countMarked(text: string): number {
  let count = 0;
  let next: 'start' | 'middle' | 'end' = 'start';
  for (const line of text.split('\n')) {
    if (next === 'start' && line.startsWith(conflictStart)) next = 'middle';
    else if (next === 'middle' && /^={7}\r?$/u.test(line)) next = 'end';
    else if (next === 'end' && line.startsWith('>>>>>>> ')) {
      count += 1;
      next = 'start';
    }
  }
  return count;
}

/** Lines `from` up to `to` (exclusive) of a text. */
interface Region {
  readonly from: number;
  readonly to: number;
}

/** Returns null if the result decides every conflict. */
export function mergeFault(sides: MergeSides, result: string | null): MergeFault | null {
  const { base, landed, task } = sides;
  const hadMarks = [landed, task].some((text) => text !== null && countMarked(text) > 0);
  if (result !== null && !hadMarks && countMarked(result) > 0) return { kind: 'marks' };
  if (landed === null || task === null || base === null || result === null)
    return result === null ? removalFault(sides) : wholeFault(sides, result);
  if (sameText(result, landed) || sameText(result, task)) return null;
  const { lines, conflicts } = undecidedMerge(
    splitLines(base),
    splitLines(landed),
    splitLines(task),
  );
  const edits = lineChanges(lines, splitLines(result));
  const isBase = sameText(result, base);
  const undecided = conflicts.filter(
    (region) => isBase || !edits.some((edit) => touches(edit, region)),
  ).length;
  return undecided === 0 ? null : { kind: 'undecided', undecided, conflicts: conflicts.length };
}

const wholeFile = { kind: 'undecided', undecided: 1, conflicts: 1 } as const;

/**
 * Handles a file that only one side removed, or that both added. The whole file is then the
 * conflict.
 */
function wholeFault({ base, landed, task }: MergeSides, result: string): MergeFault | null {
  if (landed === task || !sameText(result, base ?? '')) return null;
  const isSide = [landed, task].some((text) => text !== null && sameText(text, result));
  return isSide ? null : wholeFile;
}

function removalFault({ base, landed, task }: MergeSides): MergeFault | null {
  return base === null && landed !== null && task !== null && landed !== task ? wholeFile : null;
}

function sameText(one: string, other: string): boolean {
  const lines = splitLines(other);
  const own = splitLines(one);
  return own.length === lines.length && own.every((line, at) => line === lines[at]);
}

/**
 * Returns the merge in which every conflict has the lines of the base, and the positions of the
 * conflicts.
 */
function undecidedMerge(
  base: readonly string[],
  landed: readonly string[],
  task: readonly string[],
): { readonly lines: readonly string[]; readonly conflicts: readonly Region[] } {
  const ours = lineChanges(base, landed);
  const theirs = lineChanges(base, task);
  const lines: string[] = [];
  const conflicts: Region[] = [];
  let copied = 0;
  for (const region of joined([...ours, ...theirs])) {
    lines.push(...base.slice(copied, region.from));
    const old = base.slice(region.from, region.to);
    const one = applied(ours, landed, region, old);
    const other = applied(theirs, task, region, old);
    copied = region.to;
    if (equal(one, other) || equal(other, old)) lines.push(...one);
    else if (equal(one, old)) lines.push(...other);
    else {
      conflicts.push({ from: lines.length, to: lines.length + old.length });
      lines.push(...old);
    }
  }
  lines.push(...base.slice(copied));
  return { lines, conflicts };
}

/** Joins changes that overlap or touch, because git and VS Code treat them as a conflict. */
function joined(changes: readonly LineChange[]): readonly Region[] {
  const regions: Region[] = [];
  for (const { from, to } of changes.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    const last = regions.at(-1);
    if (last !== undefined && from <= last.to)
      regions[regions.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else regions.push({ from, to });
  }
  return regions;
}

/** The lines of a region in one version. */
function applied(
  changes: readonly LineChange[],
  version: readonly string[],
  region: Region,
  old: readonly string[],
): readonly string[] {
  const inside = changes.filter(({ from, to }) => from >= region.from && to <= region.to);
  const [first] = inside;
  const last = inside.at(-1);
  if (first === undefined || last === undefined) return old;
  const start = first.newFrom - (first.from - region.from);
  return version.slice(start, last.newTo + (region.to - last.to));
}

function touches({ from, to }: Region, region: Region): boolean {
  return from <= region.to && to >= region.from;
}

function equal(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}

/** Lines that landing the text would add to and remove from the previous version. */
export function countChangedLines(
  before: string | null,
  after: string | null,
): { readonly added: number; readonly removed: number } {
  const changes = lineChanges(splitLines(before ?? ''), splitLines(after ?? ''));
  return {
    added: changes.reduce((sum, { newFrom, newTo }) => sum + newTo - newFrom, 0),
    removed: changes.reduce((sum, { from, to }) => sum + to - from, 0),
  };
}
