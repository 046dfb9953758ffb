// This machine's place in its fleet: it says every few seconds that it is alive and how many agents it can bear, and takes
// its leave at the end.

import { machineHold } from '../core/machine.ts';
import { Refusal } from '../core/failure.ts';
import { droverVersion } from '../protocol/version.ts';
import { aliveAs, beatMachine, busyByMachine, leaveFleet } from '../store/machines.ts';
import type { Engine } from '../workflows/engine.ts';
import { handedOver } from '../workflows/placement.ts';
import type { Project } from './project.ts';
import { machineFacts } from './machine-facts.ts';
import { worktreesOf } from './places.ts';

/** Beats in the time after which a machine counts as dead: a few may be lost. */
const beatsPerLife = 6;

/**
 * Part of that time after which this machine stops its own work when it can't reach the database: its agents have ended
 * before others begin anew.
 */
export const ownStopPart = 0.6;

export class MachinePulse {
  readonly #project: Project;
  readonly #engine: Engine;
  #isDraining = false;
  #over = false;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();

  constructor(project: Project, engine: Engine) {
    this.#project = project;
    this.#engine = engine;
  }

  /** Refuses when another machine is alive under the same name: a copied folder. */
  async begin(): Promise<void> {
    const { store, machineId, live } = this.#project;
    const present = await aliveAs(store.db, machineId);
    if (present !== null && present !== live.settings.fleet.name) {
      throw new Refusal(
        'already_running',
        `The machine "${present}" works in this fleet under the same number ${machineId}: this project's folder was copied from it. Remove .drover/machine here and start again.`,
      );
    }
    await this.#beat();
    this.#again();
  }

  /** Starts nothing new; what is at work goes on. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#beatNow();
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Agents at work here, or about to be. */
  async busy(): Promise<number> {
    const { store, machineId } = this.#project;
    return (await busyByMachine(store.db, handedOver)).get(machineId) ?? 0;
  }

  /** Nothing runs here any more. When the database is away, the others find out by themselves. */
  async leave(): Promise<void> {
    this.#over = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#beating;
    await leaveFleet(this.#project.store.db, this.#project.machineId).catch((error: unknown) =>
      this.#engine.report(error, 'leaving the fleet'),
    );
  }

  #again(): void {
    if (this.#over) return;
    const everyMs = this.#project.live.settings.fleet.takeOverAfterMs / beatsPerLife;
    this.#timer = setTimeout(() => {
      void this.#beatNow().then(() => this.#again());
    }, everyMs);
  }

  /** Never rejects. */
  #beatNow(): Promise<void> {
    this.#beating = this.#beating
      .then(() => (this.#over ? undefined : this.#beat()))
      .catch((error: unknown) => this.#engine.report(error, 'saying that this machine is alive'));
    return this.#beating;
  }

  async #beat(): Promise<void> {
    const { store, machineId, live, places } = this.#project;
    const { fleet, machine, worktreeRoot } = live.settings;
    const busy = await this.busy();
    const facts = machineFacts(worktreesOf(places.root, worktreeRoot))();
    const note = machineHold(facts, machine, busy);
    const room = note === null ? fleet.agents : Math.min(busy, fleet.agents);
    await beatMachine(store.db, {
      id: machineId,
      name: fleet.name,
      labels: fleet.labels,
      state: this.#isDraining ? 'draining' : 'working',
      agentsMax: fleet.agents,
      room: this.#isDraining ? 0 : room,
      note,
      version: droverVersion,
      aliveForMs: fleet.takeOverAfterMs,
    });
  }
}
