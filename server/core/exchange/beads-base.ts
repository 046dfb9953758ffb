// What changed in a Beads file since it was last synced with the plan: only that is the other
// tool's change. Unchanged lines contain nothing new, whatever our side has done since.

import { isObject } from './beads-format.ts';
import { parseLine } from './import-jsonl.ts';

export interface BeadsChanges {
  /** Ids of lines that are new or different. */
  readonly changed: ReadonlySet<string>;
  /** Ids that had a line and have none. */
  readonly gone: ReadonlySet<string>;
}

export function changesSince(base: string, text: string): BeadsChanges {
  const before = linesById(base);
  const now = linesById(text);
  const changed = [...now].filter(([id, line]) => before.get(id) !== line).map(([id]) => id);
  const gone = [...before.keys()].filter((id) => !now.has(id));
  return { changed: new Set(changed), gone: new Set(gone) };
}

/** The text without the lines of these ids, so that their content counts as new the next time. */
export function withoutLines(text: string, ids: ReadonlySet<string>): string {
  if (ids.size === 0) return text;
  const kept = text.split('\n').filter((line) => !ids.has(idOf(line) ?? ''));
  return kept.join('\n');
}

function linesById(text: string): Map<string, string> {
  const lines = new Map<string, string>();
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const id = idOf(line);
    if (id !== null) lines.set(id, line);
  }
  return lines;
}

function idOf(line: string): string | null {
  if (line.trim() === '') return null;
  const parsed = parseLine(line.trim());
  if ('kind' in parsed || !isObject(parsed.object)) return null;
  const { id } = parsed.object;
  return typeof id === 'string' ? id : null;
}
