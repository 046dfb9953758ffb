// Claims: which worker has which task, with a fencing number.

import type { Updateable } from 'kysely';
import { executionOrder } from '../../core/plan/graph.ts';
import type { RunPlace } from '../../core/settings/remote-settings.ts';
import type { StoreSources } from '../feed/feed.ts';
import { taskById } from '../rows/find-rows.ts';
import { approvedPlan, lastPlan } from '../status/plans.ts';
import type { AttemptRow, AttemptTable, Reads, TaskRow, Tx } from '../schema/tables.ts';
import { taskAndSubTaskIds, transition } from '../status/transition.ts';
import type { GraphNode } from '../../core/plan/graph-edges.ts';

export interface ClaimRequest {
  readonly taskId: string;
  readonly runId: string;
  readonly owner: string;
  /** The attempt's machine; '' = the project's only machine. */
  readonly machine: string;
  readonly agent: string;
  /** The requested model; null = the agent's own choice. */
  readonly model: string | null;
  /** Index of the agent among those that take over from each other. */
  readonly step: number;
  /** Whether the agent can continue an earlier conversation. */
  readonly agentResumes: boolean;
  readonly sessionId: string;
  /** The place of a new attempt's agent. Absent = this machine. */
  readonly runsOn?: RunPlace;
  /** Whether tasks without their own value need a plan first. */
  readonly plansFirst: boolean;
}

export interface Claim {
  readonly taskId: string;
  readonly epoch: number;
  readonly runId: string;
  readonly attempt: number;
  readonly agent: string;
  /** Absent in claims of older versions. */
  readonly model?: string | null;
  readonly branch: string;
  /** Sub-tasks in order, then the task itself. */
  readonly parts: readonly string[];
  /** Work that was committed before the attempt was interrupted and only has to land. */
  readonly commitSha: string | null;
  /** The part whose agent has finished although git could not commit its work. */
  readonly finishedPart?: string | null;
  /** The attempt only makes a plan. Absent in claims of older versions. */
  readonly planning?: boolean;
}

/**
 * Claims a task that is ready or whose account's limit is over. Returns null if another process
 * claimed or changed it first.
 */
export async function claimTask(
  tx: Tx,
  sources: StoreSources,
  request: ClaimRequest,
): Promise<Claim | null> {
  const [row, last, parts] = await Promise.all([
    taskById(tx, request.taskId),
    lastAttempt(tx, request.taskId),
    readClaimedParts(tx, request.taskId),
  ]);
  if (row === null || row.parent_id !== null) return null;
  if (row.status !== 'ready' && row.status !== 'waiting') return null;
  const epoch = row.epoch + 1;
  const nowMs = sources.clock.now();
  const attempt = await openAttempt(tx, sources, row, last, request);
  const outcome = await transition(tx, sources, {
    taskId: row.id,
    to: row.status === 'waiting' ? 'in_progress' : 'claimed',
    event: row.status === 'waiting' ? 'task.resumed' : 'task.claimed',
    runId: request.runId,
    data: {
      worker: request.owner,
      attempt: attempt.number,
      agent: attempt.agent,
      ...(attempt.model === null ? {} : { model: attempt.model }),
    },
    set: {
      epoch,
      claimed_by: request.owner,
      claimed_at: Math.floor(nowMs / 1000),
      next_attempt_at_ms: null,
      branch: attempt.branch,
      phase: 'worktree',
    },
  });
  if (!outcome.ok) return null;
  return {
    taskId: row.id,
    epoch,
    runId: request.runId,
    attempt: attempt.number,
    agent: attempt.agent,
    model: attempt.model,
    branch: attempt.branch,
    parts,
    commitSha: attempt.commitSha,
    finishedPart: attempt.finishedPart,
    planning: attempt.planning,
  };
}

/** Unfinished sub-tasks in order, then the task itself. */
export async function readClaimedParts(tx: Reads, taskId: string): Promise<string[]> {
  const nodes: GraphNode[] = [];
  const done = new Set<string>();
  let level = [taskId];
  for (let depth = 0; depth < 3 && level.length > 0; depth += 1) {
    const rows = await partsBelow(tx, level).execute();
    for (const row of rows) {
      if (row.status === 'completed') done.add(row.id);
      nodes.push({
        id: row.id,
        blockedBy: [],
        parentId: row.parent_id,
        sequence: row.sequence_number,
      });
    }
    level = rows.map((row) => row.id);
  }
  if (nodes.length === 0) return [taskId];
  nodes.push({ id: taskId, blockedBy: [], parentId: null, sequence: 0 });
  return executionOrder(taskId, nodes).filter((id) => !done.has(id));
}

const partsBelow = (tx: Reads, parents: readonly string[]) =>
  tx
    .selectFrom('tasks')
    .select(['id', 'parent_id', 'sequence_number', 'status'])
    .where('parent_id', 'in', parents)
    .where('status', '!=', 'cancelled');

interface OpenedAttempt {
  readonly number: number;
  readonly agent: string;
  readonly model: string | null;
  readonly branch: string;
  readonly commitSha: string | null;
  readonly finishedPart: string | null;
  readonly planning: boolean;
}

/** States in which the agent that started an attempt continues it. */
export const unendedStates: readonly string[] = ['interrupted', 'waiting', 'running'];

/**
 * Whether an attempt can continue only on its machine, which has its worktree, or finished work
 * that the git server has not accepted. `isSuited`: the machine has the labels that the task needs;
 * to push only, it needs none.
 */
export function mustStayOnMachine(
  last: Pick<AttemptRow, 'state' | 'base_sha' | 'commit_sha' | 'failure_kind'> | null,
  isSuited: boolean,
): boolean {
  if (last === null || !unendedStates.includes(last.state)) return false;
  if (last.commit_sha !== null) return last.failure_kind === 'push_refused';
  return isSuited && last.base_sha !== null;
}

/** Continues the attempt that was interrupted or waited, or opens a new one. */
async function openAttempt(
  tx: Tx,
  sources: StoreSources,
  row: TaskRow,
  last: AttemptRow | null,
  request: ClaimRequest,
): Promise<OpenedAttempt> {
  const epoch = row.epoch + 1;
  const wantsPlan = row.plan === null ? request.plansFirst : row.plan === 1;
  const planning = wantsPlan && (await approvedPlan(tx, row.id)) === null;
  if (last !== null && unendedStates.includes(last.state)) {
    // Its worktree and its conversation are on the machine on which it started. Committed work can
    // land from any machine.
    const isHere = last.machine === request.machine || last.commit_sha !== null;
    // An attempt that started to implement continues. A planning attempt ends if no plan is needed
    // any more.
    if (isHere && (last.planning === 0 || planning)) {
      await setAttempt(tx, row.id, last.number, {
        state: 'running',
        epoch,
        run_id: request.runId,
        ended_at_ms: null,
      });
      const { number, agent, model, branch, commit_sha: commitSha } = last;
      const finishedPart = last.failure_kind === 'commit_failed' ? last.pid_part : null;
      const planning = last.planning === 1;
      return { number, agent, model, branch, commitSha, finishedPart, planning };
    }
    await setAttempt(tx, row.id, last.number, {
      state: isHere ? 'failed' : 'interrupted',
      ended_at_ms: sources.clock.now(),
    });
  }
  const number = (last?.number ?? 0) + 1;
  const branch = `drover/${row.id}/${number}`;
  const { session, continuesFrom } = await handedBack(tx, last, row, request);
  if (continuesFrom === null) await forgetPartsDone(tx, row.id);
  await tx
    .insertInto('attempts')
    .values({
      task_id: row.id,
      number,
      epoch,
      state: 'running',
      agent: request.agent,
      model: request.model,
      step: request.step,
      session_id: session?.session_id ?? request.sessionId,
      session_started: session?.session_started ?? 0,
      branch,
      continues_from: continuesFrom,
      started_at_ms: sources.clock.now(),
      run_id: request.runId,
      planning: planning ? 1 : 0,
      runs_on: request.runsOn ?? 'local',
      machine: request.machine,
    })
    .execute();
  const { agent, model } = request;
  return { number, agent, model, branch, commitSha: null, finishedPart: null, planning };
}

/** An attempt that starts without earlier work must run its sub-tasks again. */
async function forgetPartsDone(tx: Tx, taskId: string): Promise<void> {
  const below = (await taskAndSubTaskIds(tx, taskId)).filter((id) => id !== taskId);
  if (below.length === 0) return;
  await tx
    .updateTable('tasks')
    .set({ commit_sha: null })
    .where('id', 'in', below)
    .where('status', '!=', 'completed')
    .execute();
}

/**
 * Failures after which a new attempt can continue from the work: all except a conflict, whose work
 * no longer fits.
 */
const continuedKinds: ReadonlySet<string> = new Set([
  'agent_failed',
  'agent_limit',
  'agent_overloaded',
  'agent_stalled',
  'account_limit',
  'timeout',
  'gate_failed',
  'sent_back',
  'interrupted',
]);

/**
 * Failures after which every machine can fetch the attempt's work, as a commit or as a pushed
 * snapshot.
 */
const sharedKinds: readonly string[] = ['gate_failed', 'sent_back', 'interrupted'];

/** Determines which conversation and which work a new attempt continues. */
async function handedBack(
  tx: Tx,
  last: AttemptRow | null,
  row: TaskRow,
  request: ClaimRequest,
): Promise<{ readonly session: AttemptRow | null; readonly continuesFrom: string | null }> {
  if (last === null) return { session: null, continuesFrom: null };
  const session = await sessionOf(tx, last, request);
  // An attempt that has not ended was interrupted, or its machine was.
  const kind = unendedStates.includes(last.state) ? 'interrupted' : (last.failure_kind ?? '');
  // A person who resets or retries a task wants it to start over. Files written while planning are
  // never used.
  const isFresh = last.number <= row.fallback_from || last.planning === 1;
  const isHere = last.machine === request.machine || sharedKinds.includes(kind);
  // An attempt that was interrupted before it had a worktree only passes on its starting point.
  const made = last.base_sha === null && kind === 'interrupted' ? last.continues_from : last.branch;
  const continuesFrom = !isFresh && isHere && continuedKinds.has(kind) ? made : null;
  return { session, continuesFrom };
}

/** Only the agent that started a conversation can continue it. */
async function sessionOf(
  tx: Tx,
  last: AttemptRow,
  request: ClaimRequest,
): Promise<AttemptRow | null> {
  const isOwn = last.agent === request.agent && last.step === request.step;
  if (!isOwn || !request.agentResumes || last.machine !== request.machine) return null;
  if (last.planning === 1) {
    const plan = await lastPlan(tx, last.task_id);
    const isDecided = plan !== null && ['approved', 'sent_back'].includes(plan.state);
    return isDecided && plan.attempt === last.number ? last : null;
  }
  const kind = last.failure_kind ?? '';
  return ['gate_failed', 'conflict', 'sent_back'].includes(kind) ? last : null;
}

export async function lastAttempt(tx: Reads, taskId: string): Promise<AttemptRow | null> {
  const row = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('task_id', '=', taskId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Maximum number of attempts checked for the next agent. */
const historyMax = 50;

/** The attempts after a number, oldest first. */
export async function attemptsSince(
  tx: Reads,
  taskId: string,
  after: number,
): Promise<readonly AttemptRow[]> {
  const rows = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('number', '>', after)
    .orderBy('number', 'desc')
    .limit(historyMax)
    .execute();
  return rows.toReversed();
}

export async function setAttempt(
  tx: Tx,
  taskId: string,
  number: number,
  set: Updateable<AttemptTable>,
): Promise<void> {
  await tx
    .updateTable('attempts')
    .set(set)
    .where('task_id', '=', taskId)
    .where('number', '=', number)
    .execute();
}
