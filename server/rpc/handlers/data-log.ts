// The log of an attempt in pages: forwards, backwards from a place, and with a wait for what is yet to be written.

import { join } from 'node:path';
import type { Handlers, LogPageView } from '../../protocol/api.ts';
import { attemptLog } from '../../store/attempt-log.ts';
import type { StoreSources } from '../../store/port.ts';
import type { DataHandlerDeps } from './data.ts';
import { idOf, optionalInteger, recordOf } from './params.ts';

/** Events of one page; a caller may wish for more and gets them with the next one. */
const eventsMax = 5_000;
const pageBytesMax = 4 * 1024 * 1024;
const waitMaxMs = 30_000;
/** Whoever writes says so; a log that somebody else writes is looked at this often. */
const lookAgainMs = 1_000;
/** The feed says that something has happened, not to whom: an attempt's end is looked for no more often than this. */
const feedLookMs = 200;

type Clock = StoreSources['clock'];

interface Wish {
  readonly id: string;
  readonly attempt: number | undefined;
  readonly offset: number;
  readonly before: number | undefined;
  readonly limit: number;
  readonly waitMs: number;
}

export function logHandlers(deps: DataHandlerDeps): Pick<Handlers, 'log.read'> {
  return {
    'log.read': async (params) => {
      const wish = wishOf(params);
      const first = await readPage(deps, wish);
      if (wish.waitMs === 0 || hasNews(first.view)) return first.view;
      return waitForNews(deps, wish);
    },
  };
}

function wishOf(params: unknown): Wish {
  const record = recordOf(params);
  const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const limit = optionalInteger(record['limit'], 'limit', { ...bounds, min: 1 });
  const waitMs = optionalInteger(record['wait_ms'], 'wait_ms', bounds) ?? 0;
  const before = optionalInteger(record['before'], 'before', bounds);
  return {
    id: idOf(record['id']),
    attempt: optionalInteger(record['attempt'], 'attempt', bounds),
    offset: optionalInteger(record['offset'], 'offset', bounds) ?? 0,
    before,
    limit: Math.min(limit ?? eventsMax, eventsMax),
    waitMs: before === undefined ? Math.min(waitMs, waitMaxMs) : 0,
  };
}

function hasNews(page: LogPageView): boolean {
  return page.events.length > 0 || page.ended;
}

interface ReadPage {
  readonly view: LogPageView;
  /** Null while there is no attempt. */
  readonly path: string | null;
}

async function readPage(deps: DataHandlerDeps, wish: Wish): Promise<ReadPage> {
  const { before, limit, offset } = wish;
  const log = await attemptLog(deps.store.db, wish.id, wish.attempt);
  if (log.file === null) {
    const nothing = { events: [], offset: 0, next_offset: 0, size: 0, ended: log.isOver };
    return { view: { task_id: log.taskId, attempt: 0, ...nothing }, path: null };
  }
  const path = join(deps.logs, log.file);
  const bounds = { limit, bytesMax: pageBytesMax };
  const page =
    before === undefined
      ? deps.log.read(path, { fromOffset: offset, ...bounds })
      : deps.log.readBefore(path, { before, ...bounds });
  const view = {
    task_id: log.taskId,
    attempt: log.attempt,
    events: page.events,
    offset: page.offset,
    next_offset: page.nextOffset,
    size: page.size,
    ended: log.isOver && page.atEnd,
  };
  return { view, path };
}

async function waitForNews(deps: DataHandlerDeps, wish: Wish): Promise<LogPageView> {
  const { clock } = deps.store.sources;
  const endMs = clock.now() + wish.waitMs;
  const bell = new Bell(clock);
  const offFeed = deps.store.feed.onAppend(() => bell.ringSoon(feedLookMs));
  let heardPath: string | null = null;
  let offGrowth: () => void = () => {};
  try {
    for (;;) {
      // Heard of before it is read: what is written in between is not missed.
      const { view, path } = await readPage(deps, wish);
      const leftMs = endMs - clock.now();
      if (hasNews(view) || leftMs <= 0) return view;
      if (path !== null && heardPath !== path) {
        offGrowth();
        offGrowth = deps.log.onGrowth(path, () => bell.ring());
        heardPath = path;
        continue;
      }
      await bell.wait(Math.min(leftMs, lookAgainMs));
    }
  } finally {
    offFeed();
    offGrowth();
    bell.close();
  }
}

/** A ring between two waits is not lost. */
class Bell {
  readonly #clock: Clock;
  #rung = false;
  #answer: (() => void) | null = null;
  #offSoon: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#answer?.();
  }

  ringSoon(ms: number): void {
    this.#offSoon ??= this.#clock.timer(ms, () => {
      this.#offSoon = null;
      this.ring();
    });
  }

  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const off = this.#clock.timer(ms, resolve);
        this.#answer = () => {
          off();
          resolve();
        };
      });
    }
    this.#answer = null;
    this.#rung = false;
  }

  close(): void {
    this.#offSoon?.();
  }
}
