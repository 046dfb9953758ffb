// The attempts of a task, each with its steps from the feed.

import { type RawBuilder, sql } from 'kysely';
import type { AttemptView } from '../../protocol/panel-views.ts';
import { AttemptSteps, stepEventTypes } from './attempt-steps.ts';
import { taskOrRefuse } from '../rows/find-rows.ts';
import { machineNames } from '../fleet/machine-views.ts';
import { type Db, readAtOneMoment } from '../rows/one-moment.ts';
import type { AttemptRow } from '../schema/tables.ts';
import { taskAndSubTaskIds, rootTaskId } from '../status/transition.ts';

/** Maximum number of attempts to list, and of events to read for them. */
const attemptsMax = 100;
const eventsMax = 5_000;

/** Attempts that have ended. */
const atRest: ReadonlySet<string> = new Set(['succeeded', 'failed']);

/**
 * A sub-task has the attempts of its topmost parent, because it has none of its own. Oldest first.
 */
export async function readAttempts(db: Db, id: string): Promise<readonly AttemptView[]> {
  return readAtOneMoment(db, async (at) => {
    await taskOrRefuse(at, id);
    const root = await rootTaskId(at, id);
    const rows = await at
      .selectFrom('attempts')
      .selectAll()
      .where('task_id', '=', root)
      .orderBy('number', 'desc')
      .limit(attemptsMax)
      .execute();
    if (rows.length === 0) return [];
    const steps = await readSteps(at, root, rows);
    const names = await machineNames(
      at,
      rows.map((row) => row.machine),
    );
    return rows
      .toReversed()
      .map((row) => attemptView(row, steps.get(row.number), names.get(row.machine) ?? null));
  });
}

async function readSteps(
  at: Db,
  root: string,
  rows: readonly AttemptRow[],
): Promise<ReadonlyMap<number, AttemptSteps>> {
  const gated = await gatedAttempts(at, root);
  const steps = new Map(rows.map((row) => [row.number, new AttemptSteps(gated.has(row.number))]));
  const found = await at
    .selectFrom('events')
    .select(['seq', 'type', 'at_ms', 'task_id', 'data'])
    .where('task_id', 'in', await taskAndSubTaskIds(at, root))
    .where('type', 'in', stepEventTypes)
    .orderBy('seq', 'desc')
    .limit(eventsMax)
    .execute();
  let current = 0;
  for (const row of found.toReversed()) {
    const data = JSON.parse(row.data) as Readonly<Record<string, unknown>>;
    const isOwn = row.task_id === root;
    if (isOwn && data['worker'] !== undefined) current = Number(data['attempt'] ?? current);
    const isLanded = isOwn && row.type === 'task.completed';
    const gatePassedMs = isLanded ? await greenGateMs(at, root, row.seq) : null;
    const event = { type: row.type, atMs: row.at_ms, isOwn, data };
    steps.get(current)?.take(event, gatePassedMs);
  }
  return steps;
}

/** Attempts whose work entered the landing queue with a gate. */
async function gatedAttempts(at: Db, root: string): Promise<ReadonlySet<number>> {
  const rows = await at
    .selectFrom('landings')
    .select('attempt')
    .where('task_id', '=', root)
    .where('gate_command', 'is not', null)
    .execute();
  return new Set(rows.map((row) => row.attempt));
}

/**
 * When the gate that tested the task's work, alone or in a batch, was green. In an older feed,
 * gates do not name their tasks; the last gate before the landing is used.
 */
async function greenGateMs(at: Db, root: string, seq: number): Promise<number | null> {
  const passed = at
    .selectFrom('events')
    .select('at_ms')
    .where('type', '=', 'gate.passed')
    .where('seq', '<', seq)
    .orderBy('seq', 'desc')
    .limit(1);
  const names = (text: string): RawBuilder<boolean> => sql`replace(data, ${text}, '') <> data`;
  const own = await passed.where(names(JSON.stringify(root))).executeTakeFirst();
  if (own !== undefined) return own.at_ms;
  const old = await passed.where((eb) => eb.not(names('"task_ids"'))).executeTakeFirst();
  return old?.at_ms ?? null;
}

function attemptView(
  row: AttemptRow,
  steps: AttemptSteps | undefined,
  machine: string | null,
): AttemptView {
  const endedAtMs = atRest.has(row.state) ? row.ended_at_ms : null;
  return {
    task_id: row.task_id,
    number: row.number,
    state: row.state,
    agent: row.agent,
    model: row.model,
    session_id: row.session_id,
    branch: row.branch,
    base_sha: row.base_sha,
    commit_sha: row.commit_sha,
    worktree_path: row.worktree_path,
    machine,
    started_at_ms: row.started_at_ms,
    ended_at_ms: row.ended_at_ms,
    failure_kind: row.failure_kind,
    error: row.error,
    summary: row.summary,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cost: row.cost_usd,
    steps: steps?.list(endedAtMs) ?? [],
  };
}

/** The commit of the snapshot that a person chose as the start of this attempt, on any machine. */
export async function chosenSnapshot(
  db: Db,
  taskId: string,
  attempt: number,
): Promise<string | null> {
  const row = await db
    .selectFrom('events')
    .select('data')
    .where('task_id', '=', taskId)
    .where('type', '=', 'task.retry')
    .where('data', 'like', `%"begins":${attempt},"snapshot":%`)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const told = row === undefined ? {} : (JSON.parse(row.data) as Readonly<Record<string, unknown>>);
  return typeof told['snapshot'] === 'string' ? told['snapshot'] : null;
}
