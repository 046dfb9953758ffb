// Seeded schedules of what can happen to a fleet in the middle of an epic, each at a moment that the feed of events tells.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { tail } from '../e2e/support/run-program.ts';
import { assertFleetDone } from './support/checks.ts';
import { countedAgent, fleetSettings, importEpic, layeredPlan } from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
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
  | { readonly kind: 'postgres'; readonly at: Moment; readonly how: 'fast' | 'kill' }
  | { readonly kind: 'landing-pushed'; readonly at: Moment }
  | { readonly kind: 'landing-merged'; readonly machine: string };

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
  agent: countedAgent,
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
  const actions: Action[] = [
    { kind: 'kill', at: at(), machine: chance.pick(scheduleWorkers), backMs: chance.below(9_000) },
    { kind: 'cut', at: at(), machine: chance.pick(scheduleMachines), backMs: cutMs },
    { kind: 'postgres', at: at(), how: chance.percent(50) ? 'fast' : 'kill' },
    chance.percent(60)
      ? { kind: 'landing-pushed', at: at() }
      : { kind: 'landing-merged', machine: chance.pick(scheduleWorkers) },
  ];
  return { seed, actions };
}

export function describeAction(action: Action): string {
  const when = 'at' in action ? ` at ${action.at.type} ${action.at.count}` : '';
  switch (action.kind) {
    case 'kill':
      return `kill ${action.machine}${when}, back after ${action.backMs} ms`;
    case 'cut':
      return `cut off ${action.machine}${when} for ${action.backMs} ms`;
    case 'postgres':
      return `restart PostgreSQL (${action.how})${when}`;
    case 'landing-pushed':
      return `kill the owner of a landing between push and answer${when}`;
    case 'landing-merged':
      return `${action.machine} dies when its first merge is stored`;
  }
}

/** Runs the epic while the schedule happens, and checks what came of it. */
export async function runSchedule(fleet: Fleet, schedule: Schedule): Promise<ScheduleResult> {
  const tasks = layeredPlan(new SeededChance(schedule.seed).fork('plan'), layers, perLayer);
  const desk = fleet.machine('desk');
  desk.writeUserSettings('[fleet]\nagents = 0\n');
  await importEpic(desk, tasks);
  const stage = new Stage(fleet);
  const crashing = schedule.actions.find((action) => action.kind === 'landing-merged')?.machine;
  const others = scheduleWorkers.filter((name) => name !== crashing);
  await startWorkers(fleet, others, agentsPerMachine);
  if (crashing !== undefined) await stage.startCrashing(crashing);
  const run = desk.start(['run', '--workers', '6']);
  const happening = schedule.actions.map((action) => stage.perform(action));
  const over = run.ended.finally(() => stage.close());
  const [ended] = await Promise.all([over, ...happening]);
  const words = `${stage.done.join('\n')}\n${tail(ended.stdout)}\n${tail(ended.stderr)}`;
  assert.equal(ended.code, 0, words);
  assert.match(ended.stdout, new RegExp(`${taskCount} completed`), words);
  const missing = schedule.actions.filter((action) => !stage.happened.has(action));
  assert.deepEqual(missing.map(describeAction), [], 'everything of the schedule happened');
  return { ...(await assertFleetDone(fleet, tasks)), done: stage.done };
}

const lookEveryMs = 40;

/** What happens to the machines, one action beside the other; it stops waiting when the run is over. */
class Stage {
  readonly #fleet: Fleet;
  readonly done: string[] = [];
  readonly happened = new Set<Action>();
  #isOver = false;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  close(): void {
    this.#isOver = true;
  }

  async startCrashing(name: string): Promise<void> {
    const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: 'merged' };
    const args = ['--agents', String(agentsPerMachine)];
    const machine = this.#fleet.machine(name);
    await machine.expect(0, ['init']);
    await machine.startWorker(args, env);
  }

  async perform(action: Action): Promise<void> {
    if (action.kind === 'landing-merged') {
      const worker = this.#fleet.machine(action.machine).worker();
      await worker?.ended;
      if (this.#isOver) return;
    } else if (!(await this.#reached(action.at))) return;
    this.done.push(describeAction(action));
    this.happened.add(action);
    await this.#act(action);
  }

  async #act(action: Action): Promise<void> {
    switch (action.kind) {
      case 'kill': {
        await this.#fleet.machine(action.machine).kill();
        await pause(action.backMs);
        return this.#startAgain(action.machine);
      }
      case 'cut': {
        const { host } = this.#fleet.machine(action.machine);
        host.cutOff();
        await pause(action.backMs);
        return host.reconnect();
      }
      case 'postgres':
        return this.#fleet.restartPostgres(action.how);
      case 'landing-pushed':
        return this.#killPusher(action);
      case 'landing-merged':
        return this.#startAgain(action.machine);
    }
  }

  async #killPusher(action: Action): Promise<void> {
    const { machines, gitServer } = this.#fleet;
    const owner = (address: string) => machines.find(({ host }) => host.address === address);
    const stop = new AbortController();
    const watching = setInterval(() => this.#isOver && stop.abort(), lookEveryMs);
    const address = await gitServer
      .killNextPusher((from) => owner(from)?.backendPid() ?? null, stop.signal)
      .finally(() => clearInterval(watching));
    if (address === null) return void this.happened.delete(action);
    const name = owner(address)?.name ?? '';
    this.done.push(`killed: ${name}`);
    // The command that runs the epic starts its backend again by itself; nobody does that for a worker.
    if (scheduleWorkers.includes(name)) await this.#startAgain(name);
  }

  async #startAgain(name: string): Promise<void> {
    const machine = this.#fleet.machine(name);
    await machine.worker()?.ended.catch(() => undefined);
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
