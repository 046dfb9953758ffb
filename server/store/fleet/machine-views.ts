// The machines of a fleet for display: names, states, and the machine of each task.

import type { MachineState } from '../../core/work/machines.ts';
import type { MachineView } from '../../protocol/api.ts';
import { busyByMachine, nowMs } from './machines.ts';
import { openLanders } from './line-landers.ts';
import { type Db, textList } from '../rows/one-moment.ts';
import type { MachineTable } from '../schema/machine-tables.ts';

/** Maximum number of listed machines. Those with the latest heartbeats are listed. */
const machinesMax = 500;
const dayMs = 24 * 3_600_000;
/** Machines that have been gone for longer are listed only on request. */
const goneDaysMax = 7;

/**
 * Lists running machines first, then by name. `heardBeforeMs`: how long a machine counts as alive
 * after a heartbeat.
 */
export async function readMachines(
  db: Db,
  heardBeforeMs: number,
  isAll = false,
): Promise<MachineView[]> {
  const rows = await db
    .selectFrom('machines')
    .selectAll()
    .select(nowMs(db).as('now_ms'))
    .$if(!isAll, (query) =>
      query.where((eb) => eb('alive_until_ms', '>', eb(nowMs(db), '-', goneDaysMax * dayMs))),
    )
    .orderBy('alive_until_ms', 'desc')
    .limit(machinesMax)
    .execute();
  if (rows.length === 0) return [];
  const busy = await busyByMachine(db);
  const landers = await openLanders(db);
  const names = namesOf(rows);
  const views = rows.map((row): MachineView => {
    const state = stateOf(row, row.now_ms);
    const heardMs = Math.min(
      row.now_ms,
      row.alive_until_ms - (state === 'left' ? 0 : heardBeforeMs),
    );
    return {
      id: row.id,
      name: names.get(row.id) ?? row.name,
      state,
      labels: textList(row.labels),
      agents: busy.get(row.id) ?? 0,
      agents_max: row.agents_max,
      room: row.room,
      lands: (state === 'working' || state === 'draining') && row.lands === 1,
      landing: landers
        .filter(({ machine }) => machine === row.id)
        .map(({ branch, since_ms: since }) => ({
          branch,
          since: Math.floor(since / 1000),
          since_ago_ms: Math.max(0, row.now_ms - since),
        })),
      version: row.version,
      note: row.note,
      joined_at: Math.floor(row.joined_at_ms / 1000),
      heard_at: Math.floor(heardMs / 1000),
      heard_ago_ms: Math.max(0, row.now_ms - heardMs),
    };
  });
  return views.toSorted((a, b) => ranks[a.state] - ranks[b.state] || (a.name < b.name ? -1 : 1));
}

const ranks: { readonly [S in MachineState]: number } = {
  working: 0,
  draining: 1,
  dead: 2,
  left: 3,
};

type Pulse = Pick<MachineTable, 'state' | 'alive_until_ms'>;

function stateOf(row: Pulse, now: number): MachineState {
  if (row.state === 'left') return 'left';
  if (row.alive_until_ms <= now) return 'dead';
  return row.state === 'draining' ? 'draining' : 'working';
}

interface Named extends Pulse {
  readonly id: string;
  readonly name: string;
  readonly now_ms: number;
}

/**
 * Names of machines. If two have the same name, the start of their ids distinguishes them; a
 * running machine keeps the plain name.
 */
function namesOf(rows: readonly Named[]): ReadonlyMap<string, string> {
  const alive = new Map<string, number>();
  const all = new Map<string, number>();
  for (const row of rows) {
    const isAlive = row.state !== 'left' && row.alive_until_ms > row.now_ms;
    if (isAlive) alive.set(row.name, (alive.get(row.name) ?? 0) + 1);
    all.set(row.name, (all.get(row.name) ?? 0) + 1);
  }
  return new Map(
    rows.map((row) => {
      const isAlive = row.state !== 'left' && row.alive_until_ms > row.now_ms;
      const isOnly = (isAlive ? alive : all).get(row.name) === 1;
      return [row.id, isOnly ? row.name : `${row.name}/${shortId(row.id)}`];
    }),
  );
}

function shortId(id: string): string {
  return id.slice(0, 8);
}

/** The names of these machines. An unknown machine is named by its id. */
export async function machineNames(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== '');
  if (wanted.length === 0) return new Map();
  const rows = await db
    .selectFrom('machines')
    .select(['id', 'name', 'state', 'alive_until_ms'])
    .select(nowMs(db).as('now_ms'))
    .orderBy('alive_until_ms', 'desc')
    .limit(machinesMax)
    .execute();
  const known = namesOf(rows);
  return new Map(wanted.map((id) => [id, known.get(id) ?? shortId(id)]));
}

/**
 * The names of the machines on which tasks run or that have their worktrees, for one task or all.
 * `running`: running attempts by task.
 */
export async function machinesOfTasks(
  db: Db,
  running: ReadonlyMap<string, { readonly machine: string }>,
  id?: string,
): Promise<ReadonlyMap<string, string>> {
  const kept = await db
    .selectFrom('slots')
    .select(['task_id', 'machine'])
    .where('machine', '!=', '')
    .where('kind', '=', 'task')
    .where('task_id', 'is not', null)
    .$if(id !== undefined, (query) => query.where('task_id', '=', id ?? ''))
    .execute();
  const places = new Map(kept.map((row) => [row.task_id ?? '', row.machine]));
  for (const [task, { machine }] of running) if (machine !== '') places.set(task, machine);
  const names = await machineNames(db, [...places.values()]);
  return new Map([...places].map(([task, machine]) => [task, names.get(machine) ?? machine]));
}
