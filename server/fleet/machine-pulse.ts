// This machine in its fleet: sends heartbeats with its capacity every few seconds, and reports when
// it leaves.

import { setTimeout as delay } from 'node:timers/promises';
import { readCompatibility, leadingNumber } from '../core/compatibility.ts';
import { hostHold } from '../core/work/host-limits.ts';
import { worktreesHold } from '../core/work/worktree-room.ts';
import { type Lander, landingRank } from '../core/work/landers.ts';
import { Refusal } from '../core/failure.ts';
import { formatDuration } from '../core/format.ts';
import { droverVersion } from '../protocol/version.ts';
import { aliveAs, aliveUntilMs, beatMachine, leaveFleet } from '../store/fleet/machines.ts';
import { forgetDrainOrder } from '../store/fleet/machine-orders.ts';
import { reportMachines } from '../store/fleet/machine-events.ts';
import { MachinePlace } from './machine-place.ts';
import { hostFacts } from '../platform/host-facts.ts';
import { worktreesFolder } from '../project/project-places.ts';
import type { FleetRole, Project } from '../project/opened-project.ts';
import {
  busyByMachine,
  type DrainOrder,
  type LiveMachine,
  liveMachines,
  othersLand,
} from '../store/port.ts';
import type { Engine } from '../workflows/kit/engine-ports.ts';

/** Heartbeats within the time after which a machine counts as dead, so that a few may be lost. */
const beatsPerLife = 6;

/**
 * Share of that time after which this machine stops its own work if it cannot reach the database,
 * before other machines restart its tasks.
 */
export const ownStopPart = 0.6;

/** Share of that time for which a starting machine listens before it considers others dead. */
const startPart = 1 / 3;

const olderNote =
  'Other machines run a newer Drover, whose work this one cannot start. It finishes its own tasks and gets no new ones. Install the new version here.';

/**
 * How many heartbeats to wait for from a machine that may be this one in another place. One may be
 * late.
 */
const beatsWatched = 2.5;
const looksAtBeats = 10;

/** Clocks that a time server sets differ by less. */
const skewToldMs = 2_000;

export class MachinePulse {
  readonly #project: Project;
  readonly #engine: Engine;
  /** Called with each heartbeat while a person's order is in force. */
  onDrainOrder: (order: DrainOrder) => void = () => {};
  #isDraining = false;
  #over = false;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();
  #beatAtMs: number | null = null;
  /** The time from which a missing heartbeat proves that a machine is dead. */
  #knowsDeadFromMs = 0;

  constructor(project: Project, engine: Engine) {
    this.#project = project;
    this.#engine = engine;
  }

  /** Refuses if another machine with the same id is alive, because the folder was copied. */
  async begin(): Promise<void> {
    const { store, machineId, live, places } = this.#project;
    const present = await aliveAs(store.db, machineId);
    const isOther = present !== null && present !== live.settings.fleet.name;
    const place = new MachinePlace(places.folder);
    if (isOther || (present !== null && !place.isNoted() && (await this.#isBeating()))) {
      throw new Refusal(
        'already_running',
        `The machine "${present}" works in this fleet under the same number ${machineId}: this project's folder was copied from it. Remove .drover/machine here and start again.`,
      );
    }
    await store.transaction((tx) => forgetDrainOrder(tx, machineId));
    await this.#beat();
    const { fleet } = this.#project;
    if (fleet !== null) fleet.role.knowsDead = () => this.#knowsDead();
    place.note();
    this.#again();
  }

  /** Whether another process sends heartbeats with this machine's id. */
  async #isBeating(): Promise<boolean> {
    const { store, machineId, live } = this.#project;
    const everyMs = live.settings.fleet.takeOverAfterMs / beatsPerLife;
    const first = await aliveUntilMs(store.db, machineId);
    for (let looks = 0; looks < looksAtBeats; looks += 1) {
      await delay((everyMs * beatsWatched) / looksAtBeats);
      const next = await aliveUntilMs(store.db, machineId);
      if (next !== first) return next !== null;
    }
    return false;
  }

  /** Starts nothing new. Running work continues. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#beatNow();
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Number of agents that run here or are about to. */
  async busy(): Promise<number> {
    const { store, machineId } = this.#project;
    return (await busyByMachine(store.db)).get(machineId) ?? 0;
  }

  /**
   * Called when nothing runs here any more. If the database is unreachable, others detect it by the
   * missing heartbeat.
   */
  async leave(): Promise<void> {
    this.#over = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#beating;
    const { store, machineId } = this.#project;
    await leaveFleet(store.db, machineId)
      .then(() => reportMachines(store, false))
      .catch((error: unknown) => this.#engine.report(error, 'leaving the fleet'));
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
      .catch((error: unknown) =>
        this.#engine.report(error, 'reporting that this machine is alive'),
      );
    return this.#beating;
  }

  async #beat(): Promise<void> {
    const { store, machineId, live, places } = this.#project;
    const { fleet, machine, worktreeRoot } = live.settings;
    const busy = await this.busy();
    const facts = hostFacts(worktreesFolder(places.root, worktreeRoot))();
    const remoteHold = this.#remoteHold();
    const note = remoteHold ?? hostHold(facts, machine, busy) ?? (await this.#diskHold());
    const compatibility = readCompatibility(live.environment);
    const machines = await liveMachines(store.db);
    const leading = this.#leadingNumber(machines, compatibility, fleet.agents);
    const ageNote = leading > compatibility ? olderNote : null;
    const isHeld = note !== null || ageNote !== null;
    const room = isHeld ? Math.min(busy, fleet.agents) : fleet.agents;
    const lands = await this.#isWantedForLanding({
      // Of the machine's own limits, only a full disk prevents a gate.
      isUnable: remoteHold !== null || hostHold(facts, machine, 0) !== null,
      isLow: hostHold(facts, machine, 1) !== null,
    });
    const beat = {
      id: machineId,
      name: fleet.name,
      labels: fleet.labels,
      state: this.#isDraining ? ('draining' as const) : ('working' as const),
      agentsMax: fleet.agents,
      room: this.#isDraining ? 0 : room,
      lands,
      note: note ?? ageNote ?? this.#clockNote(),
      version: droverVersion,
      compatibility,
      aliveForMs: fleet.takeOverAfterMs,
      remoteAwayForMs: this.#remoteAwayForMs(),
    };
    const say = (): Promise<number> => beatMachine(store.db, beat);
    const { clock } = this.#project.fleet ?? {};
    await (clock === undefined ? say() : clock.comparing(say));
    this.#noteBeat(fleet.takeOverAfterMs);
    await reportMachines(store, this.#knowsDead());
    const order = machines.find(({ id }) => id === machineId)?.drainOrder ?? null;
    if (order !== null) this.onDrainOrder(order);
    const leads = leading === compatibility && !(remoteHold !== null && (await this.#isReplaced()));
    // If no other machine can land now, this one does.
    const { released } = this.#project.fleet?.role ?? {};
    if (released?.isEmpty === false && !(await othersLand(store.db, machineId))) released.clear();
    this.#setRole({ lands, leads });
  }

  async #diskHold(): Promise<string | null> {
    const { worktreesMaxBytes } = this.#project.live.settings.machine;
    if (worktreesMaxBytes === null) return null;
    return worktreesHold(await this.#engine.worktreeBytes(), worktreesMaxBytes);
  }

  #noteBeat(takeOverAfterMs: number): void {
    const nowMs = performance.now();
    // The others may also have lost the database until just now.
    if (this.#beatAtMs === null) this.#knowsDeadFromMs = nowMs + takeOverAfterMs * startPart;
    if (this.#hasMissed(nowMs, takeOverAfterMs)) this.#knowsDeadFromMs = nowMs + takeOverAfterMs;
    this.#beatAtMs = nowMs;
  }

  #hasMissed(nowMs: number, takeOverAfterMs: number): boolean {
    return this.#beatAtMs !== null && nowMs - this.#beatAtMs > takeOverAfterMs * ownStopPart;
  }

  /**
   * After the database was unreachable, every machine looks dead to the first one that reconnects.
   * The others get as long as their heartbeats last.
   */
  #knowsDead(): boolean {
    const { takeOverAfterMs } = this.#project.live.settings.fleet;
    const nowMs = performance.now();
    return !this.#hasMissed(nowMs, takeOverAfterMs) && nowMs >= this.#knowsDeadFromMs;
  }

  /** The compatibility number of the machines that assign work, including this one. */
  #leadingNumber(
    machines: readonly LiveMachine[],
    compatibility: number,
    agentsMax: number,
  ): number {
    const others = machines.filter(({ id }) => id !== this.#project.machineId);
    const own = { compatibility, isDraining: this.#isDraining, agentsMax };
    return leadingNumber([...others, own]) ?? compatibility;
  }

  /** Whether another machine of this release that reaches the git remote can assign work. */
  async #isReplaced(): Promise<boolean> {
    const { store, machineId, live } = this.#project;
    const own = readCompatibility(live.environment);
    return (await liveMachines(store.db)).some(
      ({ id, compatibility, isCutOff, isDraining }) =>
        id !== machineId && compatibility === own && !isCutOff && !isDraining,
    );
  }

  /** Times are correct anyway, except those that agents write into files and commits. */
  #clockNote(): string | null {
    const aheadMs = this.#project.fleet?.clock.aheadMs ?? 0;
    if (Math.abs(aheadMs) < skewToldMs) return null;
    const much = formatDuration(Math.abs(aheadMs));
    return `Its clock is ${much} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's; Drover uses the database's time. Set this machine's clock.`;
  }

  /**
   * Why nothing that needs the shared remote starts here. Also checks the remote again, so that the
   * hold ends.
   */
  #remoteHold(): string | null {
    const { git, live } = this.#project;
    const awayMs = this.#remoteAwayForMs();
    if (awayMs === null) return null;
    void git.sharedRemote?.probe();
    const { remote } = live.settings.fleet;
    const ago = formatDuration(Math.max(1_000, awayMs));
    return `The git remote ${remote} has not answered for ${ago}; nothing new starts and nothing lands here.`;
  }

  #remoteAwayForMs(): number | null {
    const sinceMs = this.#project.git.sharedRemote?.awaySinceMs ?? null;
    return sinceMs === null ? null : Math.max(0, Date.now() - sinceMs);
  }

  async #isWantedForLanding(host: Pick<Lander, 'isUnable' | 'isLow'>): Promise<boolean> {
    const { store, machineId, live } = this.#project;
    const { fleet, gate } = live.settings;
    const { labels, lands, agents: agentsMax } = fleet;
    const rank = landingRank({ labels, lands, agentsMax, ...host }, gate.needs);
    return rank === 'lands' || (rank === 'last' && !(await othersLand(store.db, machineId)));
  }

  #setRole(next: Pick<FleetRole, 'lands' | 'leads'>): void {
    const role = this.#project.fleet?.role;
    if (role === undefined) return;
    const isMore = (next.lands && !role.lands) || (next.leads && !role.leads);
    Object.assign(role, next);
    if (isMore) this.#engine.durable.wake();
  }
}
