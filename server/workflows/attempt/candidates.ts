// Ends candidates and makes choices. A candidate's own tree is gated, then it waits. When the rule
// allows it or a person answers, one becomes the work of its task and the others are canceled. Each
// choice is one transaction.

import {
  candidateLine,
  type ChooseRule,
  countDiffLines,
  judgeCandidates,
  linesOfCandidate,
  candidateStanding,
} from '../../core/plan/best-of.ts';
import { failure } from '../../core/failure.ts';
import { ownedStatuses, terminalStatuses } from '../../core/plan/state.ts';
import type { DurableRun } from '../../durable/port.ts';
import {
  askQuestion,
  askToStop,
  attemptsSince,
  candidateFacts,
  candidateNumbers,
  candidatesOf,
  type Claim,
  existingTask,
  taskAndSubTaskIds,
  insertBlockers,
  openCandidates,
  openQuestions,
  readLine,
  refreshReadiness,
  releaseSlot,
  type RunRow,
  setAttempt,
  takeCandidate,
  taskById,
  type TaskRow,
  tasksWithCandidates,
  type Tx,
  withdrawQuestions,
  noOwner,
} from '../../store/port.ts';
import { recordFailure } from './attempt-ends.ts';
import { type GateVerdict, runGate, type Gating } from '../landing/gate.ts';
import type { StartedAttempt, Uses } from '../kit/engine-ports.ts';
import { settleStop, stoppedInstead } from './stops.ts';
import { chooseGateCommand } from './submission.ts';

/**
 * Prefix of the ids of questions about a choice, which distinguishes them from agents' questions.
 */
const choiceRequest = 'choice/';

interface TestedCandidate {
  readonly verdict: GateVerdict;
  /** Added plus removed lines. */
  readonly changedLines: number | null;
  /** Absent in steps stored by earlier releases. */
  readonly removedLines?: number | null;
}

/** Gates the candidate's own tree after its commit. The candidate then waits for the choice. */
export async function gateCandidate(attempt: StartedAttempt): Promise<string> {
  const { engine, run, claim, runRow, signal } = attempt;
  if (!(await waitsForGate(engine, claim))) return 'submitted';
  const tested = await run.step(
    'candidate_gated',
    async () => leaveIfClosing(run, await testCandidate(engine, claim, runRow, signal)),
    (tx, outcome) => recordTested(engine, tx, claim, outcome),
  );
  engine.durable.wake();
  return tested.verdict.kind === 'aborted' ? settleStop(engine, run, claim) : 'candidate';
}

/** Returns false if the work was sent to a person, or if an earlier process already gated it. */
async function waitsForGate(engine: Uses<'store'>, claim: Claim): Promise<boolean> {
  const row = await taskById(engine.store.db, claim.taskId);
  if (row === null || row.epoch !== claim.epoch) return false;
  return row.status === 'in_progress' && row.phase === 'gate' && row.commit_sha !== null;
}

/**
 * A gate that was stopped because the process exits has no result, so its step must run again at
 * the next start.
 */
function leaveIfClosing(run: DurableRun<Tx>, tested: TestedCandidate): TestedCandidate {
  if (tested.verdict.kind === 'aborted' && run.signal.aborted) throw run.signal.reason;
  return tested;
}

async function testCandidate(
  engine: Gating,
  claim: Claim,
  runRow: RunRow,
  signal: AbortSignal,
): Promise<TestedCandidate> {
  const task = await existingTask(engine.store.db, claim.taskId);
  const commit = task.commit_sha ?? '';
  const diff = await engine.git.diff(task.base_sha ?? '', commit);
  const lines = diff.ok ? countDiffLines(diff.value) : null;
  const size = {
    changedLines: lines === null ? null : lines.added + lines.removed,
    removedLines: lines?.removed ?? null,
  };
  const command = chooseGateCommand(engine, runRow, task);
  if (command === null) {
    return { verdict: { kind: 'green', flaky: false }, ...size };
  }
  const tree = await engine.git.treeOf(commit);
  if (!tree.ok) {
    const reason = failure('git_failed', tree.error.message);
    return { verdict: { kind: 'unusable', failure: reason }, ...size };
  }
  const taskIds = [claim.taskId];
  const question = { commit, tree: tree.value, command, taskIds, redSinceMs: engine.clock.now() };
  return { verdict: await runGate(engine, question, signal), ...size };
}

async function recordTested(
  engine: Uses<'chance' | 'clock' | 'mask' | 'settings' | 'store'>,
  tx: Tx,
  claim: Claim,
  tested: TestedCandidate,
): Promise<void> {
  const { verdict } = tested;
  if (verdict.kind === 'aborted' || (await stoppedInstead(engine, tx, claim))) return;
  if (verdict.kind === 'green') await park(engine, tx, claim, tested);
  else await recordFailure(engine, tx, claim, verdict.failure);
}

async function park(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: Claim,
  { changedLines, removedLines = null }: TestedCandidate,
): Promise<void> {
  const { store, clock } = engine;
  await setAttempt(tx, claim.taskId, claim.attempt, {
    state: 'submitted',
    ended_at_ms: clock.now(),
  });
  await store.transition(tx, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    to: 'needs_review',
    event: 'task.needs_review',
    runId: claim.runId,
    data: { kind: 'candidate', changed_lines: changedLines },
    set: {
      review_kind: 'candidate',
      changed_lines: changedLines,
      removed_lines: removedLines,
      verdict: 'pass',
      ...noOwner,
    },
  });
}

/**
 * Creates the candidates of a ready task instead of an attempt. Returns false if the task needs
 * none. A task that already had an attempt continues it, because the chosen work was returned.
 */
export async function beginCandidates(
  engine: Uses<'settings' | 'store'>,
  tx: Tx,
  run: RunRow,
  wanted: Pick<TaskRow, 'id' | 'status' | 'best_of' | 'fallback_from'>,
): Promise<boolean> {
  const count = wanted.best_of ?? engine.settings().bestOf;
  if (count <= 1 || wanted.status !== 'ready') return false;
  const { sources } = engine.store;
  if ((await attemptsSince(tx, wanted.id, wanted.fallback_from)).length > 0) return false;
  // Sub-tasks run inside an attempt of their parent, so the parent cannot have candidates.
  if ((await taskAndSubTaskIds(tx, wanted.id)).length > 1) return false;
  const task = await existingTask(tx, wanted.id);
  const line = await readLine(tx, run.line);
  // A plan is approved for one attempt, so a planned task cannot have candidates.
  const isPlanned = task.plan === null ? engine.settings().plansFirst : task.plan === 1;
  if (task.candidate_of !== null || isPlanned || line === null) return false;
  await openCandidates(tx, sources, task, { count, baseSha: line.landed_sha, runId: run.id });
  return true;
}

/**
 * Checks every task with candidates, and makes each choice that is now possible. Resolves with the
 * number of changed tasks.
 */
export async function settleAll(
  engine: Uses<'settings' | 'store' | 'switchboard'>,
): Promise<number> {
  let changed = 0;
  for (const id of await tasksWithCandidates(engine.store.db)) {
    const settled = await engine.store.transaction((tx) => settleCandidates(engine, tx, id));
    for (const stopped of settled.stopped) engine.switchboard.stop(stopped, null);
    if (settled.changed) changed += 1;
  }
  return changed;
}

interface Settled {
  readonly changed: boolean;
  /** Candidates whose agents must be stopped after the transaction. */
  readonly stopped: readonly string[];
}

const nothingSettled: Settled = { changed: false, stopped: [] };

async function settleCandidates(
  engine: Uses<'settings' | 'store'>,
  tx: Tx,
  taskId: string,
): Promise<Settled> {
  const task = await taskById(tx, taskId);
  const rows = await candidatesOf(tx, taskId);
  if (task === null || terminalStatuses.has(task.status)) {
    return giveUpAll(engine, tx, rows, `${taskId} is over`);
  }
  // The choice has been made, and the remaining candidates are being stopped.
  if ((await attemptsSince(tx, taskId, task.fallback_from)).length > 0) {
    return giveUpAll(engine, tx, rows, 'another one was chosen');
  }
  if (task.status === 'ready') {
    const live = rows.filter((row) => row.stop_requested !== 'cancel').map((row) => row.id);
    if (live.length === 0) return nothingSettled;
    // A user removed its blockers.
    await insertBlockers(tx, taskId, live);
    await refreshReadiness(tx, engine.store.sources, [taskId]);
    return { changed: true, stopped: [] };
  }
  if (task.status !== 'blocked') return nothingSettled;
  const rule = (task.choose ?? engine.settings().choose) as ChooseRule;
  const choice = judgeCandidates(rule, rows.map(candidateFacts));
  switch (choice.kind) {
    case 'wait':
    case 'none':
      return { changed: await withdrawEmptyChoice(engine, tx, taskId, rows), stopped: [] };
    case 'choose':
      return { changed: true, stopped: await choose(engine, tx, task, choice.id, { by: rule }) };
    case 'ask':
      return { changed: await askPerson(engine, tx, task, rows), stopped: [] };
  }
}

async function giveUpAll(
  engine: Uses<'store'>,
  tx: Tx,
  rows: readonly TaskRow[],
  reason: string,
): Promise<Settled> {
  const stopped: string[] = [];
  const left = rows.filter((row) => row.stop_requested !== 'cancel');
  for (const row of left) if (await giveUp(engine, tx, row, reason)) stopped.push(row.id);
  return { changed: left.length > 0, stopped };
}

export async function choose(
  engine: Uses<'store'>,
  tx: Tx,
  task: TaskRow,
  id: string,
  { by, to = 'ready' }: { readonly by: string; readonly to?: 'ready' | 'needs_review' },
): Promise<readonly string[]> {
  const { store } = engine;
  const rows = await candidatesOf(tx, task.id);
  const chosen = rows.find((row) => row.id === id);
  if (chosen === undefined) throw new Error(`${id} is not a candidate of ${task.id}`);
  await takeCandidate(tx, store.sources, task, { chosen, by, to });
  await withdrawQuestions(tx, store.sources, task.id);
  const stopped: string[] = [];
  for (const row of rows) {
    const reason = row === chosen ? `chosen: lands as ${task.id}` : `${id} was chosen`;
    if (await giveUp(engine, tx, row, reason)) stopped.push(row.id);
  }
  return stopped;
}

/**
 * Cancels a candidate. Its commits stay on its branch. Returns true if its agent must be stopped
 * first.
 */
async function giveUp(
  engine: Uses<'store'>,
  tx: Tx,
  row: TaskRow,
  reason: string,
): Promise<boolean> {
  const { store } = engine;
  if (ownedStatuses.has(row.status)) {
    await askToStop(tx, row.id, 'cancel', reason);
    await store.append(tx, {
      type: 'task.stopping',
      taskId: row.id,
      data: { kind: 'cancel', reason },
    });
    return true;
  }
  await store.transition(tx, {
    taskId: row.id,
    to: 'cancelled',
    event: 'task.cancelled',
    data: { reason },
  });
  await withdrawQuestions(tx, store.sources, row.id);
  await releaseSlot(tx, 'task', row.id);
  return false;
}

/** Returns false if the same question is already open. */
async function askPerson(
  engine: Uses<'store'>,
  tx: Tx,
  task: TaskRow,
  rows: readonly TaskRow[],
): Promise<boolean> {
  const { store } = engine;
  const green = rows.filter((row) => candidateStanding(candidateFacts(row)) === 'green');
  const lines = await candidateLines(tx, task.id, rows);
  // Work that was sent back and redone requires a new question.
  const requestId = `${choiceRequest}${green.map((row) => row.commit_sha?.slice(0, 12)).join('+')}`;
  const open = await openQuestions(tx, task.id);
  if (open.some((question) => question.request_id === requestId)) return false;
  await withdrawQuestions(tx, store.sources, task.id);
  await askQuestion(tx, store.sources, {
    taskId: task.id,
    attempt: 0,
    requestId,
    kind: 'question',
    text: ['Which candidate should land?', ...lines].join('\n'),
    choices: green.map((row) => row.id),
  });
  return true;
}

/**
 * Withdraws a question if every candidate in it was sent back or has ended, because no answer would
 * be valid. It is asked again when a candidate can be chosen. Returns true if a question was
 * withdrawn.
 */
async function withdrawEmptyChoice(
  engine: Uses<'store'>,
  tx: Tx,
  taskId: string,
  rows: readonly TaskRow[],
): Promise<boolean> {
  if (rows.some((row) => candidateStanding(candidateFacts(row)) === 'green')) return false;
  if (!(await openQuestions(tx, taskId)).some(isChoice)) return false;
  await withdrawQuestions(tx, engine.store.sources, taskId);
  return true;
}

async function candidateLines(
  tx: Tx,
  taskId: string,
  rows: readonly TaskRow[],
): Promise<readonly string[]> {
  const numbers = await candidateNumbers(tx, taskId);
  return rows.map((row) => {
    const facts = {
      number: numbers.get(row.id) ?? 0,
      stand: candidateStanding(candidateFacts(row)),
      ...linesOfCandidate(row),
      costUsd: row.cost_usd,
    };
    const why = row.last_error === null || facts.stand === 'green' ? '' : ` (${row.last_error})`;
    return `${candidateLine(facts, row.status.replace('_', ' '))} · ${row.id}${why}`;
  });
}

export function isChoice(question: { readonly request_id: string }): boolean {
  return question.request_id.startsWith(choiceRequest);
}
