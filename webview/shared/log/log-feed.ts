// Reads an attempt's log for a view: first the end, then new lines with a long poll, and older and
// newer pages when the view approaches them. It sends one request at a time for the end, and
// everything is bounded.

import type { Usage } from '../../../server/protocol/agent-events.ts';
import { eventOfLine, type LogLineView } from '../../../server/protocol/log-line.ts';
import { inTime, type Sleep, type LogReadParams, type LogReadResult } from './read-log.ts';
import { LogWindow, type LogPage, type WindowSide } from './log-window.ts';
import { lastTodos, type TodoItem } from './todo-list.ts';

/** An event, identified by the offset of a page and its number in the page. */
export interface LogPlace {
  readonly offset: number;
  readonly index: number;
}

export interface LogFeedParts {
  readonly id: string;
  /** 0: the last one there is. */
  readonly attempt: number;
  /**
   * Entry keys start near this value, because the keys of two feeds of one view must not overlap.
   */
  readonly firstKey: number;
  readonly read: (params: LogReadParams) => Promise<LogReadResult>;
  /** The last events, if they were already requested. */
  readonly ahead?: Promise<LogReadResult> | null;
  /** Something has changed: the view redraws itself in the next frame. */
  readonly onChange: () => void;
  readonly onFailure: (error: Error | null) => void;
  /** Resolves after a time, or at once when the signal aborts. */
  readonly sleep: Sleep;
  /** The far side of the view, where pages are dropped. */
  readonly farSide: () => WindowSide;
}

export const endOfLog = Number.MAX_SAFE_INTEGER;
export const openEvents = 300;
const placeEventsMax = 5_000;
const pageEvents = 500;
const liveEvents = 2_000;
const waitMs = 25_000;
/** Time for an answer in addition to the requested wait. */
const answerMs = 10_000;
/** The pause between two reads of the end: events during that time are one batch and one frame. */
const pauseMs = 50;
/** The pause after an immediate answer without new events (an older backend). */
const idlePauseMs = 500;
const retryPausesMs = [500, 1_000, 2_000, 5_000] as const;
/** A view that is further behind than this continues at the end. */
const behindBytesMax = 4 * 1024 * 1024;

export class LogFeed {
  readonly window: LogWindow;
  readonly #parts: LogFeedParts;
  readonly #over = new AbortController();
  #awake = new AbortController();
  /** The end has been read up to here, whether or not it is in the window. */
  #liveOffset = 0;
  #attempt: number;
  #ahead: Promise<LogReadResult> | null;
  #isOpen = false;
  #hasEnded = false;
  #isReadingOlder = false;
  #isReadingNewer = false;
  #isPolling = false;
  /** Total number of events that arrived at the end of the window. */
  arrivedEvents = 0;
  /** Events that arrived while the end is not in the window. */
  unseenEvents = 0;
  usage: Usage | null = null;
  /** The agent's latest progress text. */
  todos: readonly TodoItem[] | null = null;

  constructor(parts: LogFeedParts) {
    this.#parts = parts;
    this.#attempt = parts.attempt;
    this.#ahead = parts.ahead ?? null;
    this.window = new LogWindow(parts.firstKey);
  }

  get attempt(): number {
    return this.#attempt;
  }
  get isOpen(): boolean {
    return this.#isOpen;
  }
  get hasEnded(): boolean {
    return this.#hasEnded;
  }
  get hasOlder(): boolean {
    return !this.window.isEmpty && this.window.start > 0;
  }
  /** The end of the log is loaded. */
  get isAtEnd(): boolean {
    return this.window.isEmpty || this.window.end >= this.#liveOffset;
  }
  get isReadingOlder(): boolean {
    return this.#isReadingOlder;
  }

  stop(): void {
    this.#over.abort();
  }

  /** Requests again at once: the view was hidden, and answers may have been lost. */
  wake(): void {
    this.#awake.abort();
    this.#awake = new AbortController();
  }

  /** Opens at the end, or at a saved position; then follows new lines until `stop`. */
  async run(place: LogPlace | null): Promise<void> {
    for (let failures = 0; !this.#over.signal.aborted && !this.#isOpen; failures += 1) {
      try {
        await this.#open(place);
        this.#parts.onFailure(null);
      } catch (error) {
        await this.#afterFailure(error, failures);
      }
    }
    await this.follow();
  }

  /** The long poll; also called again when an ended attempt continues. */
  async follow(): Promise<void> {
    if (this.#isPolling || !this.#isOpen) return;
    this.#isPolling = true;
    this.#hasEnded = false;
    let failures = 0;
    while (!this.#over.signal.aborted && !this.#hasEnded) {
      try {
        await this.#poll();
        if (failures > 0) this.#parts.onFailure(null);
        failures = 0;
      } catch (error) {
        await this.#afterFailure(error, failures);
        failures += 1;
      }
    }
    this.#isPolling = false;
    if (!this.#over.signal.aborted) this.#parts.onChange();
  }

  /** Loads one more page at the front. */
  async readOlder(limit = pageEvents): Promise<boolean> {
    if (this.#isReadingOlder || !this.hasOlder) return false;
    this.#isReadingOlder = true;
    try {
      const { epoch, start } = this.window;
      const page = await this.#read({ before: start, limit });
      if (this.window.epoch !== epoch || page.end !== this.window.start) return false;
      if (page.start >= page.end) return false;
      this.window.prepend(page);
      this.window.trim('back');
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    } finally {
      this.#isReadingOlder = false;
      this.#parts.onChange();
    }
  }

  /** Loads one more page at the back, while the end is not loaded. */
  async readNewer(): Promise<boolean> {
    if (this.#isReadingNewer || this.isAtEnd) return false;
    this.#isReadingNewer = true;
    try {
      const { epoch, end } = this.window;
      const page = await this.#read({ offset: end, limit: pageEvents });
      if (this.window.epoch !== epoch || page.events.length === 0) return false;
      this.window.append(page);
      this.#liveOffset = Math.max(this.#liveOffset, page.end);
      if (this.isAtEnd) this.unseenEvents = 0;
      this.window.trim('front');
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    } finally {
      this.#isReadingNewer = false;
      this.#parts.onChange();
    }
  }

  /** Loads the end again when it was dropped. */
  async jumpToEnd(): Promise<void> {
    if (this.isAtEnd) return;
    try {
      const page = await this.#read({ before: endOfLog, limit: openEvents });
      this.#showEnd(page);
    } catch (error) {
      this.#fail(error);
    }
    this.#parts.onChange();
  }

  /** Shows a page elsewhere in the log instead of the loaded pages. */
  showPage(page: LogPage): void {
    this.window.reset(page);
    this.#parts.onChange();
  }

  /** A page for the search, which is only searched, not loaded. */
  async peek(where: { readonly before: number } | { readonly offset: number }): Promise<LogPage> {
    return this.#read({ ...where, limit: liveEvents });
  }

  async #open(place: LogPlace | null): Promise<void> {
    const result =
      place === null
        ? await this.#askForEnd()
        : await this.#ask({
            offset: place.offset,
            limit: Math.min(place.index + openEvents, placeEventsMax),
          });
    if (this.#over.signal.aborted) return;
    this.#attempt = result.attempt;
    this.#isOpen = true;
    this.#liveOffset = place === null ? result.next_offset : result.size;
    this.window.reset(pageOf(result));
    this.#noteFacts(result.events);
    this.#parts.onChange();
  }

  async #askForEnd(): Promise<LogReadResult> {
    const ahead = this.#ahead;
    this.#ahead = null;
    try {
      if (ahead !== null) return await this.#inTime(ahead);
    } catch (error) {
      if (this.#over.signal.aborted) throw error;
      // The events are requested again, because only current events are announced to a person.
    }
    return await this.#ask({ before: endOfLog, limit: openEvents });
  }

  async #poll(): Promise<void> {
    const askedAt = performance.now();
    const result = await this.#ask({
      offset: this.#liveOffset,
      limit: liveEvents,
      wait_ms: waitMs,
    });
    const { signal } = this.#over;
    if (signal.aborted) return;
    this.#parts.onFailure(null);
    if (this.#attempt === 0) this.#attempt = result.attempt;
    if (result.size < this.#liveOffset) {
      // A crash removed lines that were not yet durably stored, so offsets after the cut now have
      // another meaning.
      this.#showEnd(await this.#read({ before: endOfLog, limit: openEvents }));
      this.#parts.onChange();
      return;
    }
    if (result.events.length === 0 && result.next_offset === this.#liveOffset) {
      this.#hasEnded = result.ended;
      const waited = performance.now() - askedAt;
      if (!result.ended && waited < idlePauseMs) await this.#parts.sleep(idlePauseMs, signal);
      return;
    }
    await this.#take(result);
    await this.#parts.sleep(pauseMs, signal);
  }

  async #take(result: LogReadResult): Promise<void> {
    const page = pageOf(result);
    const wasAtEnd = this.isAtEnd;
    this.#liveOffset = page.end;
    this.#noteFacts(page.events);
    if (result.size - page.end > behindBytesMax) {
      const tail = await this.#read({ before: endOfLog, limit: openEvents });
      if (wasAtEnd && this.#parts.farSide() === 'front') this.#showEnd(tail);
      else {
        this.unseenEvents += page.events.length;
        this.#liveOffset = tail.end;
      }
    } else if (wasAtEnd) {
      this.window.append(page);
      this.arrivedEvents += page.events.length;
      this.#trimForEnd(page.events.length);
    } else {
      this.unseenEvents += page.events.length;
    }
    this.#parts.onChange();
  }

  /** A user who reads far above keeps their pages; the end is loaded again when they return. */
  #trimForEnd(arrived: number): void {
    const side = this.#parts.farSide();
    if (this.window.trim(side) && side === 'back') this.unseenEvents += arrived;
  }

  #showEnd(page: LogPage): void {
    this.window.reset(page);
    this.#liveOffset = page.end;
    this.unseenEvents = 0;
    this.#noteFacts(page.events);
  }

  #noteFacts(events: readonly LogLineView[]): void {
    this.todos = lastTodos(events) ?? this.todos;
    const last = events.findLast((line) => line.type === 'usage');
    if (last === undefined) return;
    const event = eventOfLine(last);
    if (event.type === 'usage') this.usage = event.usage;
  }

  async #read(where: Omit<LogReadParams, 'id' | 'attempt'>): Promise<LogPage> {
    return pageOf(await this.#ask(where));
  }

  #ask(where: Omit<LogReadParams, 'id' | 'attempt'>): Promise<LogReadResult> {
    const { id, read } = this.#parts;
    const attempt = this.#attempt > 0 ? { attempt: this.#attempt } : {};
    return this.#inTime(read({ id, ...attempt, ...where }));
  }

  #inTime(answer: Promise<LogReadResult>): Promise<LogReadResult> {
    const { sleep } = this.#parts;
    return inTime(answer, waitMs + answerMs, sleep, this.#over.signal, this.#awake.signal);
  }

  async #afterFailure(error: unknown, failures: number): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#fail(error);
    await this.#parts.sleep(
      retryPausesMs[Math.min(failures, retryPausesMs.length - 1)] ?? 5_000,
      this.#over.signal,
    );
  }

  #fail(error: unknown): void {
    if (this.#over.signal.aborted) return;
    this.#parts.onFailure(error instanceof Error ? error : new Error(String(error)));
  }
}

function pageOf(result: LogReadResult): LogPage {
  return { start: result.offset, end: result.next_offset, events: result.events };
}
