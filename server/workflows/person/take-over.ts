// A person takes over a task's worktree and later returns it. The agent is stopped first, all of
// its files stay, and it later finds the person's changes.

import { attemptTrailers } from '../../core/work/trailers.ts';
import { isHandedOver } from '../../core/plan/task.ts';
import { Refusal } from '../../core/failure.ts';
import { ownedStatuses } from '../../core/plan/state.ts';
import {
  addHint,
  folderOfTask,
  lastAttempt,
  nameOfMachine,
  setAttempt,
  takeByHand,
} from '../../store/port.ts';
import { pauseTask, requireRoot } from './controls.ts';
import { nextAction } from './next-action.ts';
import type { Uses } from '../kit/engine-ports.ts';

export interface TakenOver {
  readonly taskId: string;
  readonly attempt: number;
  readonly worktreePath: string;
  readonly sessionId: string;
  /** The agent's interactive program with its arguments; null if it has none. */
  readonly command: readonly string[] | null;
  readonly branch: string;
}

/** The worktree and the conversation are on the disk of the machine that runs the attempt. */
async function refuseElsewhere(engine: Uses<'machineId' | 'store'>, id: string): Promise<void> {
  const attempt = await lastAttempt(engine.store.db, id);
  if (attempt === null || attempt.machine === engine.machineId) return;
  const name = await nameOfMachine(engine.store.db, attempt.machine);
  throw new Refusal(
    'elsewhere',
    `${id} runs on ${name ?? 'another machine'}. Take it over there, in that machine's clone.`,
  );
}

export async function takeOver(
  engine: Uses<
    'agentEnvironment' | 'clock' | 'driverFor' | 'files' | 'machineId' | 'store' | 'switchboard'
  >,
  id: string,
): Promise<TakenOver> {
  const row = await requireRoot(engine, id, 'taken over');
  const canPause = ownedStatuses.has(row.status) || row.status === 'waiting';
  if (row.status !== 'paused' && !canPause) {
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status}. Only a running or paused task can be taken over; ${nextAction(id, row.status)}.`,
    );
  }
  if (ownedStatuses.has(row.status) && isHandedOver(row.phase)) {
    throw new Refusal(
      'bad_state',
      `${id} has done its work and is about to land. Wait, or cancel it first.`,
    );
  }
  await refuseElsewhere(engine, id);
  if (canPause) await pauseTask(engine, id);
  const attempt = await lastAttempt(engine.store.db, id);
  const path = await folderOfTask(engine.store.db, engine.machineId, id);
  if (attempt === null || path === null || !(await engine.files.exists(path))) {
    throw new Refusal(
      'no_worktree',
      `${id} has no worktree yet and is now paused. Run "drover resume-task ${id}" to resume it.`,
    );
  }
  await engine.store.transaction(async (tx) => {
    await takeByHand(tx, id);
    await engine.store.append(tx, {
      type: 'task.taken_over',
      taskId: id,
      epicId: row.epic_id,
      data: { title: row.title, attempt: attempt.number, by: 'person' },
    });
  });
  const driver = engine.driverFor(attempt.agent, attempt.model);
  const session = attempt.session_started === 1 ? attempt.session_id : null;
  return {
    taskId: id,
    attempt: attempt.number,
    worktreePath: path,
    sessionId: attempt.session_id,
    command: driver.interactive?.(session, engine.agentEnvironment(attempt.agent, null)) ?? null,
    branch: attempt.branch,
  };
}

const byHand =
  'A person has worked in this directory in the meantime. Check what has changed (git status, git log) before you continue, and keep it.';

/**
 * Continues the same attempt in the same worktree and session as soon as a run has a free worker.
 */
export async function handBackToAgent(
  engine: Uses<'files' | 'git' | 'settings' | 'store'>,
  id: string,
  note: string | null,
): Promise<void> {
  const row = await requireRoot(engine, id, 'given back');
  if (row.status !== 'paused') {
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status}. Only a paused task can be returned; ${nextAction(id, row.status)}.`,
    );
  }
  await keepForNewAgent(engine, id);
  const words = note === null || note.trim() === '' ? byHand : `${byHand}\n\n${note.trim()}`;
  await engine.store.transaction(async (tx) => {
    await addHint(tx, engine.store.sources, id, words);
    const outcome = await engine.store.transition(tx, {
      taskId: id,
      to: 'ready',
      from: ['paused'],
      event: 'task.resumed',
      data: { reason: 'given back' },
    });
    if (!outcome.ok) {
      throw new Refusal('bad_state', `${id} was just changed by someone else. Try again.`);
    }
  });
}

/**
 * An agent with memory continues in the current worktree. Another agent starts from its own base,
 * so the person's changes are committed and the attempt continues from that commit.
 */
async function keepForNewAgent(
  engine: Uses<'files' | 'git' | 'settings' | 'store'>,
  id: string,
): Promise<void> {
  const attempt = await lastAttempt(engine.store.db, id);
  if (attempt === null || attempt.session_started === 1) return;
  const { worktree_path: path, base_sha: base, branch } = attempt;
  if (path === null || base === null || !(await engine.files.exists(path))) return;
  const committed = await engine.git.commitLeftovers({
    path,
    branch,
    base,
    subject: `${id}: work by hand`,
    trailers: attemptTrailers(id, attempt.number),
    maxFileSize: engine.settings().maxCommitFileSize,
    runHooks: false,
    signature: null,
  });
  if (!committed.ok) throw new Refusal('git', committed.error.message);
  if (!committed.value.changed) return;
  await engine.store.transaction((tx) =>
    setAttempt(tx, id, attempt.number, { continues_from: branch }),
  );
}
