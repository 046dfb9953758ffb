// Drains this machine: it starts nothing new, waits for running work, releases work that waits only
// for an unreachable git remote, and leaves when nothing runs.

import { isDrained, machineWork } from '../store/port.ts';
import { releaseTasks } from '../workflows/person/give-back.ts';
import type { Engine } from '../workflows/kit/engine-ports.ts';
import type { Project } from '../project/opened-project.ts';
import type { MachinePulse } from './machine-pulse.ts';

export interface DrainedMachine {
  readonly project: Project;
  readonly engine: Engine;
  readonly pulse: MachinePulse;
  readonly leave: (reason: string) => void;
}

export interface DrainNotes {
  readonly draining: () => void;
  readonly givingBack: () => void;
}

const lookAgainMs = 2_000;
/** After this time, another machine has the work if it could be sent to one. */
const unpushedMaxMs = 20_000;

export class MachineDrain {
  readonly #machine: DrainedMachine;
  readonly #notes: DrainNotes;
  readonly #maxMs: number | null;
  #hasBegun = false;
  #isOver = false;
  #isGivingBack = false;
  #givenBack: readonly string[] = [];
  readonly #timers: NodeJS.Timeout[] = [];

  /** `maxMs`: work that still runs after this time is released; null = never. */
  constructor(machine: DrainedMachine, notes: DrainNotes, maxMs: number | null) {
    this.#machine = machine;
    this.#notes = notes;
    this.#maxMs = maxMs;
    machine.pulse.onDrainOrder = (order) => {
      this.begin();
      if (order === 'release') this.giveBack('a person asked for it');
    };
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Tasks that it released. */
  get givenBack(): readonly string[] {
    return this.#givenBack;
  }

  begin(): void {
    if (this.#hasBegun || this.#isOver) return;
    this.#hasBegun = true;
    this.#notes.draining();
    if (this.#maxMs !== null)
      this.#timers.push(setTimeout(() => this.giveBack('the end of the drain'), this.#maxMs));
    this.#timers.push(setInterval(() => void this.look(), lookAgainMs));
    void this.#machine.pulse.drain().then(() => this.look());
  }

  end(): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Never rejects. */
  async look(): Promise<void> {
    await this.#endWhenDrained().catch((error: unknown) => this.#report(error, 'draining'));
  }

  giveBack(reason: string): void {
    if (this.#isGivingBack || this.#isOver) return;
    this.#isGivingBack = true;
    const { engine, project, leave } = this.#machine;
    const { name } = project.live.settings.fleet;
    this.#notes.givingBack();
    releaseTasks(engine, `its machine ${name} was stopped`)
      .then((ids) => {
        this.#givenBack = ids;
      })
      .catch((error: unknown) => this.#report(error, 'giving tasks back'))
      .finally(() => leave(reason));
  }

  #report(error: unknown, where: string): void {
    this.#machine.engine.report(error, where);
  }

  async #endWhenDrained(): Promise<void> {
    const { pulse, project, leave } = this.#machine;
    if (!pulse.isDraining || this.#isOver) return;
    const { store, machineId } = project;
    if ((await pulse.busy()) > 0) {
      if (!this.#isGivingBack && (await this.#isOnlyUnpushed()))
        this.giveBack('the git remote does not answer');
      return;
    }
    if (await store.transaction((tx) => isDrained(tx, machineId))) leave('drained');
  }

  /** Whether all remaining work waits only for the git remote, which may never respond again. */
  async #isOnlyUnpushed(): Promise<boolean> {
    const { store, machineId, git } = this.#machine.project;
    const sinceMs = git.sharedRemote?.awaySinceMs ?? null;
    if (sinceMs === null || Date.now() - sinceMs < unpushedMaxMs) return false;
    const work = await machineWork(store.db, machineId);
    return work.every(({ isAtWork, usesRemote }) => !isAtWork || usesRemote);
  }
}
