// Runs an epic on a fleet during a schedule of failures, and checks the result.

import assert from 'node:assert/strict';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type FinishedProgram, type RunningProgram, tail } from '../e2e/support/run-program.ts';
import {
  type Action,
  describeAction,
  type Moment,
  type Schedule,
  scheduleWorkers,
} from './schedule-plan.ts';
import { assertFleetDone } from './support/checks.ts';
import { wrongClock } from './support/clock.ts';
import { importEpic, layeredPlan } from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import type { Machine } from './support/machine.ts';
import { storyOf } from './support/story.ts';

export interface ScheduleResult {
  readonly doubledRuns: number;
  readonly landedFrom: ReadonlyMap<string, number>;
  /** The longest time without a landing. */
  readonly stillMs: number;
  /** The actions, in order. */
  readonly done: readonly string[];
}

const layers = 5;
const perLayer = 12;
export const scheduleTasks = layers * perLayer;
const agentsPerMachine = 2;

/**
 * Runs the epic during the schedule, and checks the result. `width` is the number of tasks in each
 * of its five layers.
 */
export async function runSchedule(
  fleet: Fleet,
  schedule: Schedule,
  width = perLayer,
): Promise<ScheduleResult> {
  const tasks = layeredPlan(new SeededChance(schedule.seed).fork('plan'), layers, width);
  const desk = fleet.machine('desk');
  desk.writeUserSettings('[fleet]\nagents = 0\n');
  await importEpic(desk, tasks);
  const stage = new Stage(fleet, schedule);
  await stage.startAll();
  const happening = schedule.actions.map((action) => stage.perform(action));
  const over = runToEnd(desk, stage).finally(() => stage.close());
  const [ended] = await Promise.all([over, ...happening]);
  const words = `${stage.done.join('\n')}\n${tail(ended.stdout)}\n${tail(ended.stderr)}`;
  assert.equal(ended.code, 0, `${words}\n${ended.code === 0 ? '' : await storyOf(fleet)}`);
  await allAreBack(fleet);
  const missing = schedule.actions.filter((action) => !stage.happened.has(action));
  assert.deepEqual(missing.map(describeAction), [], 'everything of the schedule happened');
  const done = { ...(await assertFleetDone(fleet, tasks)), done: stage.done };
  return { ...done, stillMs: await longestStandStill(fleet) };
}

/** A run whose work a server's rule refuses ends; a person then starts another one. */
async function runToEnd(desk: Machine, stage: Stage): Promise<FinishedProgram> {
  for (;;) {
    const ended = await desk.start(['run', '--workers', '6']).ended;
    if (ended.code !== 2 || !stage.refused) return ended;
    await stage.allowed();
  }
}

async function longestStandStill(fleet: Fleet): Promise<number> {
  const [row] = await fleet.query<{ still: number }>(
    `SELECT max(at_ms - before)::int AS still FROM (SELECT at_ms, lag(at_ms) OVER (ORDER BY seq) AS before
       FROM events WHERE type = 'task.completed') gaps`,
  );
  return row?.still ?? 0;
}

/** A returning machine has checked its leftovers, and could still do harm. */
async function allAreBack(fleet: Fleet): Promise<void> {
  const text = `SELECT name FROM machines WHERE state = 'working'
    AND alive_until_ms > extract(epoch from clock_timestamp()) * 1000`;
  await eventually('all machines are alive', async () => {
    const names = new Set((await fleet.query<{ name: string }>(text)).map(({ name }) => name));
    return scheduleWorkers.every((name) => names.has(name));
  });
}

const lookEveryMs = 40;
/** The round trip, as between continents. */
const slowMs = 200;
const refusal = `#!/bin/sh
case "$1" in refs/heads/drover/F-*) echo "branches are named feature/*" >&2; exit 1;; esac
`;

/** The machines' failures, possibly overlapping; it stops waiting when the run is over. */
class Stage {
  readonly #fleet: Fleet;
  readonly #schedule: Schedule;
  readonly done: string[] = [];
  readonly happened = new Set<Action>();
  readonly #over = Promise.withResolvers<void>();
  readonly #allowed = Promise.withResolvers<void>();
  #isOver = false;
  #crashing: RunningProgram | null = null;

  constructor(fleet: Fleet, schedule: Schedule) {
    this.#fleet = fleet;
    this.#schedule = schedule;
  }

  /** A server's rule has refused work, or refuses it now. */
  get refused(): boolean {
    return [...this.happened].some(({ kind }) => kind === 'rule');
  }

  /** The rule is removed, and the tasks that it blocked are resolved. */
  async allowed(): Promise<void> {
    await this.#allowed.promise;
    await this.#resolveBlocked();
  }

  close(): void {
    this.#isOver = true;
    this.#over.resolve();
  }

  async startAll(): Promise<void> {
    await Promise.all(
      scheduleWorkers.map(async (name) => {
        const machine = this.#fleet.machine(name);
        await machine.expect(0, ['init']);
        const crashing = this.#schedule.actions.find(
          (action) => action.kind === 'landing-stored' && action.machine === name,
        );
        if (crashing?.kind !== 'landing-stored') return this.#start(name);
        await this.#start(name, { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: crashing.step });
        this.#crashing = machine.worker();
      }),
    );
  }

  async #start(name: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
    const isWrong = this.#schedule.actions.find(
      (action) => action.kind === 'clock' && action.machine === name,
    );
    if (isWrong !== undefined) this.happened.add(isWrong);
    const clock = isWrong === undefined ? {} : wrongClock();
    const args = ['--agents', String(agentsPerMachine)];
    await this.#fleet.machine(name).startWorker(args, { ...clock, ...env });
  }

  async perform(action: Action): Promise<void> {
    if (action.kind === 'clock') return;
    if (action.kind === 'landing-stored') {
      const worker = this.#crashing;
      await Promise.race([worker?.ended, this.#over.promise]);
      if (this.#isOver) return;
    } else if (!(await this.#reached(action.at))) return;
    this.done.push(describeAction(action));
    this.happened.add(action);
    await this.#act(action);
  }

  async #act(action: Exclude<Action, { kind: 'clock' }>): Promise<void> {
    const fleet = this.#fleet;
    switch (action.kind) {
      case 'kill': {
        const machine = this.#fleet.machine(action.machine);
        const worker = machine.worker();
        await machine.kill();
        await pause(action.backMs);
        return this.#startAgain(action.machine, worker);
      }
      case 'cut':
        return this.#cutOff(this.#fleet.machine(action.machine), action.backMs);
      case 'cut-git':
        return this.#cutOffFrom(action, fleet.gitServer.port);
      case 'cut-database':
        return this.#cutOffFrom(action, ...fleet.databasePorts);
      case 'full-disk': {
        const free = fleet.fillDisk(action.machine);
        await pause(action.backMs);
        return free();
      }
      case 'freeze':
        return this.#freeze(action.machine, action.backMs);
      case 'drain': {
        const machine = this.#fleet.machine(action.machine);
        machine.signalWorker('SIGTERM');
        return this.#startAgain(action.machine, machine.worker());
      }
      case 'postgres':
        return fleet.restartPostgres(action.how);
      case 'fail-over':
        return fleet.failOver();
      case 'slow-links':
        fleet.road?.setDelay(slowMs);
        await pause(action.backMs);
        return fleet.road?.setDelay(0);
      case 'git-server':
        await fleet.gitServer.stop();
        await pause(action.backMs);
        return fleet.gitServer.start();
      case 'rule':
        return this.#refuse(action.backMs);
      case 'landing-killed':
        return this.#atLanding(action, (machine) => machine.killBackend());
      case 'landing-cut':
        return this.#atLanding(action, (machine) => {
          machine.host.cutOff();
          return true;
        });
      case 'landing-stored':
        return this.#startAgain(action.machine, this.#crashing);
    }
  }

  async #cutOff({ host }: Machine, backMs: number): Promise<void> {
    host.cutOff();
    await pause(backMs);
    host.reconnect();
  }

  async #cutOffFrom(
    { machine, backMs }: { readonly machine: string; readonly backMs: number },
    ...ports: readonly number[]
  ): Promise<void> {
    const { host } = this.#fleet.machine(machine);
    for (const port of ports) host.cutOffFrom(port);
    await pause(backMs);
    for (const port of ports) host.reconnectTo(port);
  }

  async #refuse(backMs: number): Promise<void> {
    const rule = join(this.#fleet.gitServer.bare, 'hooks', 'update');
    writeFileSync(rule, refusal);
    chmodSync(rule, 0o755);
    await pause(backMs);
    rmSync(rule);
    this.#allowed.resolve();
    await this.#resolveBlocked();
  }

  async #resolveBlocked(): Promise<void> {
    const text =
      "SELECT id FROM tasks WHERE status = 'blocked' AND blocked_reason IS NOT NULL ORDER BY id";
    const rows = await eventually('the database tells what is blocked', () =>
      this.#fleet.query<{ id: string }>(text).catch(() => null),
    );
    const desk = this.#fleet.machine('desk');
    for (const { id } of rows) {
      const { code } = await desk.start(['resolve', id, '--note', 'the rule is gone']).ended;
      this.done.push(`resolved ${id}: ${code}`);
    }
  }

  async #freeze(name: string, backMs: number): Promise<void> {
    const machine = this.#fleet.machine(name);
    const pid = machine.freezeBackend();
    await pause(backMs);
    if (pid !== null) machine.thaw(pid);
  }

  async #atLanding(action: Action, act: (machine: Machine) => boolean): Promise<void> {
    const { machines, gitServer } = this.#fleet;
    const owner = (from: string) => machines.find(({ host }) => host.address === from);
    const stop = new AbortController();
    const watching = setInterval(() => this.#isOver && stop.abort(), lookEveryMs);
    let worker: RunningProgram | null = null;
    const address = await gitServer
      .atNextLanding((from) => {
        const machine = owner(from);
        worker = machine?.worker() ?? null;
        return machine !== undefined && act(machine);
      }, stop.signal)
      .finally(() => clearInterval(watching));
    const machine = owner(address ?? '');
    if (machine === undefined) return void this.happened.delete(action);
    this.done.push(`it was ${machine.name}`);
    if (action.kind === 'landing-cut') return this.#cutOff(machine, action.backMs);
    // The command that runs the epic restarts its backend automatically; a worker has no such
    // command.
    if (scheduleWorkers.includes(machine.name)) await this.#startAgain(machine.name, worker);
  }

  /**
   * `ended`: the process that this action has stopped; another action may have had the same target.
   */
  async #startAgain(name: string, ended: RunningProgram | null): Promise<void> {
    const machine = this.#fleet.machine(name);
    await ended?.ended.catch(() => undefined);
    if (machine.worker() !== ended) return;
    await this.#start(name);
    this.done.push(`started again: ${name}`);
  }

  /** Returns false if the run has already ended. */
  async #reached(moment: Moment): Promise<boolean> {
    const text = 'SELECT count(*)::int AS n FROM events WHERE type = $1';
    while (!this.#isOver) {
      // While PostgreSQL restarts, nothing can be read.
      const rows = await this.#fleet.query<{ n: number }>(text, [moment.type]).catch(() => []);
      if ((rows[0]?.n ?? 0) >= moment.count) return true;
      await pause(lookEveryMs);
    }
    return false;
  }
}
