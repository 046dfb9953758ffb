// Copies the log of an attempt that another machine works on to this disk, for whoever reads it here.
//
// A copy only ever gets what is missing at its end, at its place: two processes that copy at once write the same bytes to
// the same places. What is there is believed when the part at its end is the stored one; otherwise it is made anew.

import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { marksPath, segmentsOf } from '../../agents/event-log-files.ts';
import { tellCopyGrowth } from '../../agents/log-growth.ts';
import { lastParts, logNameOf, storedSegments } from '../../store/log-parts.ts';
import type { Store } from '../../store/port.ts';
import { copyFile, type CopiedEnd } from './copy-file.ts';
import { fileExists } from './log-files.ts';

export interface LogMirrorParts {
  readonly store: Store;
  /** The folder of the logs. */
  readonly logs: string;
}

/** Files of which the end of the copy is remembered; another one is compared again. */
const knownFilesMax = 500;
const asideFolder = 'aside';

interface Copying {
  readonly now: Promise<boolean>;
  /** For those who came while it was under way: what they heard of may have come too late for it. */
  next: Promise<boolean> | null;
}

export class LogMirror {
  readonly #parts: LogMirrorParts;
  readonly #ends = new Map<string, CopiedEnd>();
  readonly #copying = new Map<string, Copying>();

  constructor(parts: LogMirrorParts) {
    this.#parts = parts;
  }

  has(file: string): boolean {
    return fileExists(join(this.#parts.logs, file));
  }

  /** Resolves with false when nothing of the log is stored; files of that name are left alone then. */
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
    const { store, logs } = this.#parts;
    if (logNameOf(file) === null) return false;
    const path = join(logs, file);
    // Asked for first: once a segment is stored, the head before it is whole.
    const segments = (await storedSegments(store.db, [file])).get(file) ?? [];
    if (fileExists(marksPath(path))) {
      if (!(await lastParts(store.db, [file])).has(file)) return false;
      await putOwnLogAside(logs, file, store.sources.clock.now());
    }
    const prompt = await this.#copyOne(`${file}.prompt`);
    const head = await this.#copyOne(file);
    if (head === 'absent' && prompt === 'absent') return false;
    let hasGrown = head === 'grown';
    for (const segment of segments) {
      if ((await this.#copyOne(segment)) === 'grown') hasGrown = true;
    }
    if (head !== 'absent') {
      const stored = new Set(segments.map((segment) => basename(segment)));
      for (const { path: old } of segmentsOf(path)) {
        if (!stored.has(basename(old)) && segments.length > 0) await rm(old, { force: true });
      }
    }
    if (hasGrown) tellCopyGrowth(path);
    return true;
  }

  async #copyOne(file: string): Promise<'absent' | 'same' | 'grown'> {
    const { store, logs } = this.#parts;
    const copied = await copyFile(store.db, {
      file,
      path: join(logs, file),
      known: this.#ends.get(file) ?? null,
    });
    this.#ends.delete(file);
    if (copied === null) return 'absent';
    this.#ends.set(file, copied.end);
    const oldest = this.#ends.keys().next();
    if (this.#ends.size > knownFilesMax && oldest.done !== true) this.#ends.delete(oldest.value);
    return copied.hasGrown ? 'grown' : 'same';
  }
}

/** A log of that name which this machine has written in an earlier life: kept, under a name that nobody reads by itself. */
async function putOwnLogAside(logs: string, file: string, nowMs: number): Promise<void> {
  const path = join(logs, file);
  const folder = join(logs, asideFolder, `${nowMs}`, dirname(file));
  await mkdir(folder, { recursive: true });
  const beside = [`${path}.prompt`, ...segmentsOf(path).map((segment) => segment.path)];
  // The marks go last: whoever is killed in the middle does it again.
  for (const one of [path, ...beside, marksPath(path)]) {
    // Another process may do the same.
    if (fileExists(one)) await rename(one, join(folder, basename(one))).catch(unlessGone);
  }
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
