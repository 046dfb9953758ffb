// Seeded schedules of what can happen to a fleet during an epic, each at a time that the feed of
// events determines.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type RunningProgram, tail } from '../e2e/support/run-program.ts';
import { assertFleetDone } from './support/checks.ts';
import { fleetSettings, importEpic, layeredPlan, variedAgent } from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import type { Machine } from './support/machine.ts';
import { storyOf } from './support/story.ts';
import { startWorkers } from './support/workers.ts';

/** When the feed holds so many events of the type. */
interface Moment {
  readonly type: string;
  readonly count: number;
}

type Action =
  | {
      readonly kind: 'kill';
      readonly at: Moment;
      readonly machine: string;
      readonly backMs: number;
    }
  | { readonly kind: 'cut'; readonly at: Moment; readonly machine: string; readonly backMs: number }
  | {
      readonly kind: 'freeze';
      readonly at: Moment;
      readonly machine: string;
      readonly backMs: number;
    }
  | { readonly kind: 'drain'; readonly at: Moment; readonly machine: string }
  | { readonly kind: 'postgres'; readonly at: Moment; readonly how: 'fast' | 'kill' }
  | { readonly kind: 'git-server'; readonly at: Moment; readonly backMs: number }
  | { readonly kind: 'landing-killed'; readonly at: Moment }
  | { readonly kind: 'landing-cut'; readonly at: Moment; readonly backMs: number }
  /** `verified`: what it has merged is in its clone alone. */
  | {
      readonly kind: 'landing-stored';
      readonly machine: string;
      readonly step: 'verified' | 'merged';
    };

export interface Schedule {
  readonly seed: number;
  readonly actions: readonly Action[];
}

export interface ScheduleResult {
  readonly doubledRuns: number;
  readonly landedFrom: ReadonlyMap<string, number>;
  /** What was done, in its order. */
  readonly done: readonly string[];
}

export const scheduleWorkers = ['north', 'east', 'south'];
export const scheduleMachines = [...scheduleWorkers, 'desk'];
export const scheduleOptions = {
  machines: scheduleMachines,
  agent: variedAgent,
  settings: fleetSettings,
};

const layers = 4;
const perLayer = 6;
const taskCount = layers * perLayer;
const agentsPerMachine = 2;
const momentTypes = ['task.started', 'worktree.ready', 'task.committed', 'task.completed'];

export function makeSchedule(seed: number, cutMs: number): Schedule {
  const chance = new SeededChance(seed).fork('schedule');
  // The last ones leave the run time to notice.
  const at = (): Moment => ({ type: chance.pick(momentTypes), count: chance.between(1, 18) });
  const worker = (): string => chance.pick(scheduleWorkers);
  const landing: readonly Action[] = [
    { kind: 'landing-killed', at: at() },
    { kind: 'landing-cut', at: at(), backMs: cutMs },
    { kind: 'landing-stored', machine: worker(), step: seed % 2 === 0 ? 'verified' : 'merged' },
  ];
  const more: readonly Action[] = [
    { kind: 'freeze', at: at(), machine: chance.pick(scheduleMachines), backMs: cutMs },
    { kind: 'drain', at: at(), machine: worker() },
    { kind: 'git-server', at: at(), backMs: chance.below(6_000) },
  ];
  const actions: Action[] = [
    { kind: 'kill', at: at(), machine: worker(), backMs: chance.below(9_000) },
    { kind: 'cut', at: at(), machine: chance.pick(scheduleMachines), backMs: cutMs },
    { kind: 'postgres', at: at(), how: chance.percent(50) ? 'fast' : 'kill' },
    // Each of them comes once in three seeds that follow each other.
    landing[seed % landing.length] as Action,
    chance.pick(more),
  ];
  return { seed, actions };
}

export function describeAction(action: Action): string {
  const when = 'at' in action ? ` at ${action.at.type} ${action.at.count}` : '';
  const back = 'backMs' in action ? ` for ${(action.backMs / 1_000).toFixed(1)} s` : '';
  switch (action.kind) {
    case 'kill':
      return `kill ${action.machine}${when}${back}`;
    case 'cut':
      return `cut off ${action.machine}${when}${back}`;
    case 'freeze':
      return `freeze the backend of ${action.machine}${when}${back}`;
    case 'drain':
      return `drain ${action.machine} and start it again${when}`;
    case 'postgres':
      return `restart PostgreSQL (${action.how})${when}`;
    case 'git-server':
      return `kill the git server${when}${back}`;
    case 'landing-killed':
      return `kill who lands, between push and answer${when}`;
    case 'landing-cut':
      return `cut off who lands, between push and answer${when}${back}`;
    case 'landing-stored':
      return `${action.machine} dies when it has stored its first "${action.step}"`;
  }
}

/** Runs the epic while the schedule happens, and checks what came of it. */
export async function runSchedule(fleet: Fleet, schedule: Schedule): Promise<ScheduleResult> {
  const tasks = layeredPlan(new SeededChance(schedule.seed).fork('plan'), layers, perLayer);
  const desk = fleet.machine('desk');
  desk.writeUserSettings('[fleet]\nagents = 0\n');
  await importEpic(desk, tasks);
  const stage = new Stage(fleet);
  const crashing = schedule.actions.find((action) => action.kind === 'landing-stored');
  const others = scheduleWorkers.filter((name) => name !== crashing?.machine);
  await startWorkers(fleet, others, agentsPerMachine);
  if (crashing !== undefined) await stage.startCrashing(crashing.machine, crashing.step);
  const run = desk.start(['run', '--workers', '6']);
  const happening = schedule.actions.map((action) => stage.perform(action));
  const over = run.ended.finally(() => stage.close());
  const [ended] = await Promise.all([over, ...happening]);
  const words = `${stage.done.join('\n')}\n${tail(ended.stdout)}\n${tail(ended.stderr)}`;
  assert.equal(ended.code, 0, `${words}\n${ended.code === 0 ? '' : await storyOf(fleet)}`);
  assert.match(ended.stdout, new RegExp(`${taskCount} completed`), words);
  await allAreBack(fleet);
  const missing = schedule.actions.filter((action) => !stage.happened.has(action));
  assert.deepEqual(missing.map(describeAction), [], 'everything of the schedule happened');
  return { ...(await assertFleetDone(fleet, tasks)), done: stage.done };
}

/** A returning machine has checked what it left, and could still do harm. */
async function allAreBack(fleet: Fleet): Promise<void> {
  const text = `SELECT name FROM machines WHERE state = 'working'
    AND alive_until_ms > extract(epoch from clock_timestamp()) * 1000`;
  await eventually('all machines are alive', async () => {
    const names = new Set((await fleet.query<{ name: string }>(text)).map(({ name }) => name));
    return scheduleWorkers.every((name) => names.has(name));
  });
}

const lookEveryMs = 40;

/** What happens to the machines, one action beside the other; it stops waiting when the run is over. */
class Stage {
  readonly #fleet: Fleet;
  readonly done: string[] = [];
  readonly happened = new Set<Action>();
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;
  #crashing: RunningProgram | null = null;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  close(): void {
    this.#isOver = true;
    this.#over.resolve();
  }

  async startCrashing(name: string, step: string): Promise<void> {
    const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: step };
    const args = ['--agents', String(agentsPerMachine)];
    const machine = this.#fleet.machine(name);
    await machine.expect(0, ['init']);
    await machine.startWorker(args, env);
    this.#crashing = machine.worker();
  }

  async perform(action: Action): Promise<void> {
    if (action.kind === 'landing-stored') {
      const worker = this.#crashing;
      await Promise.race([worker?.ended, this.#over.promise]);
      if (this.#isOver) return;
    } else if (!(await this.#reached(action.at))) return;
    this.done.push(describeAction(action));
    this.happened.add(action);
    await this.#act(action);
  }

  async #act(action: Action): Promise<void> {
    const { gitServer } = this.#fleet;
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
      case 'freeze':
        return this.#freeze(action.machine, action.backMs);
      case 'drain': {
        const machine = this.#fleet.machine(action.machine);
        machine.signalWorker('SIGTERM');
        return this.#startAgain(action.machine, machine.worker());
      }
      case 'postgres':
        return this.#fleet.restartPostgres(action.how);
      case 'git-server':
        await gitServer.stop();
        await pause(action.backMs);
        return gitServer.start();
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

  /** `ended`: the one that this action has stopped; another action may have had the same target. */
  async #startAgain(name: string, ended: RunningProgram | null): Promise<void> {
    const machine = this.#fleet.machine(name);
    await ended?.ended.catch(() => undefined);
    if (machine.worker() !== ended) return;
    await machine.startWorker(['--agents', String(agentsPerMachine)]);
    this.done.push(`started again: ${name}`);
  }

  /** False: the run is over before. */
  async #reached(moment: Moment): Promise<boolean> {
    const text = 'SELECT count(*)::int AS n FROM events WHERE type = $1';
    while (!this.#isOver) {
      // While PostgreSQL restarts there is nothing to see.
      const rows = await this.#fleet.query<{ n: number }>(text, [moment.type]).catch(() => []);
      if ((rows[0]?.n ?? 0) >= moment.count) return true;
      await pause(lookEveryMs);
    }
    return false;
  }
}
