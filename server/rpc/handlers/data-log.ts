// Reads an attempt's log in pages: forwards, backwards from an offset, or waiting for new lines.

import { join } from 'node:path';
import type { Handlers, LogPageView, Params } from '../../protocol/api.ts';
import { type AttemptLog, attemptLog } from '../../store/work/attempt-log.ts';
import type { StoreSources } from '../../store/port.ts';
import type { DataHandlerDeps, DataLogPage } from './data-deps.ts';

/** Maximum number of events per page. A caller that requests more gets them with the next page. */
const eventsMax = 5_000;
const pageBytesMax = 4 * 1024 * 1024;
const waitMaxMs = 30_000;
/**
 * A writer in this process notifies. A log written by another process is polled at this interval.
 */
const lookAgainMs = 1_000;
/**
 * The feed does not say which task an event concerns, so an attempt's end is checked at most this
 * often.
 */
const feedLookMs = 200;

type Clock = StoreSources['clock'];

interface PageRequest {
  readonly id: string;
  readonly attempt: number | undefined;
  readonly offset: number;
  readonly before: number | undefined;
  readonly limit: number;
  readonly newest: boolean;
  readonly waitMs: number;
}

export function logHandlers(deps: DataHandlerDeps): Pick<Handlers, 'log.read'> {
  return {
    'log.read': async (params) => {
      const request = requestOf(params);
      if (request.waitMs > 0) return waitForNews(deps, request);
      const log = await attemptLog(deps.store.db, request.id, request.attempt);
      await deps.output.beforeRead(log);
      return readPage(deps, request, log);
    },
  };
}

function requestOf({ id, attempt, before, ...given }: Params<'log.read'>): PageRequest {
  return {
    id,
    attempt,
    offset: given.offset ?? 0,
    before,
    limit: Math.min(given.limit ?? eventsMax, eventsMax),
    newest: before === undefined && given.newest === true,
    waitMs: before === undefined ? Math.min(given.wait_ms ?? 0, waitMaxMs) : 0,
  };
}

function hasNews(page: LogPageView): boolean {
  return page.events.length > 0 || page.ended;
}

function pathOf(deps: DataHandlerDeps, log: AttemptLog): string | null {
  return log.file === null ? null : join(deps.logs, log.file);
}

async function readPage(
  deps: DataHandlerDeps,
  request: PageRequest,
  log: AttemptLog,
): Promise<LogPageView> {
  const path = pathOf(deps, log);
  if (path === null) {
    const nothing = { events: [], offset: 0, next_offset: 0, size: 0, ended: log.isOver };
    return { task_id: log.taskId, attempt: 0, ...nothing };
  }
  const page = request.newest ? newestPage(deps, request, path) : pageAt(deps, request, path);
  // Loaded here, because most commands read no log and loading the schema is slow.
  const { checkedLine } = await import('../../protocol/agent-events.ts');
  return {
    task_id: log.taskId,
    attempt: log.attempt,
    events: page.events.map(checkedLine),
    offset: page.offset,
    next_offset: page.nextOffset,
    size: page.size,
    ended: log.isOver && page.atEnd,
  };
}

function pageAt(deps: DataHandlerDeps, request: PageRequest, path: string): DataLogPage {
  const { before, limit, offset } = request;
  const bounds = { limit, bytesMax: pageBytesMax };
  return before === undefined
    ? deps.log.read(path, { fromOffset: offset, ...bounds })
    : deps.log.readBefore(path, { before, ...bounds });
}

/**
 * The next events are usually the latest ones. If more than a page was written, a page from the end
 * is read too, so that the events in between cost nothing. It is used only if it does not overlap
 * the previous page, because no event is sent twice.
 */
function newestPage(deps: DataHandlerDeps, request: PageRequest, path: string): DataLogPage {
  const next = pageAt(deps, request, path);
  if (next.atEnd) return next;
  const newest = pageAt(deps, { ...request, before: Number.MAX_SAFE_INTEGER }, path);
  return newest.offset >= next.offset ? newest : next;
}

async function waitForNews(deps: DataHandlerDeps, request: PageRequest): Promise<LogPageView> {
  const { db, feed, sources } = deps.store;
  const endMs = sources.clock.now() + request.waitMs;
  const news = new WakeSignal(sources.clock);
  const offFeed = feed.onAppend(() => news.wakeSoon(feedLookMs));
  let log: AttemptLog | null = null;
  let heardPath: string | null = null;
  let offGrowth: () => void = () => {};
  try {
    for (;;) {
      log ??= await attemptLog(db, request.id, request.attempt);
      const path = pathOf(deps, log);
      // Subscribes before reading, so that nothing written in between is missed.
      if (path !== null && heardPath !== path) {
        offGrowth();
        const wake = (): void => news.wake('growth');
        const offHere = deps.log.onGrowth(path, wake);
        const offElsewhere = deps.output.onNews(log, wake);
        offGrowth = () => {
          offHere();
          offElsewhere();
        };
        heardPath = path;
      }
      await deps.output.beforeRead(log);
      const page = await readPage(deps, request, log);
      const leftMs = endMs - sources.clock.now();
      if (hasNews(page) || leftMs <= 0) return page;
      const why = await news.wait(Math.min(leftMs, lookAgainMs));
      if (why !== 'growth') log = null;
    }
  } finally {
    offFeed();
    offGrowth();
    news.close();
  }
}

type Wake = 'growth' | 'look';

/**
 * A signal between two waits is not lost. If there are several, the one that asks for more counts.
 */
class WakeSignal {
  readonly #clock: Clock;
  #rung: Wake | null = null;
  #answer: (() => void) | null = null;
  #offSoon: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(why: Wake): void {
    if (this.#rung !== 'look') this.#rung = why;
    this.#answer?.();
  }

  wakeSoon(ms: number): void {
    this.#offSoon ??= this.#clock.timer(ms, () => {
      this.#offSoon = null;
      this.wake('look');
    });
  }

  async wait(ms: number): Promise<Wake> {
    if (this.#rung === null) {
      await new Promise<void>((resolve) => {
        const off = this.#clock.timer(ms, resolve);
        this.#answer = () => {
          off();
          resolve();
        };
      });
    }
    const why = this.#rung ?? 'look';
    this.#answer = null;
    this.#rung = null;
    return why;
  }

  close(): void {
    this.#offSoon?.();
  }
}
