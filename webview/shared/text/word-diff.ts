// Finds the changed words of a line: each removed line is compared with the added line in its
// place.

import { diffWordsWithSpace } from 'diff';
import type { DiffLine } from './line-diff.ts';

/** Between two characters, without the second one. */
export type TextRange = readonly [from: number, to: number];

const lineCharsMax = 1_000;
const linesMax = 400;
/** Lines with less in common than this are two different lines, not one changed line. */
const sharedMin = 0.3;

export function changedWords(
  lines: readonly DiffLine[],
): ReadonlyMap<DiffLine, readonly TextRange[]> {
  const found = new Map<DiffLine, readonly TextRange[]>();
  if (lines.length > linesMax) return found;
  for (let at = 0; at < lines.length;) {
    const removed = run(lines, at, 'removed');
    const added = run(lines, at + removed.length, 'added');
    if (removed.length === added.length) {
      for (const [index, line] of removed.entries()) {
        const other = added[index];
        if (other !== undefined) compare(line, other, found);
      }
    }
    at += Math.max(1, removed.length + added.length);
  }
  return found;
}

function run(
  lines: readonly DiffLine[],
  from: number,
  kind: DiffLine['kind'],
): readonly DiffLine[] {
  let to = from;
  while (lines[to]?.kind === kind) to += 1;
  return lines.slice(from, to);
}

function compare(
  before: DiffLine,
  after: DiffLine,
  found: Map<DiffLine, readonly TextRange[]>,
): void {
  const longer = Math.max(before.text.length, after.text.length);
  if (longer > lineCharsMax) return;
  const old: TextRange[] = [];
  const now: TextRange[] = [];
  let [oldAt, nowAt, shared] = [0, 0, 0];
  for (const { value, added, removed } of diffWordsWithSpace(before.text, after.text)) {
    if (removed) old.push([oldAt, oldAt + value.length]);
    else if (added) now.push([nowAt, nowAt + value.length]);
    else shared += value.trim().length;
    if (!added) oldAt += value.length;
    if (!removed) nowAt += value.length;
  }
  if (shared < longer * sharedMin) return;
  found.set(before, old);
  found.set(after, now);
}
