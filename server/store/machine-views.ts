// The machines of a fleet as people see them: who they are, how they are, and which of them a task is on.

import type { MachineState } from '../core/machines.ts';
import type { MachineView } from '../protocol/api.ts';
import { busyByMachine, nowMs } from './machines.ts';
import { type Db, textList } from './read.ts';
import type { MachineTable } from './tables.ts';

/** Most machines that are told; those that were heard of last. */
const machinesMax = 200;

/**
 * Those that are there first, then by name. `heardBeforeMs`: for how long a machine says that it is alive, each time it
 * is heard of.
 */
export async function readMachines(db: Db, heardBeforeMs: number): Promise<MachineView[]> {
  const rows = await db
    .selectFrom('machines')
    .selectAll()
    .select(nowMs(db).as('now_ms'))
    .orderBy('alive_until_ms', 'desc')
    .limit(machinesMax)
    .execute();
  if (rows.length === 0) return [];
  const busy = await busyByMachine(db, handedOver);
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

function stateOf(row: Pick<MachineTable, 'state' | 'alive_until_ms'>, nowMs: number): MachineState {
  if (row.state === 'left') return 'left';
  if (row.alive_until_ms <= nowMs) return 'dead';
  return row.state === 'draining' ? 'draining' : 'working';
}

/** Phases in which a task has handed its work over and needs no agent. */
const handedOver: readonly string[] = ['gate', 'land'];

/** What each is called; two of one name are told apart by the beginning of their ids. */
function namesOf(
  rows: readonly { readonly id: string; readonly name: string }[],
): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    rows.map(({ id, name }) => [id, (counts.get(name) ?? 0) > 1 ? `${name}/${shortId(id)}` : name]),
  );
}

export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** The names of these machines; one that nobody knows any more is told by its id. */
export async function machineNames(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== '');
  if (wanted.length === 0) return new Map();
  const known = namesOf(await db.selectFrom('machines').select(['id', 'name']).execute());
  return new Map(wanted.map((id) => [id, known.get(id) ?? shortId(id)]));
}

/** The names of the machines that tasks are at work on, or that have their worktrees; of one task or of all. */
export async function machinesOfTasks(db: Db, id?: string): Promise<ReadonlyMap<string, string>> {
  const kept = await db
    .selectFrom('slots')
    .select(['task_id', 'machine'])
    .where('machine', '!=', '')
    .where('kind', '=', 'task')
    .where('task_id', 'is not', null)
    .$if(id !== undefined, (query) => query.where('task_id', '=', id ?? ''))
    .execute();
  const working = await db
    .selectFrom('attempts')
    .select(['task_id', 'machine'])
    .where('state', '=', 'running')
    .where('machine', '!=', '')
    .$if(id !== undefined, (query) => query.where('task_id', '=', id ?? ''))
    .execute();
  const rows = [...kept, ...working];
  const names = await machineNames(
    db,
    rows.map((row) => row.machine),
  );
  return new Map(rows.map((row) => [row.task_id ?? '', names.get(row.machine) ?? row.machine]));
}
