// The output of a fleet's agents: stored by the machine that runs them, and copied to the disks of
// machines that read it.

import { Refusal } from '../core/failure.ts';
import type { AttemptLog } from '../store/work/attempt-log.ts';
import { outputKeptMs } from '../store/feed/log-parts.ts';
import { machineName } from '../store/feed/read-log-parts.ts';
import type { Store } from '../store/port.ts';
import type { AgentOutput } from './agent-output.ts';
import { LogMirror } from './log-mirror.ts';
import { LogShipper } from './log-shipper.ts';
import { findStored } from './stored-search.ts';

type Report = (error: unknown, where: string) => void;

export interface FleetOutputDeps {
  readonly store: Store;
  /** The log folder. */
  readonly logs: string;
  readonly machineId: string;
  /**
   * Listens for growing logs on any machine until it is canceled (`OpenedPostgresStore.onOutput`).
   */
  readonly onOutput: (heard: (file: string) => void) => () => void;
}

/**
 * How long an attempt's end waits for the database. Readers get the rest when it is reachable
 * again.
 */
const flushMaxMs = 10_000;
const catchUpPauseMs = 5_000;

export function createFleetOutput(deps: FleetOutputDeps): AgentOutput {
  const { store, machineId } = deps;
  const mirror = new LogMirror(deps);
  const news = new NewsOfLogs(deps.onOutput);
  let shipper: LogShipper | null = null;
  let catchUp: CatchUp | null = null;
  const isOurs = (log: Pick<AttemptLog, 'machine'>): boolean =>
    log.machine === machineId || log.machine === '';
  return {
    beforeRead: async (log) => {
      const { file } = log;
      if (file === null || isOurs(log)) return;
      if (await mirror.copy(file)) {
        if (log.isOver) await mirror.noteWhole(file);
        return;
      }
      const keptSinceMs = store.sources.clock.now() - outputKeptMs;
      const isDeleted = log.endedAtMs !== null && log.endedAtMs < keptSinceMs;
      const present = mirror.present(file);
      if (log.isBegun && log.isOver && isDeleted && present !== 'whole')
        throw await goneRefusal(store, log, present);
    },
    find: (logs, words) => {
      const others = logs.filter((log) => !isOurs(log)).map(({ file }) => file);
      return findStored(store, others, words);
    },
    onNews: (log, listener) =>
      log.file === null || isOurs(log) ? () => {} : news.on(log.file, listener),
    beginShipping: (report) => {
      if (shipper !== null) return;
      shipper = new LogShipper({ ...deps, report });
      catchUp = new CatchUp(shipper, report);
      catchUp.begin();
    },
    flush: async (path) => {
      if (shipper !== null) await atMost(shipper.flush(shipper.nameOf(path)), flushMaxMs);
    },
    close: async () => {
      catchUp?.stop();
      news.close();
      await shipper?.close();
    },
  };
}

async function atMost(work: Promise<void>, ms: number): Promise<void> {
  const end = Promise.withResolvers<void>();
  const timer = setTimeout(end.resolve, ms);
  await Promise.race([work, end.promise]);
  clearTimeout(timer);
}

async function goneRefusal(
  store: Store,
  log: AttemptLog,
  present: 'nothing' | 'part',
): Promise<Refusal> {
  const machine = await machineName(store.db, log.machine);
  const days = outputKeptMs / 86_400_000;
  const words = `The output of ${log.taskId} in attempt ${log.attempt} is kept for other machines until ${days} days after its end, which are over. The machine ${machine} has it: .drover/logs/${log.file}`;
  const more = present === 'part' ? '; the same file here holds its beginning' : '';
  return new Refusal('output_gone', `${words}${more}.`);
}

/** Stores what an earlier process left, and retries until it is stored. */
class CatchUp {
  readonly #shipper: LogShipper;
  readonly #report: Report;
  #isStopped = false;
  #hasFailed = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(shipper: LogShipper, report: Report) {
    this.#shipper = shipper;
    this.#report = report;
  }

  begin(): void {
    this.#shipper.catchUp().catch((error: unknown) => {
      if (!this.#hasFailed) this.#report(error, "storing agents' output of an earlier life");
      this.#hasFailed = true;
      if (!this.#isStopped) this.#timer = setTimeout(() => this.begin(), catchUpPauseMs).unref();
    });
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** Listens while a reader waits. */
class NewsOfLogs {
  readonly #listen: FleetOutputDeps['onOutput'];
  readonly #listeners = new Map<string, Set<() => void>>();
  #off: (() => void) | null = null;

  constructor(listen: FleetOutputDeps['onOutput']) {
    this.#listen = listen;
  }

  on(file: string, listener: () => void): () => void {
    const present = this.#listeners.get(file) ?? new Set();
    this.#listeners.set(file, present.add(listener));
    this.#off ??= this.#listen((heard) => {
      for (const told of this.#listeners.get(heard) ?? []) told();
    });
    return () => {
      present.delete(listener);
      if (present.size === 0 && this.#listeners.get(file) === present) this.#listeners.delete(file);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#off?.();
    this.#off = null;
  }
}
