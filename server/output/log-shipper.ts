// Stores the output of this machine's agents as it is written, for readers on other machines.
//
// The files are authoritative: output that was not stored (the database was unreachable, this
// process was killed) is read from them again. Stored output only grows at its end, under the rules
// of server/store/feed/log-parts.ts.

import { relative, sep } from 'node:path';
import { onAnyLogGrowth } from '../agents/kit/log/log-growth.ts';
import {
  appendParts,
  attemptsToShip,
  dropParts,
  parseLogName,
  outputKeptMs,
} from '../store/feed/log-parts.ts';
import { inParts, type Store } from '../store/port.ts';
import { compareWithStored } from './compare-stored.ts';
import { logsOfAttempt } from './log-files.ts';
import { type NextChain, ShippedLog } from './shipped-log.ts';

export interface LogShipperDeps {
  readonly store: Store;
  /** The log folder. */
  readonly logs: string;
  readonly machineId: string;
  readonly report: (error: unknown, where: string) => void;
}

/** Growth within this time is stored with one statement. */
const coalesceMs = 150;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** Maximum number of logs and bytes per statement. One log alone may exceed it for a long line. */
const logsAtOnce = 32;
const batchBytesMax = 2 * 1024 * 1024;
/** Beyond this number, inactive logs are forgotten. They are read again when they grow. */
const knownLogsMax = 500;
const attemptsMax = 5_000;
const closeMaxMs = 5_000;

interface Turn {
  readonly log: ShippedLog;
  readonly chain: NextChain;
}

export class LogShipper {
  readonly #deps: LogShipperDeps;
  readonly #logs = new Map<string, ShippedLog>();
  /** Logs that have grown or that callers wait for, in order. */
  readonly #grown = new Set<ShippedLog>();
  readonly #offGrowth: () => void;
  #timer: NodeJS.Timeout | null = null;
  #working: Promise<void> | null = null;
  /** Resolves with the next problem. */
  #trouble = Promise.withResolvers<void>();
  #pauseMs = 0;
  #isClosed = false;

  constructor(deps: LogShipperDeps) {
    this.#deps = deps;
    this.#offGrowth = onAnyLogGrowth((path) => {
      if (this.#take(this.nameOf(path)) !== null) this.#soon(coalesceMs);
    });
  }

  /** The log's name in the database. */
  nameOf(path: string): string {
    return relative(this.#deps.logs, path).replaceAll(sep, '/');
  }

  /** Stores output that an earlier process of this machine left. */
  async catchUp(): Promise<void> {
    const { store, machineId, logs } = this.#deps;
    const sinceMs = store.sources.clock.now() - outputKeptMs;
    const attempts = await attemptsToShip(store.db, machineId, sinceMs, attemptsMax);
    for (const some of inParts(attempts, logsAtOnce)) {
      const files = some.flatMap(({ taskId, attempt }) => logsOfAttempt(logs, taskId, attempt));
      await Promise.all(files.map((file) => this.flush(file)));
    }
  }

  async flush(file: string): Promise<void> {
    const log = this.#isClosed ? null : this.#take(file);
    if (log === null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    log.waiters.push(resolve);
    // Once the database is unreachable, its pause applies to all.
    if (this.#pauseMs === 0) this.#soon(0);
    await promise;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#offGrowth();
    const end = Promise.withResolvers<void>();
    const timer = setTimeout(end.resolve, closeMaxMs);
    // One more turn. If the database is unreachable, this machine's next backend does it.
    if (this.#pauseMs === 0) {
      const all = [...this.#grown].map((log) => this.flush(log.name.file));
      await Promise.race([Promise.all(all), end.promise, this.#trouble.promise]);
    }
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const log of this.#logs.values()) this.#answer(log);
    await Promise.race([this.#working, end.promise]);
    clearTimeout(timer);
  }

  #take(file: string): ShippedLog | null {
    const known = this.#logs.get(file);
    const name = known?.name ?? parseLogName(file);
    if (name === null) return null;
    const log = known ?? new ShippedLog(name);
    this.#logs.delete(file);
    this.#logs.set(file, log);
    this.#grown.add(log);
    this.#forgetOldest();
    return log;
  }

  #forgetOldest(): void {
    for (const [file, log] of this.#logs) {
      if (this.#logs.size <= knownLogsMax) return;
      if (!log.isAtWork && !this.#grown.has(log)) this.#logs.delete(file);
    }
  }

  #soon(ms: number): void {
    if (this.#isClosed || this.#working !== null) return;
    if (this.#timer !== null) {
      if (ms > 0) return;
      clearTimeout(this.#timer);
    }
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#working = this.#work().finally(() => {
        this.#working = null;
        const isWaitedFor = [...this.#grown].some((log) => log.waiters.length > 0);
        if (this.#grown.size > 0)
          this.#soon(this.#pauseMs > 0 ? this.#pauseMs : isWaitedFor ? 0 : coalesceMs);
      });
    }, ms);
  }

  /** Stores the output written before it started. */
  async #work(): Promise<void> {
    let left: readonly ShippedLog[] = [...this.#grown];
    while (left.length > 0 && !this.#isClosed) {
      const some = left.slice(0, logsAtOnce);
      for (const log of left) log.isAtWork = true;
      try {
        const unfinished = await this.#ship(some);
        for (const log of some) log.isAtWork = false;
        left = [...left.slice(logsAtOnce), ...unfinished];
        this.#pauseMs = 0;
      } catch (error) {
        this.#fail(some, left, error);
        return;
      }
    }
  }

  #fail(asked: readonly ShippedLog[], left: readonly ShippedLog[], error: unknown): void {
    // It is unknown whether the last statement was executed.
    for (const log of asked) log.forget();
    for (const log of left) {
      log.isAtWork = false;
      this.#grown.add(log);
    }
    if (this.#pauseMs === 0) this.#deps.report(error, "storing agents' output");
    this.#pauseMs = Math.min(Math.max(firstPauseMs, this.#pauseMs * 2), longestPauseMs);
    this.#trouble.resolve();
    this.#trouble = Promise.withResolvers<void>();
  }

  /** Stores all of them with one statement. Resolves with the logs that have more. */
  async #ship(logs: readonly ShippedLog[]): Promise<readonly ShippedLog[]> {
    const waiters = new Map(logs.map((log) => [log, log.waiters]));
    for (const log of logs) {
      this.#grown.delete(log);
      log.waiters = [];
    }
    let unfinished: readonly ShippedLog[] = logs;
    try {
      await this.#look(logs.filter((log) => !log.isKnown));
      const ours = logs.filter((log) => log.isKnown);
      unfinished = await this.#append(ours);
    } finally {
      for (const [log, waiting] of waiters) log.waiters.unshift(...waiting);
    }
    for (const log of logs) if (!unfinished.includes(log)) this.#answer(log, waiters.get(log));
    return unfinished;
  }

  /** Compares stored parts of logs with the files, and forgets logs of other machines. */
  async #look(logs: readonly ShippedLog[]): Promise<void> {
    if (logs.length === 0) return;
    const { store, machineId } = this.#deps;
    await compareWithStored({ db: store.db, logs: this.#deps.logs, machineId }, logs);
  }

  async #append(logs: readonly ShippedLog[]): Promise<readonly ShippedLog[]> {
    const unfinished: ShippedLog[] = [];
    const turns: Turn[] = [];
    let bytes = 0;
    for (const log of logs) {
      const next = bytes >= batchBytesMax ? 'later' : log.next(this.#deps.logs);
      if (next === null) continue;
      if (next === 'look') log.forget();
      if (next === 'look' || next === 'later') {
        unfinished.push(log);
        continue;
      }
      turns.push({ log, chain: next });
      bytes += next.parts.reduce((sum, part) => sum + part.size, 0);
    }
    const refused = await this.#store(turns);
    // After the following parts were stored, so that no reader finds less than before.
    await this.#drop(logs);
    for (const turn of turns)
      if (refused.includes(turn) || !turn.chain.isAll) unfinished.push(turn.log);
    return unfinished;
  }

  /** Resolves with the logs that must be read again. */
  async #store(turns: readonly Turn[]): Promise<readonly Turn[]> {
    if (turns.length === 0) return [];
    const { store, machineId } = this.#deps;
    const chains = turns.map(({ log, chain }) => ({
      log: log.name,
      file: chain.file.file,
      after: chain.after,
      parts: chain.parts,
    }));
    const taken = await appendParts(store.db, machineId, chains);
    const refused = turns.filter(({ chain }) => !taken.has(chain.file.file));
    for (const turn of turns) {
      if (!refused.includes(turn)) turn.log.took(turn.chain);
      else if (turn.log.isRefused()) throw new Error(`${turn.chain.file.file} cannot be stored`);
    }
    return refused;
  }

  async #drop(logs: readonly ShippedLog[]): Promise<void> {
    const { store, machineId } = this.#deps;
    for (const log of logs) {
      for (const file of log.takeDropped())
        await dropParts(store.db, machineId, { log: log.name, file, from: 0 });
    }
  }

  #answer(log: ShippedLog, waiting: readonly (() => void)[] = log.waiters): void {
    log.waiters = log.waiters.filter((waiter) => !waiting.includes(waiter));
    for (const waiter of waiting) waiter();
  }
}
