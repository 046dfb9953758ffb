// Takes landed work back by a commit that reverts it, through the gate and the compare-and-swap like any landing.
//
// The landing is not taken out of history: others may have built on the line since. A commit on top of it holds what its
// first parent held; merged into the tip, that is the same as reverting it, found by the same three-way merge as every
// landing. It is refused while work that waited for it has landed or is under way: that work stands on what would go.
// The task is held for a person afterwards (paused, with the reason as its last error): whoever has taken work back
// rarely wants the same agent to make it again at once. Going on with it starts a new attempt from the line as it is.

import { failure, type Failure, Refusal } from '../core/failure.ts';
import type { DurableRun } from '../durable/port.ts';
import type { GitResult, Sha } from '../git/port.ts';
import {
  familyOf,
  lastAttempt,
  readLine,
  type TaskRow,
  type Tx,
  writeLine,
} from '../store/port.ts';
import { requireRoot, waitFor } from './controls.ts';
import { runGate } from './gate.ts';
import { orElse, ownLine } from './git-trouble.ts';
import { followLine } from './follow-line.ts';
import { moveLine } from './line-holds.ts';
import { headOn, landingRef, syncLine } from './lines.ts';
import { nextStep } from './next-step.ts';
import type { Engine } from './parts.ts';
import { gateOf, landQueue, limitLandQueue } from './submission.ts';

export const undoWorkflow = 'undo-landing';

export interface UndoInput {
  readonly taskId: string;
  readonly epoch: number;
  readonly title: string;
  /** The landing's own commit. */
  readonly landed: Sha;
  /** The line to take it out of: that of an epic which has landed as a whole is over, its target holds the work. */
  readonly line: string;
  readonly gate: string | null;
}

const undoneReason = 'its landing was undone';

/** Resolves when it is done; also, after a while, when it is still under way. */
export async function undoLanding(engine: Engine, id: string): Promise<void> {
  const row = await requireRoot(engine, id, 'undone');
  const { landed_sha: landed, landed_on: line } = row;
  if (row.status !== 'completed') {
    throw new Refusal(
      'illegal',
      `${id} is ${row.status}; only landed work can be undone (${nextStep(id, row.status)})`,
    );
  }
  if (landed === null || line === null) {
    throw new Refusal('illegal', `${id} is completed without a commit; there is nothing to undo`);
  }
  await refuseStoodUpon(engine, id);
  const input: UndoInput = {
    taskId: id,
    epoch: row.epoch,
    title: row.title,
    landed,
    line: await lineThatHolds(engine, line, landed),
    gate: await gateOfLanding(engine, row),
  };
  const workflowId = `undo/${id}/${engine.store.sources.uuid()}`;
  limitLandQueue(engine, input.line);
  await engine.durable.start(undoWorkflow, workflowId, input, { queue: landQueue(input.line) });
  engine.durable.wake();
  const isOver = async (): Promise<boolean> => {
    const state = (await engine.durable.get(workflowId))?.state;
    return state !== 'pending' && state !== 'running';
  };
  if (!(await waitFor(engine, isOver))) return;
  const refused = await lastWord(engine, workflowId);
  if (refused !== null) throw new Refusal('not_undone', refused);
}

/** Work that waited for this, and has landed or is under way, has been made on top of it. */
async function refuseStoodUpon(engine: Engine, id: string): Promise<void> {
  const family = await engine.store.transaction((tx) => familyOf(tx, id));
  const above = await engine.store.db
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as t', 't.id', 'd.task_id')
    .select(['t.id', 't.status'])
    .where('d.blocked_by', 'in', family)
    .where('d.task_id', 'not in', family)
    .where('t.status', 'in', ['completed', 'claimed', 'in_progress', 'needs_review', 'waiting'])
    .orderBy('t.id')
    .executeTakeFirst();
  if (above === undefined) return;
  const what = above.status === 'completed' ? 'has landed on top of it' : `is ${above.status}`;
  throw new Refusal(
    'illegal',
    `${above.id} depends on ${id} and ${what}; undo or cancel ${above.id} first`,
  );
}

async function lineThatHolds(engine: Engine, line: string, landed: Sha): Promise<string> {
  const known = await readLine(engine.store.db, line);
  const parent = known?.parent_branch ?? null;
  if (parent === null) return line;
  const tip = await engine.git.readRef(landingRef(parent));
  return tip !== null && (await engine.git.isAncestor(landed, tip)) ? parent : line;
}

async function gateOfLanding(engine: Engine, row: TaskRow): Promise<string | null> {
  const attempt = await lastAttempt(engine.store.db, row.id);
  const run = await engine.store.db
    .selectFrom('runs')
    .select('flags')
    .where('id', '=', attempt?.run_id ?? '')
    .executeTakeFirst();
  return gateOf(engine, run ?? { flags: '{}' }, row);
}

async function lastWord(engine: Engine, workflowId: string): Promise<string | null> {
  const rows = await engine.store.db
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'landing.undo_failed')
    .orderBy('seq', 'desc')
    .limit(20)
    .execute();
  const words = rows
    .map((row) => JSON.parse(row.data) as { workflow?: string; reason?: string })
    .find((data) => data.workflow === workflowId);
  return words?.reason ?? null;
}

interface Undone {
  readonly tip: Sha;
  readonly commit: Sha;
  readonly tree: Sha;
}

type Built =
  | { readonly kind: 'built'; readonly undone: Undone }
  | { readonly kind: 'failed'; readonly failure: Failure };

const triesMax = 5;

export async function runUndo(
  engine: Engine,
  run: DurableRun<Tx>,
  input: UndoInput,
): Promise<string> {
  const own = await ownLine(engine, input.line);
  for (let round = 0; round < triesMax; round += 1) {
    const built = await run.step(`built:${round}`, () =>
      orElse<Built>(
        () => buildUndo(engine, input, own),
        (trouble) => ({ kind: 'failed', failure: trouble }),
      ),
    );
    if (built.kind === 'failed') return giveUp(engine, run, input, built.failure, round);
    const { undone } = built;
    const red = await run.step(`verified:${round}`, (signal) =>
      testUndo(engine, input, undone, signal),
    );
    if (red !== null) return giveUp(engine, run, input, red, round);
    const moved = await run.step(`merged:${round}`, () =>
      orElse(
        () => moveUndone(engine, input, undone),
        () => false,
      ),
    );
    if (!moved) continue;
    await run.commit(`completed:${round}`, (tx) => recordUndone(engine, tx, input, undone));
    await followLine(engine, input.line);
    return 'undone';
  }
  const moving = failure('git_failed', `${input.line} moves too often; try again`);
  return giveUp(engine, run, input, moving, triesMax);
}

async function buildUndo(
  engine: Engine,
  input: UndoInput,
  own: () => Promise<GitResult<void>>,
): Promise<Built> {
  const failed = (message: string): Built => ({
    kind: 'failed',
    failure: failure('git_failed', message),
  });
  const owned = await own();
  if (!owned.ok) return failed(owned.error.message);
  const tip = await syncLine(engine, input.line);
  if (!tip.ok) return { kind: 'failed', failure: tip.error };
  const head = await headOn(engine, input.line, tip.value);
  if (!head.ok) return { kind: 'failed', failure: head.error };
  if (!(await engine.git.isAncestor(input.landed, head.value))) {
    return failed(`the commit of ${input.taskId} is not in ${input.line} any more`);
  }
  const itself = await engine.git.lineCommits(null, input.landed, 1);
  if (!itself.ok) return failed(itself.error.message);
  if (itself.value[0]?.trailers.includes(`Drover-Task: ${input.taskId}`) !== true) {
    return failed(
      `${input.landed.slice(0, 12)}, which brought in the work of ${input.taskId}, is not Drover's own commit and may hold more; revert it by hand (git revert -m 1 ${input.landed.slice(0, 12)})`,
    );
  }
  const subject = `drover: undo ${input.taskId} ${input.title.split(/[\r\n]/, 1)[0] ?? ''}`;
  const trailers = [`Drover-Undo: ${input.taskId}`];
  const revert = await engine.git.revertOf({ commit: input.landed, subject, trailers });
  if (!revert.ok) return failed(revert.error.message);
  const request = { tip: head.value, commit: revert.value, subject, trailers };
  const merged = await engine.git.merge(request);
  if (!merged.ok) return failed(merged.error.message);
  if (merged.value.kind === 'conflict') {
    const files = merged.value.files.join(', ');
    return failed(
      `what landed after ${input.taskId} has changed the same lines in ${files}; revert ${input.landed.slice(0, 12)} by hand`,
    );
  }
  const { commit, tree } = merged.value;
  return { kind: 'built', undone: { tip: tip.value, commit, tree } };
}

async function testUndo(
  engine: Engine,
  input: UndoInput,
  undone: Undone,
  signal: AbortSignal,
): Promise<Failure | null> {
  if (input.gate === null) return null;
  const { commit, tree } = undone;
  const redSinceMs = engine.clock.now();
  const question = { commit, tree, command: input.gate, taskIds: [input.taskId], redSinceMs };
  const verdict = await runGate(engine, question, signal);
  switch (verdict.kind) {
    case 'green':
      return null;
    case 'red':
    case 'unusable':
      return { ...verdict.failure, message: `without ${input.taskId}, ${verdict.failure.message}` };
    case 'aborted':
      throw signal.reason;
  }
}

async function moveUndone(engine: Engine, input: UndoInput, undone: Undone): Promise<boolean> {
  const ref = landingRef(input.line);
  const present = await engine.git.readRef(ref);
  if (present === undone.commit) return true;
  if (present !== null && (await engine.git.isAncestor(undone.commit, present))) return true;
  const reason = `drover: undo ${input.taskId}`;
  const { line } = input;
  const moved = await moveLine(engine, line, undone.commit, undone.tip, reason, 'owner');
  if (moved.ok) await engine.git.sync();
  return moved.ok;
}

async function recordUndone(
  engine: Engine,
  tx: Tx,
  input: UndoInput,
  undone: Undone,
): Promise<void> {
  const { store } = engine;
  const { taskId, epoch, line } = input;
  const known = await readLine(tx, line);
  await writeLine(tx, {
    branch: line,
    landed_sha: undone.commit,
    followed_sha: known?.followed_sha ?? null,
    pending: known?.pending ?? 0,
    pending_reason: known?.pending_reason ?? null,
    parent_branch: known?.parent_branch ?? null,
  });
  const freed = await store.transition(tx, {
    taskId,
    epoch,
    from: ['completed'],
    to: 'ready',
    event: 'landing.undone',
    data: { sha: undone.commit, branch: line, landed: input.landed },
    set: {
      attempts: 0,
      landed_sha: null,
      landed_on: null,
      commit_sha: null,
      verdict: 'unknown',
      verdict_reason: null,
      last_error: undoneReason,
    },
  });
  // Reset or begun again by somebody meanwhile: theirs is the last word on the task.
  if (!freed.ok) return;
  await store.transition(tx, {
    taskId,
    epoch,
    to: 'paused',
    event: 'task.paused',
    data: { reason: undoneReason },
  });
}

async function giveUp(
  engine: Engine,
  run: DurableRun<Tx>,
  input: UndoInput,
  reason: Failure,
  round: number,
): Promise<string> {
  await run.commit(`failed:${round}`, async (tx) => {
    await engine.store.append(tx, {
      type: 'landing.undo_failed',
      taskId: input.taskId,
      data: { workflow: run.workflowId, kind: reason.kind, reason: engine.mask(reason.message) },
    });
  });
  return 'failed';
}
