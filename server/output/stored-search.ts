// Searches the stored output of a fleet's agents: PostgreSQL finds the parts, whose lines are
// searched like those of a local log.

import { asWritten, findInLines, type FoundLine } from '../agents/kit/log/search-log.ts';
import { type FoundPart, searchLogParts } from '../store/feed/search-log-parts.ts';
import type { Store } from '../store/port.ts';
import type { FoundLines } from './agent-output.ts';

/** Each log may have several parts of a quarter of a MiB. */
const logsAtOnce = 25;

export async function findStored(
  store: Store,
  logs: readonly string[],
  words: readonly string[],
): Promise<FoundLines> {
  const found = new Map<string, FoundLine>();
  for (let at = 0; at < logs.length; at += logsAtOnce) {
    const written = words.map(asWritten);
    for (const part of await searchLogParts(store.db, logs.slice(at, at + logsAtOnce), written)) {
      if (found.has(part.log)) continue;
      const line = findInLines(Buffer.from(part.text), words);
      if (line !== null) found.set(part.log, { ...line, offset: startOf(part) + line.offset });
    }
  }
  return found;
}

/** A segment is named by the offset at which its events start. */
function startOf({ log, file, start, header }: FoundPart): number {
  return file === log ? start : Number(file.slice(log.length + 1)) + start - header;
}
