// Compares the stored parts of logs with their files, and drops parts that differ or no longer
// exist there.

import {
  dropParts,
  type KnownPart,
  lastParts,
  type LogName,
  ownLogs,
  partsBefore,
  storedSegments,
} from '../store/feed/log-parts.ts';
import { filesOfLog, hashOfRange, type ShippedFile } from './log-files.ts';
import { beginning, isDropped, type ShippedLog, type StoredEnd } from './shipped-log.ts';
import type { Reads } from '../store/port.ts';

interface Deps {
  readonly db: Reads;
  readonly logs: string;
  readonly machineId: string;
}

const partsAtOnce = 100;

/** Afterwards, the stored state is known for logs whose attempts still belong to this machine. */
export async function compareWithStored(deps: Deps, asked: readonly ShippedLog[]): Promise<void> {
  const names = asked.map((log) => log.name.file);
  const files = new Map(names.map((name) => [name, filesOfLog(deps.logs, name)]));
  const present = [...files.values()].flat().map(({ file }) => file);
  // In parallel, because the database may be slow to reach.
  const [own, segments, last] = await Promise.all([
    ownLogs(
      deps.db,
      deps.machineId,
      asked.map((log) => log.name),
    ),
    storedSegments(deps.db, names),
    lastParts(deps.db, present),
  ]);
  for (const log of asked.filter(({ name }) => own.has(name.file))) {
    const stored = new Map<string, StoredEnd>();
    const here = files.get(log.name.file) ?? [];
    for (const file of segments.get(log.name.file) ?? []) {
      if (isDropped(log.name, file, here))
        await dropParts(deps.db, deps.machineId, { log: log.name, file, from: 0 });
    }
    for (const file of here) {
      const end = await agreedEnd(deps, log.name, file, last.get(file.file) ?? null);
      stored.set(file.file, end);
    }
    log.know(stored);
  }
}

/**
 * How many of the stored parts match the file. They are compared from the end: a power failure
 * loses the end of a file, and its stored parts are then dropped.
 */
async function agreedEnd(
  deps: Deps,
  log: LogName,
  file: ShippedFile,
  last: KnownPart | null,
): Promise<StoredEnd> {
  let list: readonly KnownPart[] = last === null ? [] : [last];
  let differsFrom: number | null = null;
  while (list.length > 0) {
    for (const part of list) {
      if (isInFile(file, part)) {
        if (differsFrom !== null)
          await dropParts(deps.db, deps.machineId, { log, file: file.file, from: differsFrom });
        const { start, size } = part;
        return { end: start + size, last: { start, size }, changedMs: file.changedMs };
      }
      differsFrom = part.start;
    }
    list = await partsBefore(deps.db, file.file, differsFrom ?? 0, partsAtOnce);
  }
  if (differsFrom !== null)
    await dropParts(deps.db, deps.machineId, { log, file: file.file, from: 0 });
  return beginning(file);
}

function isInFile(file: ShippedFile, part: KnownPart): boolean {
  if (part.start + part.size > file.size) return false;
  return hashOfRange(file.path, part.start, part.size) === part.hash;
}
