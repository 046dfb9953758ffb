// Reads the current waits for the metrics: tasks, questions, landings, and machines of a fleet.

import {
  type MetricsBoard,
  type MetricsFleet,
  type WaitingState,
  waitingStates,
} from '../../core/history/metrics.ts';
import { readMachines } from '../fleet/machine-views.ts';
import { liveMachines } from '../fleet/machines.ts';
import { openQuestions } from '../board/snapshot.ts';
import { readBoard } from '../board/board.ts';
import { stuckViews } from '../board/stuck.ts';
import type { Db } from '../rows/one-moment.ts';

export interface MetricsCaller {
  readonly project: string;
  /** Empty without a fleet. */
  readonly machineId: string;
}

export async function readMetricsBoard(
  at: Db,
  nowMs: number,
  { machineId }: Pick<MetricsCaller, 'machineId'>,
): Promise<MetricsBoard> {
  const statuses = await at
    .selectFrom('tasks')
    .select((eb) => ['status', eb.fn.countAll<number>().as('n')])
    .where('parent_id', 'is', null)
    .where('candidate_of', 'is', null)
    .where('status', 'in', waitingStates)
    .groupBy('status')
    .execute();
  const counts = new Map<string, number>(statuses.map(({ status, n }) => [status, Number(n)]));
  const landings = await at
    .selectFrom('landings')
    .select((eb) => [eb.fn.countAll<number>().as('n'), eb.fn.min('queued_at_ms').as('oldest')])
    .where('state', 'in', ['queued', 'taken'])
    .executeTakeFirstOrThrow();
  const runs = await at
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('state', '=', 'active')
    .executeTakeFirstOrThrow();
  const oldest = landings.oldest as number | null;
  return {
    waiting: Object.fromEntries(
      waitingStates.map((state) => [state, counts.get(state) ?? 0]),
    ) as Record<WaitingState, number>,
    stuck: stuckViews(await readBoard(at)).length,
    questions: (await openQuestions(at)).length,
    landings: Number(landings.n),
    oldestLandingMs: oldest === null ? 0 : Math.max(0, nowMs - Number(oldest)),
    runs: Number(runs.n),
    fleet: machineId === '' ? null : await readFleet(at),
  };
}

/** A machine that is not replaced must not raise an alarm forever. */
const deadToldMs = 24 * 3_600_000;

async function readFleet(at: Db): Promise<MetricsFleet> {
  const views = await readMachines(at, 0);
  const away = await at
    .selectFrom('machines')
    .select('id')
    .where('remote_away_since_ms', 'is not', null)
    .execute();
  const cut = new Set(away.map(({ id }) => id));
  return {
    dead: views.filter(({ state, heard_ago_ms: ms }) => state === 'dead' && ms <= deadToldMs)
      .length,
    alive: views
      .filter(({ state }) => state === 'working' || state === 'draining')
      .map(({ id, name }) => ({ name, isRemoteAway: cut.has(id) })),
  };
}

/** The name of the machine that exports the fleet's totals; null if it is this one. */
export async function otherExporter(db: Db, machineId: string): Promise<string | null> {
  if (machineId === '') return null;
  const [first] = await liveMachines(db);
  return first === undefined || first.id === machineId ? null : first.name;
}
