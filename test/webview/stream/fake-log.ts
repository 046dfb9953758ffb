// A log of an attempt in memory that answers as the backend does: pages by byte offset, forwards and backwards, and long
// polls that are answered when a line is written.

import { checkedLine } from '../../../server/protocol/agent-events.ts';
import type { LogLineView } from '../../../server/protocol/log-line.ts';
import type { LogReadParams, LogReadResult } from '../../../webview/shared/log/read-log.ts';

export class FakeLog {
  readonly #offsets: number[] = [0];
  readonly #lines: LogLineView[] = [];
  readonly #waiting = new Set<() => void>();
  attempt = 1;
  hasEnded = false;
  /** Long polls end empty after this. */
  waitMaxMs = 60_000;
  readonly asked: LogReadParams[] = [];
  failure: Error | null = null;

  constructor(lines: readonly LogLineView[] = []) {
    for (const line of lines) this.#add(line);
  }

  get size(): number {
    return this.#offsets.at(-1) ?? 0;
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  /** The offset of a line. */
  offsetOf(index: number): number {
    return this.#offsets[index] ?? 0;
  }

  write(...lines: readonly LogLineView[]): void {
    for (const line of lines) this.#add(line);
    this.#wakeAll();
  }

  /** As after a crash: the last lines were not stored permanently. */
  cut(lines: number): void {
    this.#lines.length -= lines;
    this.#offsets.length -= lines;
    this.#wakeAll();
  }

  end(): void {
    this.hasEnded = true;
    this.#wakeAll();
  }

  async read(params: LogReadParams): Promise<LogReadResult> {
    this.asked.push(params);
    if (this.failure !== null) throw this.failure;
    const from = this.#indexOf(params.offset ?? 0);
    if (params.before === undefined && from >= this.#lines.length && !this.hasEnded) {
      await this.#wait(Math.min(params.wait_ms ?? 0, this.waitMaxMs));
    }
    const limit = Math.min(params.limit ?? 5_000, 5_000);
    if (params.before !== undefined) {
      const to = this.#indexOf(Math.min(params.before, this.size));
      return this.#page(params.id, Math.max(0, to - limit), to);
    }
    const end = this.#lines.length;
    if (params.newest === true) return this.#page(params.id, Math.max(from, end - limit), end);
    return this.#page(params.id, from, Math.min(end, from + limit));
  }

  #page(taskId: string, from: number, to: number): LogReadResult {
    return {
      task_id: taskId,
      attempt: this.attempt,
      events: this.#lines.slice(from, to).map(checkedLine),
      offset: this.#offsets[from] ?? 0,
      next_offset: this.#offsets[to] ?? this.size,
      size: this.size,
      ended: this.hasEnded && to === this.#lines.length,
    };
  }

  #add(line: LogLineView): void {
    this.#lines.push(line);
    this.#offsets.push(this.size + Buffer.byteLength(JSON.stringify(line)) + 1);
  }

  /** The first line at or behind an offset. */
  #indexOf(offset: number): number {
    let low = 0;
    let high = this.#offsets.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#offsets[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #wait(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      timer.unref();
      this.#waiting.add(done);
    });
  }

  #wakeAll(): void {
    for (const done of this.#waiting) done();
  }
}

const firstAtMs = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A line of output, one a second. */
export function outputLine(index: number, text = `line ${index}`): LogLineView {
  return { type: 'output', stream: 'stdout', text, at: firstAtMs + index * 1000 };
}

export function outputLines(count: number, first = 0): LogLineView[] {
  return Array.from({ length: count }, (_, index) => outputLine(first + index));
}

export function at(seconds: number): number {
  return firstAtMs + seconds * 1000;
}
