// A person's actions on a task: pause, resume, cancel, retry, hint, answer, approve, send back,
// reset. Each one waits until the change has taken effect. An action that makes no sense is refused
// with a remedy.

import { Refusal } from '../../core/failure.ts';
import { redBaseCause } from '../../core/plan/block-cause.ts';
import { ownedStatuses, type TaskStatus } from '../../core/plan/state.ts';
import {
  addHint,
  askBaseGate,
  askToStop,
  endQuestion,
  freshenBlocked,
  freshFields,
  isSpentCandidate,
  lastAttempt,
  questionById,
  releaseSlot,
  rootTaskId,
  rootTasks,
  setAttempt,
  type StopKind,
  taskOrRefuse,
  type TaskRow,
  type Tx,
  withdrawQuestions,
} from '../../store/port.ts';
import { isChoice } from '../attempt/candidates.ts';
import { chooseByPerson } from './choose-candidate.ts';
import { type Finished, finishedAs } from '../attempt/refused-work.ts';
import { nextAction } from './next-action.ts';
import { nextAppend } from '../kit/next-append.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** For functions that stop an agent and wait until it has ended. */
type Stopping = Uses<'clock' | 'store' | 'switchboard'>;

/** For functions that change one row at a time. */
type Changing = Uses<'clock' | 'store'>;

/** For functions that only read and change rows. */
type Stored = Uses<'store'>;

/** How long a command waits for its change to take effect (part of the command's contract). */
const waitMaxMs = 15_000;

export async function pauseTask(engine: Stopping, id: string): Promise<void> {
  const row = await requireRoot(engine, id, 'paused');
  if (row.status === 'paused') return;
  if (ownedStatuses.has(row.status)) return pauseOwned(engine, row);
  const done = await engine.store.transaction((tx) =>
    engine.store.transition(tx, {
      taskId: id,
      to: 'paused',
      event: 'task.paused',
      data: { by: 'person' },
      from: ['ready', 'blocked', 'waiting'],
    }),
  );
  if (done.ok) return;
  // The task has just started, so its agent must be stopped first.
  const now = await requireTask(engine, id);
  if (ownedStatuses.has(now.status)) return pauseOwned(engine, now);
  throw new Refusal('bad_state', cannotBecome(id, now.status, 'paused', []));
}

async function pauseOwned(engine: Stopping, row: TaskRow): Promise<void> {
  await stopOwned(engine, row, 'pause', null);
  // The choice of another candidate or another person may have decided first.
  const { status } = await requireTask(engine, row.id);
  if (status === 'cancelled')
    throw new Refusal('bad_state', cannotBecome(row.id, status, 'paused', []));
}

export async function unpauseTask(engine: Stored, id: string, hint: string | null): Promise<void> {
  await requireRoot(engine, id, 'unpaused');
  await engine.store.transaction(async (tx) => {
    if (hint !== null) await addHint(tx, engine.store.sources, id, hint);
    const outcome = await engine.store.transition(tx, {
      taskId: id,
      to: 'ready',
      event: 'task.resumed',
      from: ['paused'],
      data: { by: 'person' },
    });
    if (!outcome.ok)
      throw new Refusal('bad_state', cannotBecome(id, outcome.status, 'ready', ['paused']));
  });
}

export async function cancelTask(
  engine: Stopping,
  id: string,
  reason: string | null,
): Promise<void> {
  const row = await requireTask(engine, id);
  if (row.status === 'cancelled') return;
  if (row.status === 'completed')
    throw new Refusal(
      'bad_state',
      `${id} is completed, and a landed task can't be canceled. Run "drover undo ${id}" instead.`,
    );
  if (row.parent_id === null && isHeld(row)) return stopOwned(engine, row, 'cancel', reason);
  if (ownedStatuses.has(row.status))
    throw new Refusal(
      'bad_state',
      `${id} is running inside ${row.parent_id}. Cancel ${row.parent_id}, or wait.`,
    );
  const cancelled = await engine.store.transaction(async (tx) => {
    const change = {
      taskId: id,
      to: 'cancelled',
      event: 'task.cancelled',
      data: { reason, by: 'person' },
    } as const;
    const done = await engine.store.transition(tx, { ...change, from: [row.status] });
    if (!done.ok) return false;
    if ((await finishedAs(tx, id)) !== 'uncommitted') await releaseSlot(tx, 'task', id);
    await withdrawQuestions(tx, engine.store.sources, id);
    return true;
  });
  // The transition fails if the task has just started. Then its agent must be stopped first.
  if (!cancelled) await cancelTask(engine, id, reason);
}

/** True while a workflow works on the task, including the landing of an approved one. */
export function isHeld(row: Pick<TaskRow, 'status' | 'phase'>): boolean {
  return ownedStatuses.has(row.status) || (row.status === 'needs_review' && row.phase === 'land');
}

/** Asks the owner to stop and waits until the row shows it. */
async function stopOwned(
  engine: Stopping,
  row: TaskRow,
  kind: StopKind,
  reason: string | null,
): Promise<void> {
  await requestStop(engine, row.id, kind, reason, { by: 'person' });
  const over = await waitFor(engine, async () => {
    const now = await requireTask(engine, row.id);
    return now.epoch !== row.epoch || !isHeld(now);
  });
  if (over) return;
  throw new Refusal(
    'slow',
    `${row.id} is still stopping after ${waitMaxMs / 1000} s. The request remains; "drover status" shows when it is done.`,
  );
}

export async function requestStop(
  engine: Uses<'store' | 'switchboard'>,
  id: string,
  kind: StopKind,
  reason: string | null,
  /** Set if a person decided it and not a program. */
  who: { readonly by?: 'person' } = {},
): Promise<void> {
  const epoch = await engine.store.transaction(async (tx) => {
    const asked = await askToStop(tx, id, kind, reason);
    if (asked === null) return null;
    const data = { kind, reason, ...who };
    await engine.store.append(tx, { type: 'task.stopping', taskId: id, data });
    return asked;
  });
  if (epoch !== null) engine.switchboard.stop(id, epoch);
}

export async function retryTask(engine: Changing, id: string, force: boolean): Promise<void> {
  const row = await requireRoot(engine, id, 'retried');
  const allowed: TaskStatus[] = ['failed', 'cancelled', 'conflict', 'needs_review'];
  if (force) allowed.push('completed', 'paused');
  if (row.status === 'blocked' && row.blocked_reason !== null) allowed.push('blocked');
  if (isHeld(row))
    throw new Refusal('bad_state', `${id} is running. Run "drover cancel ${id}" first.`);
  if (!allowed.includes(row.status))
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status} and can't be retried; ${nextAction(id, row.status)}.`,
    );
  if (await isSpentCandidate(engine.store.db, row))
    throw new Refusal(
      'bad_state',
      `${id} was a candidate of a choice that is over. Run "drover retry ${row.candidate_of ?? ''} --force" to start over.`,
    );
  const begun = await engine.store.transaction(async (tx) => {
    const isFinished = !force && (await finishedAs(tx, id)) === 'uncommitted';
    return freshStart(engine, tx, row, 'task.retry', { goesOn: isFinished ? 'uncommitted' : null });
  });
  if (!begun) throw new Refusal('bad_state', `${id} was just changed by someone else. Try again.`);
}

interface FreshStart {
  /** The last attempt, if its agent finished and it continues; null to start a new one. */
  readonly goesOn?: Finished | null;
  /** Additional data for the event. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Makes the task ready, with no attempts used. */
export async function freshStart(
  engine: Changing,
  tx: Tx,
  row: TaskRow,
  event: string,
  { goesOn = null, more = {} }: FreshStart = {},
): Promise<boolean> {
  const last = await lastAttempt(tx, row.id);
  const outcome = await engine.store.transition(tx, {
    taskId: row.id,
    to: 'ready',
    from: [row.status],
    event,
    data: { by: 'person', ...more },
    set: freshFields(last?.number ?? 0),
  });
  // It stays blocked if its blockers require it, but not because of the external cause.
  const stays = !outcome.ok && outcome.status === 'blocked' && row.status === 'blocked';
  if (!outcome.ok && !stays) return false;
  if (stays) {
    await freshenBlocked(tx, row.id, last?.number ?? 0);
    await engine.store.append(tx, {
      type: event,
      taskId: row.id,
      data: { title: row.title, by: 'person', ...more },
    });
  }
  if (
    goesOn === null &&
    last !== null &&
    ['interrupted', 'waiting', 'running'].includes(last.state)
  ) {
    await setAttempt(tx, row.id, last.number, { state: 'failed', ended_at_ms: engine.clock.now() });
  }
  // The slot has the only copy of uncommitted work.
  if (goesOn !== 'uncommitted') await releaseSlot(tx, 'task', row.id);
  // A person may have fixed the cause without a commit.
  const cause = redBaseCause(row);
  if (cause !== null) await askBaseGate(tx, cause.line, engine.clock.now());
  return true;
}

/** When the agent gets a hint: `now` while it runs, otherwise with its `next_prompt`. */
export type HintDelivery = 'now' | 'next_prompt';

export async function hintTask(
  engine: Uses<'driverFor' | 'store' | 'switchboard'>,
  id: string,
  text: string,
): Promise<HintDelivery> {
  if (text.trim() === '') throw new Refusal('bad_request', 'The hint must not be empty.');
  const row = await requireTask(engine, id);
  if (row.status === 'completed' || row.status === 'cancelled')
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status}, so a hint would not reach an agent; ${nextAction(id, row.status)}.`,
    );
  await engine.store.transaction((tx) => addHint(tx, engine.store.sources, id, text));
  engine.switchboard.hintAdded(id);
  if (row.status !== 'in_progress' || row.phase !== 'agent') return 'next_prompt';
  const attempt = await lastAttempt(engine.store.db, id);
  const hears = attempt !== null && engine.driverFor(attempt.agent).capabilities.hints;
  return hears ? 'now' : 'next_prompt';
}

export async function answerQuestion(
  engine: Parameters<typeof chooseByPerson>[0],
  id: string,
  choice: string,
): Promise<string> {
  const row = await questionById(engine.store.db, id);
  if (row === null)
    throw new Refusal(
      'unknown_id',
      `Question "${id}" does not exist. Run "drover status" to list the open questions.`,
    );
  if (row.state !== 'open')
    throw new Refusal(
      'bad_state',
      `Question ${id} is already ${row.state}. Run "drover status" to list the open questions.`,
    );
  const choices = JSON.parse(row.choices) as string[];
  // Secrets are masked in the stored text of a choice.
  const chosen = pickChoice(choices, choice) ?? pickChoice(choices, engine.mask(choice));
  if (chosen === null)
    throw new Refusal(
      'bad_choice',
      `"${choice}" is not an answer to ${id}. Choose one of: ${choices.join(', ')}.`,
    );
  const answer = { state: 'answered', answer: engine.mask(chosen) } as const;
  if (isChoice(row)) {
    await chooseByPerson(engine, chosen, (tx) => endQuestion(tx, engine.store.sources, id, answer));
    return row.task_id;
  }
  const ended = await engine.store.transaction((tx) =>
    endQuestion(tx, engine.store.sources, id, answer),
  );
  if (!ended)
    throw new Refusal(
      'bad_state',
      `Question ${id} is no longer open. Run "drover status" to list the open questions.`,
    );
  engine.switchboard.answered(id, chosen);
  return row.task_id;
}

/**
 * Matches a choice by its text, its number (from 1) or a unique prefix. Returns the text itself if
 * no choices were offered.
 */
function pickChoice(choices: readonly string[], text: string): string | null {
  if (choices.length === 0) return text;
  const wanted = text.trim().toLowerCase();
  const exact = choices.find((choice) => choice.toLowerCase() === wanted);
  if (exact !== undefined) return exact;
  if (/^\d+$/.test(wanted)) return choices[Number(wanted) - 1] ?? null;
  const starting = choices.filter((choice) => choice.toLowerCase().startsWith(wanted));
  return wanted !== '' && starting.length === 1 ? (starting[0] ?? null) : null;
}

export async function resetTasks(
  engine: Changing,
  options: { readonly ids: readonly string[]; readonly statuses: readonly TaskStatus[] },
): Promise<{ reset: string[]; refused: { id: string; reason: string }[] }> {
  const rows = await rootTasks(engine.store.db, options);
  for (const id of options.ids) {
    if (!rows.some((row) => row.id === id))
      throw new Refusal(
        'unknown_id',
        `Task "${id}" does not exist or is a sub-task (reset its parent instead). Run "drover status" to list the ids.`,
      );
  }
  const done: string[] = [];
  const refused: { id: string; reason: string }[] = [];
  for (const row of rows) {
    if (isHeld(row)) {
      refused.push({ id: row.id, reason: 'its owner is running; cancel it first' });
      continue;
    }
    if (row.status === 'ready') continue;
    if (await isSpentCandidate(engine.store.db, row)) {
      refused.push({ id: row.id, reason: 'the choice that it was a candidate for is over' });
      continue;
    }
    const outcome = await engine.store.transaction((tx) =>
      freshStart(engine, tx, row, 'task.reset'),
    );
    if (outcome) done.push(row.id);
    else refused.push({ id: row.id, reason: `it is ${row.status} and has nothing to reset` });
  }
  return { reset: done, refused };
}

export function requireTask(engine: Stored, id: string): Promise<TaskRow> {
  return taskOrRefuse(engine.store.db, id);
}

export async function requireRoot(engine: Stored, id: string, verb: string): Promise<TaskRow> {
  const row = await requireTask(engine, id);
  if (row.parent_id === null) return row;
  const root = await engine.store.transaction((tx) => rootTaskId(tx, id));
  throw new Refusal('bad_state', `${id} is a sub-task and can't be ${verb} alone. Name ${root}.`);
}

function cannotBecome(
  id: string,
  status: TaskStatus | null,
  to: TaskStatus,
  from: readonly TaskStatus[],
): string {
  if (status === null) return `${id} no longer exists. Run "drover status" to list the ids.`;
  const only = from.length === 0 ? `it can't become ${to}` : `only a ${from.join(' or ')} task can`;
  return `${id} is ${status}, ${only}; ${nextAction(id, status)}.`;
}

export async function waitFor(engine: Changing, done: () => Promise<boolean>): Promise<boolean> {
  const endMs = engine.clock.now() + waitMaxMs;
  for (;;) {
    if (await done()) return true;
    const leftMs = endMs - engine.clock.now();
    if (leftMs <= 0) return false;
    await nextAppend(engine, Math.min(leftMs, 500));
  }
}
