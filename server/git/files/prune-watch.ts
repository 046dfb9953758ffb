// Detects that the repository was pruned: a file that git's prune removes along with unreachable
// objects is gone.
//
// Objects are written first and named by a ref afterwards; `git gc --prune=now` or `git prune` in
// between removes them. In the same run, git removes abandoned `tmp_` files by the same rule of
// age, after the objects. So the usual case needs no git: reading one small file tells whether the
// new objects must be checked.

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readText } from './small-files.ts';

/** Objects wait unnamed for as long as a gate tests them. */
const suspectMs = 60 * 60_000;

/** Commands that write objects. */
const writers: ReadonlySet<string> = new Set([
  'commit',
  'commit-tree',
  'fetch',
  'hash-object',
  'merge-tree',
  'update-index',
  'write-tree',
]);

const gcPatienceMs = 10_000;
const gcPauseMs = 50;

export class PruneWatch {
  readonly #file: string;
  readonly #gcFile: string;
  #known: string | null = null;
  #seen = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #waitedFor: string | null = null;

  constructor(commonDir: string) {
    this.#file = join(commonDir, 'objects', 'tmp_drover_watch');
    this.#gcFile = join(commonDir, 'gc.pid');
  }

  /** Called before each command: from the first one that writes objects, prunes are seen. */
  beforeCommand(args: readonly string[]): void {
    if (this.#known === null && args.some((arg) => writers.has(arg)))
      this.#known = readText(this.#file) ?? place(this.#file);
  }

  /** How many prunes were detected; checks for another one. */
  count(): number {
    this.#look();
    return this.#seen;
  }

  /** A prune may have removed something that was written and not yet named. */
  isSuspect(): boolean {
    this.#look();
    return Date.now() - this.#lastMs < suspectMs;
  }

  /**
   * Waits, with a limit, for a `git gc` that started before a ref moved: it may remove the objects
   * that the ref names now.
   */
  async outlastGc(): Promise<void> {
    const endMs = Date.now() + gcPatienceMs;
    for (;;) {
      const gc = runningGc(this.#gcFile);
      if (gc === null || gc === this.#waitedFor) return;
      if (Date.now() >= endMs) {
        this.#waitedFor = gc;
        return;
      }
      await delay(gcPauseMs);
    }
  }

  #look(): void {
    if (this.#known === null) return;
    const present = readText(this.#file);
    if (present === this.#known) return;
    this.#seen += 1;
    this.#lastMs = Date.now();
    this.#known = present ?? place(this.#file);
  }
}

/**
 * Null where nothing can be written: then nothing is watched. Another process may have been first.
 */
function place(file: string): string | null {
  const id = randomUUID();
  try {
    writeFileSync(file, id, { flag: 'wx' });
    return id;
  } catch {
    return readText(file);
  }
}

/** What git notes of a gc of this machine, `<pid> <host>`; null when it has ended. */
function runningGc(file: string): string | null {
  const text = readText(file)?.trim() ?? '';
  const [pid = '', host = ''] = text.split(' ');
  if (!/^[1-9]\d*$/.test(pid) || host !== hostname()) return null;
  try {
    process.kill(Number(pid), 0);
    return text;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? text : null;
  }
}
