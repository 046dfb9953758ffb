// Candidates: several alternatives of one task, each a task of its own that waits for a choice
// instead of landing. Their task waits for them, and the choice gives it the work of one of them.

import type { Candidate } from '../../core/plan/best-of.ts';
import { checkId } from '../../core/ids.ts';
import { lastAttempt } from './claims.ts';
import { freshId } from '../plan/epics.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { isIdTaken } from '../rows/find-rows.ts';
import { raiseChains } from '../status/graph-rows.ts';
import type { Reads, TaskRow, Tx } from '../schema/tables.ts';
import { insertBlockers, nextTaskPosition } from '../plan/tasks.ts';
import { transition, unmetBlockers } from '../status/transition.ts';
import { columnsOfCandidate } from '../../core/exchange/task-rule-columns.ts';

/** Creates the candidates of a ready task, all with one base. The task then waits for them. */
export async function openCandidates(
  tx: Tx,
  sources: StoreSources,
  task: TaskRow,
  request: { readonly count: number; readonly baseSha: string; readonly runId: string },
): Promise<readonly string[]> {
  const ids: string[] = [];
  const blockers = await tx
    .selectFrom('task_dependencies')
    .select('blocked_by')
    .where('task_id', '=', task.id)
    .execute();
  for (let number = 1; number <= request.count; number += 1) {
    const id = await candidateId(tx, sources, task.id);
    ids.push(id);
    await insertCandidate(tx, sources, task, id, request.baseSha);
    // The candidates' base must also contain the blockers of their task.
    await insertBlockers(
      tx,
      id,
      blockers.map((row) => row.blocked_by),
    );
  }
  await insertBlockers(tx, task.id, ids);
  await raiseChains(tx, task.id);
  await transition(tx, sources, {
    taskId: task.id,
    from: ['ready'],
    to: 'blocked',
    event: 'task.candidates',
    runId: request.runId,
    data: { candidates: ids, base: request.baseSha },
  });
  return ids;
}

/** `task-x-c1`, if the id is not too long. */
async function candidateId(tx: Tx, sources: StoreSources, taskId: string): Promise<string> {
  const made = await tx
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('candidate_of', '=', taskId)
    .executeTakeFirstOrThrow();
  const id = `${taskId}-c${made.n + 1}`;
  return checkId(id).ok && !(await isIdTaken(tx, id)) ? id : freshId(tx, sources, 'task');
}

async function insertCandidate(
  tx: Tx,
  sources: StoreSources,
  task: TaskRow,
  id: string,
  baseSha: string,
): Promise<void> {
  const now = Math.floor(sources.clock.now() / 1000);
  const { title, description, epic_id, type, priority, labels, acceptance_criteria } = task;
  const content = { title, description, epic_id, type, priority, labels, acceptance_criteria };
  await tx
    .insertInto('tasks')
    .values({
      ...content,
      ...columnsOfCandidate(task),
      id,
      candidate_of: task.id,
      base_sha: baseSha,
      created_at: now,
      updated_at: now,
      position: await nextTaskPosition(tx),
    })
    .execute();
  await appendEvent(tx, sources, {
    type: 'task.created',
    taskId: id,
    epicId: epic_id,
    data: { title, status: 'ready', parent: null, blocked_by: [], candidate_of: task.id },
  });
}

/** The task that this one is a candidate of. */
export async function readCandidateTask(db: Reads, id: string): Promise<string | null> {
  const row = await db
    .selectFrom('tasks')
    .select('candidate_of')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.candidate_of ?? null;
}

/**
 * True if its task no longer waits for this candidate: the choice was made, or the task is over.
 */
export async function isSpentCandidate(
  db: Reads,
  row: Pick<TaskRow, 'id' | 'candidate_of'>,
): Promise<boolean> {
  if (row.candidate_of === null) return false;
  const edge = await db
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as t', 't.id', 'd.task_id')
    .select('d.task_id')
    .where('d.task_id', '=', row.candidate_of)
    .where('d.blocked_by', '=', row.id)
    .where('t.status', 'not in', ['completed', 'failed', 'cancelled'])
    .executeTakeFirst();
  return edge === undefined;
}

/** Candidates that the task still waits for, in creation order. */
export async function candidatesOf(tx: Reads, taskId: string): Promise<readonly TaskRow[]> {
  return tx
    .selectFrom('tasks')
    .selectAll()
    .where('candidate_of', '=', taskId)
    .where('status', '!=', 'cancelled')
    .orderBy('position')
    .execute();
}

/** Tasks with candidates that are not canceled. */
export async function tasksWithCandidates(db: Reads): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('tasks')
    .select('candidate_of')
    .distinct()
    .where('candidate_of', 'is not', null)
    .where('status', '!=', 'cancelled')
    .execute();
  return rows.flatMap((row) => (row.candidate_of === null ? [] : [row.candidate_of]));
}

export function candidateFacts(row: TaskRow): Candidate {
  return {
    id: row.id,
    status: row.status,
    reviewKind: row.review_kind,
    isBlockedOutside: row.blocked_reason !== null,
    changedLines: row.changed_lines,
    costUsd: row.cost_usd,
  };
}

interface Choice {
  readonly chosen: TaskRow;
  readonly by: string;
  /** `needs_review`: a person's choice approves it, and the caller lands it. */
  readonly to: 'ready' | 'needs_review';
}

/** Numbers from 1 in creation order, including candidates that are over. */
export async function candidateNumbers(
  db: Reads,
  taskId: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    .where('candidate_of', '=', taskId)
    .orderBy('position')
    .execute();
  return new Map(rows.map(({ id }, at) => [id, at + 1]));
}

/** Whether everything else that the task waits for is done. */
export async function waitsForCandidatesOnly(tx: Tx, taskId: string): Promise<boolean> {
  const numbers = await candidateNumbers(tx, taskId);
  return (await unmetBlockers(tx, taskId)).every((id) => numbers.has(id));
}

/**
 * Gives the candidate's work to its task, as if the task's own attempt had committed it and was
 * interrupted before landing. The task is ready again and waits only for its blockers; the next
 * claim only has to land it.
 */
export async function takeCandidate(
  tx: Tx,
  sources: StoreSources,
  task: TaskRow,
  { chosen, by, to }: Choice,
): Promise<void> {
  const made = await lastAttempt(tx, chosen.id);
  const last = await lastAttempt(tx, task.id);
  if (made === null || chosen.commit_sha === null) {
    throw new Error(`the candidate ${chosen.id} has no work to choose`);
  }
  await tx
    .insertInto('attempts')
    .values({
      task_id: task.id,
      number: (last?.number ?? 0) + 1,
      epoch: task.epoch,
      state: 'interrupted',
      agent: made.agent,
      model: made.model,
      step: made.step,
      session_id: made.session_id,
      session_started: made.session_started,
      branch: made.branch,
      base_sha: made.base_sha,
      commit_sha: chosen.commit_sha,
      worktree_path: made.worktree_path,
      summary: made.summary,
      started_at_ms: made.started_at_ms,
      log_path: made.log_path,
      run_id: made.run_id,
    })
    .execute();
  await tx
    .updateTable('tasks')
    .set({ base_sha: made.base_sha, branch: made.branch, commit_sha: chosen.commit_sha })
    .where('id', '=', task.id)
    .execute();
  await forgetCandidateEdges(tx, task.id);
  await appendEvent(tx, sources, {
    type: 'task.chosen',
    taskId: task.id,
    epicId: task.epic_id,
    data: { title: task.title, candidate: chosen.id, commit: chosen.commit_sha, by },
  });
  await transition(tx, sources, {
    taskId: task.id,
    from: ['blocked'],
    to,
    event: 'task.unblocked',
    data: { by: chosen.id },
  });
}

async function forgetCandidateEdges(tx: Tx, taskId: string): Promise<void> {
  const rows = await tx
    .selectFrom('tasks')
    .select('id')
    .where('candidate_of', '=', taskId)
    .execute();
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return;
  await tx
    .deleteFrom('task_dependencies')
    .where('task_id', '=', taskId)
    .where('blocked_by', 'in', ids)
    .execute();
}
