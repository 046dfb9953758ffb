// Verdicts of gate commands by tree, so that the same tree is not tested twice with the same
// command.

import type { Selectable } from 'kysely';
import type { GateVerdictTable, Reads, Tx } from '../schema/tables.ts';

export type GateVerdictRow = Selectable<GateVerdictTable>;

export async function gateVerdict(
  db: Reads,
  tree: string,
  command: string,
): Promise<GateVerdictRow | null> {
  const row = await db
    .selectFrom('gate_verdicts')
    .selectAll()
    .where('tree_sha', '=', tree)
    .where('command', '=', command)
    .executeTakeFirst();
  return row ?? null;
}

/** A newer verdict takes the place of an older one. */
export async function keepGateVerdict(tx: Tx, row: GateVerdictRow): Promise<void> {
  const { tree_sha: _tree, command: _command, ...verdict } = row;
  await tx
    .insertInto('gate_verdicts')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tree_sha', 'command']).doUpdateSet(verdict))
    .execute();
}

/** The tasks that have been given this command as their own gate, at most `limit` of them. */
export async function tasksWithGate(
  db: Reads,
  command: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    .where('test_command', '=', command)
    .where('candidate_of', 'is', null)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
