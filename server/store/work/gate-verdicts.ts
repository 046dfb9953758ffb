// Verdicts of gate commands by tree, so that a tree is not tested twice with the same command, and
// the gates on the tips of lines before any task's work.

import type { Selectable } from 'kysely';
import type { FailureKind } from '../../core/failure.ts';
import { gateCommands } from '../../core/settings/gate-stages.ts';
import type { PastGates } from '../../core/line/speculate.ts';
import { type RedBase, storedCause } from '../../core/plan/block-cause.ts';
import type { BaseGateTable } from '../schema/side-tables.ts';
import type { GateVerdictTable, Reads, Tx } from '../schema/tables.ts';

export type GateVerdictRow = Selectable<GateVerdictTable>;

/**
 * Returns null if the gate has no verdict on the tree. A gate with stages is red if one of its
 * stages is red, and green if all of them are green.
 */
export async function gateVerdict(
  db: Reads,
  tree: string,
  gate: string,
): Promise<GateVerdictRow | null> {
  const rows: (GateVerdictRow | null)[] = [];
  for (const command of gateCommands(gate)) rows.push(await commandVerdict(db, tree, command));
  const red = rows.find((row) => row?.ok === 0);
  if (red !== undefined || rows.includes(null)) return red ?? null;
  return rows.find((row) => row?.flaky === 1) ?? rows[0] ?? null;
}

/** The verdict of one shell command. */
export async function commandVerdict(
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

/** A newer verdict replaces an older one. */
export async function keepGateVerdict(tx: Tx, row: GateVerdictRow): Promise<void> {
  const { tree_sha: _tree, command: _command, ...verdict } = row;
  await tx
    .insertInto('gate_verdicts')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tree_sha', 'command']).doUpdateSet(verdict))
    .execute();
}

/** At most `limit` tasks that have this command as their own gate. */
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

export type BaseGateRow = Selectable<BaseGateTable>;

export async function readBaseGate(db: Reads, line: string): Promise<BaseGateRow | null> {
  const row = await db
    .selectFrom('base_gates')
    .selectAll()
    .where('line', '=', line)
    .executeTakeFirst();
  return row ?? null;
}

export async function writeBaseGate(tx: Tx, row: BaseGateRow): Promise<void> {
  const { line: _line, ...rest } = row;
  await tx
    .insertInto('base_gates')
    .values(row)
    .onConflict((conflict) => conflict.column('line').doUpdateSet(rest))
    .execute();
}

/**
 * Invalidates earlier red verdicts on this line, because their cause may be fixed. A running gate
 * continues. `keepsGreen`: a green verdict stays valid.
 */
export async function askBaseGate(
  tx: Tx,
  line: string,
  atMs: number,
  { keepsGreen = false } = {},
): Promise<void> {
  const known = await readBaseGate(tx, line);
  if (known?.state === 'running' || (keepsGreen && known?.state === 'green')) return;
  await writeBaseGate(tx, {
    line,
    state: 'asked',
    asked_ms: atMs,
    commit_sha: null,
    command: null,
    workflow: null,
    since_ms: 0,
    wait_ms: 0,
    reason: null,
  });
}

/** Does nothing if another workflow has been requested since. */
export async function endBaseGate(
  tx: Tx,
  line: string,
  workflow: string,
  end: Pick<BaseGateRow, 'state' | 'reason'>,
): Promise<void> {
  await tx
    .updateTable('base_gates')
    .set(end)
    .where('line', '=', line)
    .where('workflow', '=', workflow)
    .where('state', '=', 'running')
    .execute();
}

/** Returns how long the gate last took on any tree, or null if it never finished. */
export async function lastGateDurationMs(db: Reads, gate: string): Promise<number | null> {
  const known: number[] = [];
  for (const command of gateCommands(gate)) known.push(...(await lastDurationMs(db, command)));
  return known.length === 0 ? null : Math.max(...known);
}

async function lastDurationMs(db: Reads, command: string): Promise<readonly number[]> {
  const row = await db
    .selectFrom('gate_verdicts')
    .select('duration_ms')
    .where('command', '=', command)
    .orderBy('at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? [] : [row.duration_ms];
}

/** Counts the gated attempts by the same agent in the same epic, and how many of them passed. */
export async function readPastGates(db: Reads, taskId: string): Promise<PastGates> {
  const own = await db
    .selectFrom('attempts')
    .innerJoin('tasks', 'tasks.id', 'attempts.task_id')
    .select(['attempts.agent', 'tasks.epic_id'])
    .where('attempts.task_id', '=', taskId)
    .orderBy('attempts.number', 'desc')
    .executeTakeFirst();
  if (own === undefined) return { runs: 0, passes: 0 };
  const { epic_id: epic, agent } = own;
  const gated = db
    .selectFrom('attempts')
    .innerJoin('tasks', 'tasks.id', 'attempts.task_id')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('attempts.agent', '=', agent)
    .where('tasks.epic_id', epic === null ? 'is' : '=', epic);
  const red: FailureKind = 'gate_failed';
  const [passed, failed] = await Promise.all([
    gated
      .where('attempts.state', '=', 'succeeded')
      .where('attempts.commit_sha', 'is not', null)
      .executeTakeFirstOrThrow(),
    gated.where('attempts.failure_kind', '=', red).executeTakeFirstOrThrow(),
  ]);
  return { passes: passed.n, runs: passed.n + failed.n };
}

/** The commit is on the line because Drover landed a task with it, so its tree was tested. */
export async function isLandedTip(db: Reads, line: string, sha: string): Promise<boolean> {
  const row = await db
    .selectFrom('tasks')
    .select('id')
    .where('landed_sha', '=', sha)
    .where('landed_on', '=', line)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Allows the task to start although its base fails the gate. */
export async function waiveRedBase(tx: Tx, id: string, cause: RedBase): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ blocked_by: storedCause({ ...cause, waived: true }) })
    .where('id', '=', id)
    .execute();
}
