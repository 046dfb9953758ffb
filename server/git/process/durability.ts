// Flushes new objects and moved refs to the disk. Git writes loose objects without fsync, and so
// does the agent's own git.
//
// Setting `core.fsync` for every git process of ours would cost one wait after the other and miss
// the agent's objects. Instead new object files are found by their folders' times and flushed
// together, which costs about as much as one of them; callers that arrive during a flush share the
// next one. Objects are flushed before a ref moves to them (a ref to a lost object would be worse
// than a lost ref), and `settle` makes the moves themselves durable.

import { closeSync, fsync, openSync, readdirSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { mapBounded } from '../../core/work/semaphore.ts';

const flushed = promisify(fsync);

/** The kernel writes back anything older than this on its own. */
const writtenBackMs = 40_000;
/** Folder times are coarse: a folder that changed just now may change again without a new time. */
const settledMs = 200;
const flushWidth = 32;
/** Of what another process wrote just before we started. */
const maxInheritedFiles = 4_000;

interface KnownFolder {
  mtimeMs: number;
  readonly names: Set<string>;
}

export interface Durability {
  /** Every object written so far is on the disk when this resolves; rejects when the disk fails. */
  flushObjects(): Promise<void>;
  /** Notes that the file of a ref was replaced, made or deleted. */
  refsMoved(refs: readonly string[]): void;
  /** Flushes the folders of refs that moved; what they name was flushed before they did. */
  settle(): Promise<void>;
}

export class ObjectFolders {
  readonly #objects: string;
  readonly #known = new Map<string, KnownFolder>();
  #inherited = true;

  constructor(commonDir: string) {
    this.#objects = join(commonDir, 'objects');
  }

  /** Files that appeared since the last call; at first those of the last seconds. */
  takeNew(nowMs: number): string[] {
    const found: string[] = [];
    for (let index = 0; index < 256; index += 1) {
      const name = index.toString(16).padStart(2, '0');
      this.#takeNewIn(join(this.#objects, name), nowMs, found);
    }
    const taken = this.#inherited ? found.slice(0, maxInheritedFiles) : found;
    this.#inherited = false;
    return taken;
  }

  #takeNewIn(folder: string, nowMs: number, found: string[]): void {
    const facts = statOrNull(folder);
    if (facts === null) return;
    const known = this.#known.get(folder);
    if (known?.mtimeMs === facts.mtimeMs) return;
    const oldFolder = this.#inherited && nowMs - facts.mtimeMs > writtenBackMs;
    const names = readdirSync(folder);
    for (const name of names) {
      if (oldFolder || known?.names.has(name)) continue;
      const file = join(folder, name);
      if (!this.#inherited || isRecent(file, nowMs)) found.push(file);
    }
    const settled = nowMs - facts.mtimeMs > settledMs;
    this.#known.set(folder, { mtimeMs: settled ? facts.mtimeMs : -1, names: new Set(names) });
  }
}

function statOrNull(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function isRecent(file: string, nowMs: number): boolean {
  const facts = statOrNull(file);
  return facts !== null && nowMs - facts.mtimeMs <= writtenBackMs;
}

export function openDurability(commonDir: string): Durability {
  const folders = new ObjectFolders(commonDir);
  const movedIn = new Set<string>();
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;

  const flushNow = async (): Promise<void> => {
    // As in git's own flushing the folders are left out: a flushed file takes its name along on
    // journalling systems.
    await syncAll(folders.takeNew(Date.now()));
  };
  const flushObjects = (): Promise<void> => {
    // Objects of this caller may have appeared after the running flush has looked, so it waits for
    // a later one.
    next ??= running.then(() => {
      const mine = flushNow();
      next = null;
      running = mine.then(
        () => undefined,
        () => undefined,
      );
      return mine;
    });
    return next;
  };
  return {
    flushObjects,
    refsMoved: (refs) => {
      for (const ref of refs) movedIn.add(dirname(join(commonDir, ref)));
    },
    settle: async () => {
      if (movedIn.size === 0) return;
      const touched = [...movedIn, commonDir];
      movedIn.clear();
      await syncAll(touched);
    },
  };
}

/** For tests and temporary repositories. */
export const noDurability: Durability = {
  flushObjects: () => Promise.resolve(),
  refsMoved: () => undefined,
  settle: () => Promise.resolve(),
};

/**
 * Temporary files disappear and some systems cannot flush folders; neither means that anything of
 * ours is lost.
 */
async function syncAll(paths: readonly string[]): Promise<void> {
  await mapBounded(paths, flushWidth, async (path) => {
    try {
      // Only the flush itself waits for the disk.
      const descriptor = openSync(path, 'r');
      try {
        await flushed(descriptor);
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (['ENOSPC', 'EIO', 'EDQUOT'].includes(code)) throw error;
    }
  });
}
