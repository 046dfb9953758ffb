// Seeded schedules of failures in a fleet during an epic, each at a time that the event feed
// determines.

import { SeededChance } from '../doubles/seeded-chance.ts';
import { gateSettings, variedAgent } from './support/epic.ts';
import type { FleetOptions } from './support/fleet.ts';

/** The time at which the feed contains this many events of the type. */
export interface Moment {
  readonly type: string;
  readonly count: number;
}

interface ForAWhile {
  readonly at: Moment;
  readonly backMs: number;
}

interface OfMachine extends ForAWhile {
  readonly machine: string;
}

export type Action =
  | ({
      readonly kind: 'kill' | 'cut' | 'cut-git' | 'cut-database' | 'freeze' | 'full-disk';
    } & OfMachine)
  | { readonly kind: 'drain'; readonly at: Moment; readonly machine: string }
  | { readonly kind: 'postgres'; readonly at: Moment; readonly how: 'fast' | 'kill' }
  | ({ readonly kind: 'git-server' | 'slow-links' | 'rule' | 'landing-cut' } & ForAWhile)
  | { readonly kind: 'fail-over' | 'landing-killed'; readonly at: Moment }
  /** `verified`: its merge is only in its clone. */
  | {
      readonly kind: 'landing-stored';
      readonly machine: string;
      readonly step: 'verified' | 'merged';
    }
  /** Its clock is ten minutes ahead from the start. */
  | { readonly kind: 'clock'; readonly machine: string };

export interface Schedule {
  readonly seed: number;
  readonly actions: readonly Action[];
}

export const scheduleWorkers = ['north', 'east', 'south'];
export const scheduleMachines = [...scheduleWorkers, 'desk'];

/**
 * A dead machine is detected quickly; a disk counts as full with less free space than a small one
 * has.
 */
const settings = `
[fleet]
take_over_after = "5s"
[machine]
min_free_disk = "16MB"
${gateSettings}`;

/**
 * The fleet that a schedule needs: a connection with a configurable delay, a second server, a disk
 * that can be full.
 */
export function scheduleOptions({ actions }: Schedule): FleetOptions {
  const has = (kind: Action['kind']): boolean => actions.some((action) => action.kind === kind);
  const smallDisks = actions.flatMap((action) =>
    action.kind === 'full-disk' ? [action.machine] : [],
  );
  return {
    machines: scheduleMachines,
    agent: variedAgent,
    settings,
    hasStandby: has('fail-over'),
    ...(has('slow-links') ? { databaseAwayMs: 0 } : {}),
    smallDisks,
  };
}

const momentTypes = ['task.started', 'worktree.ready', 'task.committed', 'task.completed'];
const actionsOfOne = 6;

export function makeSchedule(seed: number, cutMs: number): Schedule {
  const chance = new SeededChance(seed).fork('schedule');
  // The last failures leave the run time to detect them.
  const at = (): Moment => ({ type: chance.pick(momentTypes), count: chance.between(1, 45) });
  const worker = (): string => chance.pick(scheduleWorkers);
  const any = (): string => chance.pick(scheduleMachines);
  const soon = (): number => chance.below(9_000);
  const landing: readonly Action[] = [
    { kind: 'landing-killed', at: at() },
    { kind: 'landing-cut', at: at(), backMs: cutMs },
    { kind: 'landing-stored', machine: worker(), step: seed % 2 === 0 ? 'verified' : 'merged' },
  ];
  const database: readonly Action[] = [
    { kind: 'postgres', at: at(), how: chance.percent(50) ? 'fast' : 'kill' },
    { kind: 'fail-over', at: at() },
    { kind: 'slow-links', at: at(), backMs: cutMs },
  ];
  const more: readonly Action[] = [
    { kind: 'cut', at: at(), machine: any(), backMs: cutMs },
    { kind: 'cut-git', at: at(), machine: worker(), backMs: cutMs },
    { kind: 'cut-database', at: at(), machine: any(), backMs: cutMs },
    { kind: 'freeze', at: at(), machine: any(), backMs: cutMs },
    { kind: 'drain', at: at(), machine: worker() },
    { kind: 'git-server', at: at(), backMs: soon() },
    { kind: 'full-disk', at: at(), machine: worker(), backMs: cutMs },
    { kind: 'clock', machine: worker() },
    { kind: 'rule', at: at(), backMs: soon() },
  ];
  // Consecutive seeds use each of them in turn.
  const inTurn = (from: readonly Action[], step: number): Action =>
    from[(seed + step) % from.length] as Action;
  const chosen: Action[] = [
    { kind: 'kill', at: at(), machine: worker(), backMs: soon() },
    inTurn(landing, 0),
    inTurn(database, Math.trunc(seed / landing.length)),
  ];
  for (let step = 0; chosen.length < actionsOfOne; step += 2) chosen.push(inTurn(more, step));
  return { seed, actions: chosen };
}

export function describeAction(action: Action): string {
  const when = 'at' in action ? ` at ${action.at.type} ${action.at.count}` : '';
  const back = 'backMs' in action ? ` for ${(action.backMs / 1_000).toFixed(1)} s` : '';
  return `${whatOf(action)}${when}${back}`;
}

function whatOf(action: Action): string {
  switch (action.kind) {
    case 'kill':
      return `kill ${action.machine}`;
    case 'cut':
      return `cut off ${action.machine}`;
    case 'cut-git':
      return `cut ${action.machine} off from git`;
    case 'cut-database':
      return `cut ${action.machine} off from the database`;
    case 'freeze':
      return `freeze the backend of ${action.machine}`;
    case 'full-disk':
      return `fill the disk of ${action.machine}`;
    case 'drain':
      return `drain ${action.machine} and start it again`;
    case 'postgres':
      return `restart PostgreSQL (${action.how})`;
    case 'fail-over':
      return 'kill the primary and promote the standby';
    case 'slow-links':
      return 'make the road to the database long';
    case 'git-server':
      return 'kill the git server';
    case 'rule':
      return 'refuse the branches of tasks';
    case 'landing-killed':
      return 'kill who lands, between push and answer';
    case 'landing-cut':
      return 'cut off who lands, between push and answer';
    case 'landing-stored':
      return `${action.machine} dies when it has stored its first "${action.step}"`;
    case 'clock':
      return `the clock of ${action.machine} is ten minutes ahead`;
  }
}
