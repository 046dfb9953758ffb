// A worker's additions to a backend: reports tasks that start and end on this machine, drains at a
// signal, and releases its tasks at a second one.

import type { EventView } from '../protocol/api.ts';
import type { WorkerNote, WorkerOptions } from '../protocol/worker-notes.ts';
import { droverVersion } from '../protocol/version.ts';
import { type MachineWork, machineWork } from '../store/port.ts';
import { type DrainedMachine, MachineDrain } from './machine-drain.ts';

/**
 * A terminal sends Ctrl-C to the whole group and a launcher forwards it. Both arrive within this
 * time.
 */
const sameSignalMs = 250;
const lookAgainMs = 2_000;
/** Events within this time on any machine of the fleet are read together. */
const gatherMs = 100;
/** Maximum number of events read at once. */
const pageSize = 500;

export class WorkerWatch {
  readonly #worker: DrainedMachine;
  readonly #request: Pick<WorkerOptions, 'drainMaxMs' | 'tell'>;
  /** The last reported work by task: running, or ended a short while ago. */
  readonly #told = new Map<string, { readonly work: MachineWork; isOver: boolean }>();
  #seq = 0;
  #firstSignalMs: number | null = null;
  readonly #drain: MachineDrain;
  #looking: Promise<void> = Promise.resolve();
  #isAsked = false;
  #soon: NodeJS.Timeout | undefined;
  #hasLooked = false;
  #isOver = false;
  readonly #stops: (() => void)[] = [];

  constructor(worker: DrainedMachine, request: Pick<WorkerOptions, 'drainMaxMs' | 'tell'>) {
    this.#worker = worker;
    this.#request = request;
    const notes = {
      draining: () => this.#tell({ type: 'draining', tasks: this.#running() }),
      givingBack: () => this.#tell({ type: 'giving_back', tasks: this.#running() }),
    };
    this.#drain = new MachineDrain(worker, notes, request.drainMaxMs);
  }

  async begin(): Promise<void> {
    const { project } = this.#worker;
    const { store, machineId, live, fleet } = project;
    const { name, labels, agents, remote } = live.settings.fleet;
    const onSignal = (): void => this.#signal();
    // The handlers stay until the process ends, because a late signal must not change the exit
    // code.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, onSignal);
    }
    this.#seq = await store.feed.lastSeq();
    const database = fleet?.shown ?? '';
    const facts = { machine: name, id: machineId, labels, agents, database, remote };
    this.#tell({ type: 'ready', ...facts, version: droverVersion });
    this.#stops.push(store.feed.onAppend(() => this.#lookSoon()));
    this.#stops.push(() => clearTimeout(this.#soon));
    const timer = setInterval(() => this.#look(), lookAgainMs);
    this.#stops.push(() => clearInterval(timer));
    this.#look();
  }

  /** Called after the last agent has ended. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const stop of this.#stops) stop();
    this.#drain.end();
    await this.#looking;
    this.#tell({ type: 'over', given_back: this.#drain.givenBack });
  }

  #report(error: unknown, where: string): void {
    this.#worker.engine.report(error, where);
  }

  #tell(note: WithoutTime<WorkerNote>): void {
    this.#request.tell({ ...note, at_ms: Date.now() });
  }

  #lookSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#look();
    }, gatherMs);
  }

  /** Runs one check at a time. Never rejects. */
  #look(): void {
    if (this.#isAsked || this.#isOver) return;
    this.#isAsked = true;
    this.#looking = this.#looking
      .then(async () => {
        this.#isAsked = false;
        await this.#lookOnce();
      })
      .catch((error: unknown) => this.#report(error, 'reporting the work of this machine'));
  }

  async #lookOnce(): Promise<void> {
    const { store, machineId } = this.#worker.project;
    if (!this.#hasLooked) {
      // Work that an earlier backend left running here.
      const works = await machineWork(store.db, machineId);
      this.#hasLooked = true;
      for (const work of works) if (work.isAtWork) this.#begun(work);
    }
    for (let isMore = true; isMore && !this.#isOver;) {
      const events = await store.feed.read({ after: this.#seq, limit: pageSize });
      const touched = new Set(events.flatMap((event) => event.task_id ?? []));
      if (touched.size > 0) {
        const claims = new Set(events.filter(isClaim).map(claimName));
        const works = await machineWork(store.db, machineId, [...touched]);
        for (const work of works) this.#see(work, claims.has(`${work.taskId}/${work.attempt}`));
      }
      this.#seq = events.at(-1)?.seq ?? this.#seq;
      isMore = events.length === pageSize;
    }
    if (this.#drain.hasBegun) await this.#drain.look();
  }

  /** `isClaimed`: it started since the last check, but may also have ended. */
  #see(work: MachineWork, isClaimed: boolean): void {
    const known = this.#told.get(work.taskId);
    if (known?.work.epoch !== work.epoch && (isClaimed || work.isAtWork)) this.#begun(work);
    const now = this.#told.get(work.taskId);
    if (now?.work.epoch === work.epoch && !work.isAtWork && !now.isOver) this.#ended(work);
  }

  #begun(work: MachineWork): void {
    const { taskId, title, attempt, agent, model } = work;
    this.#told.delete(taskId);
    this.#told.set(taskId, { work, isOver: false });
    this.#forgetOld();
    this.#tell({ type: 'begun', task_id: taskId, title, attempt, agent, model });
  }

  #ended(work: MachineWork): void {
    const { taskId, attempt, outcome, error, startedAtMs } = work;
    this.#told.set(taskId, { work, isOver: true });
    const nowMs = this.#worker.project.store.sources.clock.now();
    const workedMs = Math.max(0, nowMs - startedAtMs);
    this.#tell({ type: 'ended', task_id: taskId, attempt, outcome, worked_ms: workedMs, error });
  }

  #forgetOld(): void {
    for (const [id, { isOver }] of this.#told) {
      if (this.#told.size <= toldMax) return;
      if (isOver) this.#told.delete(id);
    }
  }

  #signal(): void {
    const now = Date.now();
    if (this.#firstSignalMs === null) {
      this.#firstSignalMs = now;
      if (!this.#drain.hasBegun) return this.#drain.begin();
    }
    if (now - this.#firstSignalMs > sameSignalMs) this.#drain.giveBack('a second signal');
  }

  #running(): readonly string[] {
    return [...this.#told].flatMap(([id, { isOver }]) => (isOver ? [] : [id]));
  }
}

function isClaim({ type, data }: EventView): boolean {
  return ['task.claimed', 'task.resumed'].includes(type) && data['worker'] !== undefined;
}

function claimName({ task_id: id, data }: EventView): string {
  return `${id ?? ''}/${Number(data['attempt'])}`;
}

/** Ended work is remembered for a while, so that it is reported once. */
const toldMax = 1_000;

type WithoutTime<N extends WorkerNote> = N extends WorkerNote ? Omit<N, 'at_ms'> : never;
