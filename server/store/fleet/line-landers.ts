// Which machine of a fleet is landing on a branch, and since when.

import type { Selectable } from 'kysely';
import type { LineLanderTable } from '../schema/machine-tables.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { Reads, Tx } from '../schema/tables.ts';
import { nameOfMachine } from './machines.ts';

type LineLander = Selectable<LineLanderTable>;

interface LanderStore {
  readonly db: Reads;
  readonly sources: StoreSources;
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
}

/** The execution of a landing workflow on one machine. */
export interface LandingRole {
  readonly branch: string;
  readonly machine: string;
  readonly workflow: string;
}

export async function readLander(db: Reads, branch: string): Promise<LineLander | null> {
  const row = await db
    .selectFrom('line_landers')
    .selectAll()
    .where('branch', '=', branch)
    .executeTakeFirst();
  return row ?? null;
}

/** Unfinished landings of all machines, oldest first. */
export async function openLanders(db: Reads): Promise<readonly LineLander[]> {
  return db
    .selectFrom('line_landers')
    .selectAll()
    .where('ended_ms', 'is', null)
    .orderBy('since_ms')
    .orderBy('branch')
    .execute();
}

/**
 * Records that the machine starts or continues this landing. Machines take turns at landing, so the
 * feed only reports that a machine continues another one's landing.
 */
export async function beginLander(store: LanderStore, role: LandingRole): Promise<void> {
  const before = await readLander(store.db, role.branch);
  // Without the write turn if no event follows, because landings start often.
  if (before?.workflow !== role.workflow) return writeLander(store.db, store.sources, role);
  if (before.machine !== role.machine || before.ended_ms !== null)
    await store.transaction((tx) => continueLanding(tx, store.sources, role));
}

async function continueLanding(tx: Tx, sources: StoreSources, role: LandingRole): Promise<void> {
  const from = await readLander(tx, role.branch);
  await writeLander(tx, sources, role);
  if (from === null || from.machine === role.machine) return;
  const { branch, machine } = role;
  await appendEvent(tx, sources, {
    type: 'machine.took_over',
    data: {
      machine: (await nameOfMachine(tx, machine)) ?? machine,
      machine_id: machine,
      branch,
      from_machine: (await nameOfMachine(tx, from.machine)) ?? from.machine,
    },
  });
}

async function writeLander(
  db: Reads,
  sources: StoreSources,
  { branch, machine, workflow }: LandingRole,
): Promise<void> {
  const since = sources.clock.now();
  const row = { machine, workflow, since_ms: since, ended_ms: null, release_order: 0 };
  await db
    .insertInto('line_landers')
    .values({ branch, ...row })
    .onConflict((conflict) => conflict.column('branch').doUpdateSet(row))
    .execute();
}

/** Does nothing if another machine has continued the landing. */
export async function endLander(
  db: Reads,
  sources: StoreSources,
  { branch, machine, workflow }: LandingRole,
): Promise<void> {
  await db
    .updateTable('line_landers')
    .set({ ended_ms: sources.clock.now() })
    .where('branch', '=', branch)
    .where('machine', '=', machine)
    .where('workflow', '=', workflow)
    .execute();
}
