// One log as the shipper knows it: how much of each file is stored, and which part is next.

import type { LogName, PartPlace } from '../store/feed/log-parts.ts';
import { filesOfLog, partsAfter, type FileChunk, type ShippedFile } from './log-files.ts';

export interface StoredEnd {
  readonly end: number;
  /** The last part; null = nothing is stored. */
  readonly last: PartPlace | null;
  /** When a prompt was written. Set only for prompts. */
  readonly changedMs: number;
}

export interface NextChain {
  readonly file: ShippedFile;
  readonly after: PartPlace | null;
  readonly parts: readonly FileChunk[];
  /**
   * True if nothing else was left to store when it was read. Later output is stored in another
   * turn.
   */
  readonly isAll: boolean;
}

/**
 * The result of reading the files. `look`: the stored parts must first be compared with the files.
 */
export type Next = NextChain | 'look' | null;

const refusalsMax = 5;

export class ShippedLog {
  readonly name: LogName;
  /** Null until the stored parts were compared with the files. */
  #stored: Map<string, StoredEnd> | null = null;
  /** Segments that are stored but no longer on this disk. */
  #dropped: string[] = [];
  #refusals = 0;
  /** True while it is being stored, so that this is not done twice at once. */
  isAtWork = false;
  waiters: (() => void)[] = [];

  constructor(name: LogName) {
    this.name = name;
  }

  get isKnown(): boolean {
    return this.#stored !== null;
  }

  forget(): void {
    this.#stored = null;
  }

  know(stored: ReadonlyMap<string, StoredEnd>): void {
    this.#stored = new Map(stored);
  }

  /** Files whose parts must be deleted, because the log has dropped its middle. */
  takeDropped(): readonly string[] {
    const taken = this.#dropped;
    this.#dropped = [];
    return taken;
  }

  /**
   * The next part to store. Earlier files come first, so that no reader sees a later one without
   * them.
   */
  next(logs: string): Next {
    const stored = this.#stored;
    if (stored === null) return 'look';
    const files = filesOfLog(logs, this.name.file);
    for (const file of stored.keys()) {
      if (!isDropped(this.name, file, files)) continue;
      stored.delete(file);
      this.#dropped.push(file);
    }
    for (const file of files) {
      const { end, last, changedMs } = stored.get(file.file) ?? beginning(file);
      if (end > file.size || (file.isPrompt && changedMs !== file.changedMs)) return 'look';
      const parts = partsAfter(file, end);
      const [lastPart] = parts.slice(-1);
      if (lastPart === undefined) continue;
      const isAll = file === files.at(-1) && lastPart.start + lastPart.size >= file.size;
      return { file, after: last, parts, isAll };
    }
    return null;
  }

  /**
   * The parts were refused, because the stored state differs from the known one. Returns true if
   * that keeps happening.
   */
  isRefused(): boolean {
    this.forget();
    this.#refusals += 1;
    return this.#refusals % refusalsMax === 0;
  }

  /** The chain was stored. */
  took(chain: NextChain): void {
    this.#refusals = 0;
    const last = chain.parts.at(-1);
    if (last === undefined) return;
    const { start, size } = last;
    const { file, changedMs } = chain.file;
    this.#stored?.set(file, { end: start + size, last: { start, size }, changedMs });
  }
}

export function beginning(file: ShippedFile): StoredEnd {
  return { end: 0, last: null, changedMs: file.changedMs };
}

/**
 * Whether the log has dropped the segment. If all of its files are gone, the folder was emptied,
 * and other machines keep their copies.
 */
export function isDropped(log: LogName, file: string, here: readonly ShippedFile[]): boolean {
  const isSegment = /^\.\d{16}$/.test(file.slice(log.file.length));
  const names = here.map((one) => one.file);
  return isSegment && names.includes(log.file) && !names.includes(file);
}
