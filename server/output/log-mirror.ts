// Copies the log of an attempt on another machine to this disk, for readers here.
//
// A copy is only extended at its end, at fixed offsets, so two concurrent copies write the same
// bytes. The existing content is trusted if its last part matches the stored one; otherwise it is
// copied again.

import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileSize, marksPath, listSegments } from '../agents/kit/log/event-log-files.ts';
import { tellCopyGrowth } from '../agents/kit/log/log-growth.ts';
import { parseLogName } from '../store/feed/log-parts.ts';
import type { Store } from '../store/port.ts';
import { type StoredEnd, storedFiles } from '../store/feed/read-log-parts.ts';
import { copyFile, type CopiedEnd, isSame } from './copy-file.ts';
import { fileExists } from './log-files.ts';

export interface LogMirrorDeps {
  readonly store: Store;
  /** The log folder. */
  readonly logs: string;
}

/** Maximum number of files whose copied end is remembered. Others are compared again. */
const knownFilesMax = 500;
const asideFolder = 'aside';

interface Copying {
  readonly now: Promise<boolean>;
  /** For callers that arrived during the copy and may need newer output. */
  next: Promise<boolean> | null;
}

export class LogMirror {
  readonly #deps: LogMirrorDeps;
  readonly #ends = new Map<string, CopiedEnd>();
  readonly #copying = new Map<string, Copying>();

  constructor(deps: LogMirrorDeps) {
    this.#deps = deps;
  }

  /** How much of a log exists here after its stored parts were deleted. */
  present(file: string): 'nothing' | 'part' | 'whole' {
    const path = join(this.#deps.logs, file);
    if (!fileExists(path)) return 'nothing';
    // A log with marks was written on this machine.
    return fileExists(wholePath(path)) || fileExists(marksPath(path)) ? 'whole' : 'part';
  }

  /** The attempt was over before the log was copied, so the copy is complete. */
  async noteWhole(file: string): Promise<void> {
    const path = wholePath(join(this.#deps.logs, file));
    if (!fileExists(path)) await writeFile(path, '', { mode: 0o600 });
  }

  /**
   * Resolves with false if none of the log is stored. Local files with that name are then left
   * alone.
   */
  async copy(file: string): Promise<boolean> {
    const running = this.#copying.get(file);
    if (running !== undefined) {
      const again = (): Promise<boolean> => this.#begin(file);
      running.next ??= running.now.then(again, again);
      return running.next;
    }
    return this.#begin(file);
  }

  async #begin(file: string): Promise<boolean> {
    const now = this.#copyLog(file);
    const copying: Copying = { now, next: null };
    this.#copying.set(file, copying);
    try {
      return await now;
    } finally {
      if (this.#copying.get(file) === copying) this.#copying.delete(file);
    }
  }

  async #copyLog(file: string): Promise<boolean> {
    const { store, logs } = this.#deps;
    if (parseLogName(file) === null) return false;
    const path = join(logs, file);
    // Read in one query: if a segment is stored, the head before it is complete.
    const stored = await storedFiles(store.db, file);
    if (stored.length === 0) return false;
    if (fileExists(marksPath(path))) await putOwnLogAside(logs, file, store.sources.clock.now());
    let hasGrown = false;
    for (const one of stored) {
      if (await this.#copyOne(one)) hasGrown = true;
    }
    const names = new Set(stored.map((one) => basename(one.file)));
    if (names.has(basename(file))) {
      // Removes the segments that the other machine has dropped from the middle of its log.
      for (const { path: old } of listSegments(path))
        if (!names.has(basename(old))) await rm(old, { force: true });
    }
    if (hasGrown) tellCopyGrowth(path);
    return true;
  }

  async #copyOne(stored: StoredEnd): Promise<boolean> {
    const { file } = stored;
    const path = join(this.#deps.logs, file);
    const known = this.#ends.get(file) ?? null;
    if (known !== null && isSame(known, stored) && fileSize(path) === known.start + known.size)
      return false;
    const copied = await copyFile(this.#deps.store.db, { file, path, known, stored });
    this.#ends.delete(file);
    if (copied === null) return false;
    this.#ends.set(file, copied.end);
    const oldest = this.#ends.keys().next();
    if (this.#ends.size > knownFilesMax && oldest.done !== true) this.#ends.delete(oldest.value);
    return copied.hasGrown;
  }
}

/** Keeps a log with that name that this machine wrote earlier, under a name that no reader uses. */
async function putOwnLogAside(logs: string, file: string, nowMs: number): Promise<void> {
  const path = join(logs, file);
  const folder = join(logs, asideFolder, `${nowMs}`, dirname(file));
  await mkdir(folder, { recursive: true });
  const beside = [`${path}.prompt`, ...listSegments(path).map((segment) => segment.path)];
  // The marks are moved last, so that an interrupted move is repeated.
  for (const one of [path, ...beside, marksPath(path)]) {
    // Another process may do the same.
    if (fileExists(one)) await rename(one, join(folder, basename(one))).catch(unlessGone);
  }
}

const wholePath = (path: string): string => `${path}.whole`;

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
