// One log as the shipper knows it: how far each of its files is stored, and which part is next.

import type { LogName, PartPlace } from '../store/feed/log-parts.ts';
import { filesOfLog, partsAfter, type FileChunk, type ShippedFile } from './log-files.ts';

export interface StoredEnd {
  readonly end: number;
  /** The last part; null = nothing is stored. */
  readonly last: PartPlace | null;
  /** For a prompt, when it was written. */
  readonly changedMs: number;
}

export interface NextChain {
  readonly file: ShippedFile;
  readonly after: PartPlace | null;
  readonly parts: readonly FileChunk[];
  /** Nothing else was left to store when it was read; later output waits for its turn. */
  readonly isAll: boolean;
}

/**
 * The result of reading the files; `look` = the stored chunks must first be compared with the
 * files.
 */
export type Next = NextChain | 'look' | null;

const refusalsMax = 5;

export class ShippedLog {
  readonly name: LogName;
  /** Null until the stored part was compared with the files. */
  #stored: Map<string, StoredEnd> | null = null;
  /** Segments that are stored and not on this disk any more. */
  #dropped: string[] = [];
  #refusals = 0;
  /** It is being stored: there must be no second one of it. */
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

  /** Files whose parts are to be deleted: the log has dropped its middle. */
  takeDropped(): readonly string[] {
    const taken = this.#dropped;
    this.#dropped = [];
    return taken;
  }

  /**
   * The next part to store: an earlier file first, so that no reader sees a later one without it.
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
   * The chunks were refused: the stored state differs from the known one. True if that keeps
   * happening.
   */
  isRefused(): boolean {
    this.forget();
    this.#refusals += 1;
    return this.#refusals % refusalsMax === 0;
  }

  /** The chain is stored. */
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
 * A log drops its old segments. If all of it is gone, the folder was emptied, and other machines
 * keep their copies.
 */
export function isDropped(log: LogName, file: string, here: readonly ShippedFile[]): boolean {
  const isSegment = /^\.\d{16}$/.test(file.slice(log.file.length));
  const names = here.map((one) => one.file);
  return isSegment && names.includes(log.file) && !names.includes(file);
}
