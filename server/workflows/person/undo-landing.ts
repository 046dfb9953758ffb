// Reverts landed work by a commit, through the gate and the compare-and-swap like any landing.
//
// The landing stays in the history, because later work may be based on it. Drover creates a commit
// on top of the landing with the tree of its first parent. Merging that commit into the tip reverts
// the landing by the same three-way merge as every landing. Several commits are reverted newest
// first, and arrive on the line as one commit, so that only the tested tree ever becomes the tip.
// The tasks are then paused with the reason as their last error, because a person who reverts work
// rarely wants the same agent to redo it at once. Resuming a task starts a new attempt from the
// current line.
//
// Work that the forge merged is reverted on the forge's latest base and sent there as a pull
// request once its gate is green. The local branch moves only after that is merged.

import { trailer } from '../../core/work/trailers.ts';
import { err, failure, type Failure, ok, Refusal } from '../../core/failure.ts';
import { firstLineOf } from '../../core/format.ts';
import type { DurableRun } from '../../durable/port.ts';
import type { GitResult, Merge } from '../../git/port.ts';
import { recordLine, reopenEpic, type Tx } from '../../store/port.ts';
import { waitFor } from './controls.ts';
import { gateFailure } from '../landing/gate.ts';
import { withGitFallback } from '../kit/git-trouble.ts';
import { asLander } from '../landing/lander.ts';
import { landInRounds, type LineMerge, type RoundsEnd } from '../landing/land-rounds.ts';
import { forgeHead, planUndoPull } from '../landing/pull-request.ts';
import { mergeTargetForLanding } from '../line/line.ts';
import type { EngineOfRun } from '../kit/engine-of-run.ts';
import type { Engine, Uses } from '../kit/engine-ports.ts';
import { landQueue, limitLandQueue } from '../attempt/submission.ts';
import { planUndo, type Revert, type UndoPlan } from './undo-plan.ts';
import type { Sha } from '../../git/sha.ts';

export const undoWorkflow = 'undo-landing';

export interface UndoInput extends UndoPlan {
  /** The person or agent who requested it. Absent in requests of older versions. */
  readonly by?: string;
}

const undoneReason = 'its landing was undone';

export interface UndoAnswer {
  readonly plan: UndoPlan;
  /** Tasks that depend on the reverted work. */
  readonly dependents: readonly string[];
  /**
   * `running`: it takes longer than a request may wait; later events of this workflow (after number
   * `after`) report its end. `sent`: the pull request with the revert is being opened.
   */
  readonly state: 'planned' | 'running' | 'undone' | 'sent';
  readonly workflowId: string | null;
  readonly after: number;
}

/**
 * Reports the commits that an undo would revert, and whether the revert can be built. Moves
 * nothing.
 */
export async function previewUndo(
  engine: Uses<'forge' | 'git' | 'machineId' | 'settings' | 'store'>,
  id: string,
): Promise<UndoAnswer & { readonly tree: Sha }> {
  const { plan, dependents } = await planUndo(engine, id);
  const built = await withGitFallback<Built>(
    () => buildUndo(engine, plan),
    (trouble) => ({ kind: 'failed', failure: trouble }),
  );
  if (built.kind === 'failed') throw new Refusal('not_undone', built.failure.message);
  const after = await engine.store.feed.lastSeq();
  const { tree } = built.undone;
  return { plan, dependents, state: 'planned', workflowId: null, after, tree };
}

/** Resolves when the undo is done or, after a time limit, while it is still running. */
export async function undoLanding(engine: Engine, id: string, by: string): Promise<UndoAnswer> {
  const { plan, dependents } = await planUndo(engine, id);
  const workflowId = `undo/${id}/${engine.store.sources.uuid()}`;
  const after = await engine.store.feed.lastSeq();
  limitLandQueue(engine, plan.line);
  const input: UndoInput = { ...plan, by };
  await engine.durable.start(undoWorkflow, workflowId, input, { queue: landQueue(plan.line) });
  engine.durable.wake();
  const isOver = async (): Promise<boolean> => {
    const state = (await engine.durable.get(workflowId))?.state;
    return state !== 'pending' && state !== 'running';
  };
  const answer = { plan, dependents, workflowId, after };
  if (!(await waitFor(engine, isOver))) return { ...answer, state: 'running' };
  const refused = await lastWord(engine, after, workflowId);
  if (refused !== null) throw new Refusal('not_undone', refused);
  return { ...answer, state: plan.forge === undefined ? 'undone' : 'sent' };
}

async function lastWord(
  engine: Uses<'store'>,
  after: number,
  workflowId: string,
): Promise<string | null> {
  const events = await engine.store.feed.read({ after, type: 'landing.undo_failed', limit: 1_000 });
  const own = events.findLast(({ data }) => data['workflow'] === workflowId);
  const reason = own?.data['reason'];
  return typeof reason === 'string' ? reason : null;
}

type Built =
  | { readonly kind: 'built'; readonly undone: LineMerge }
  | { readonly kind: 'failed'; readonly failure: Failure };

function askerOf({ by }: Pick<UndoInput, 'by'>): string {
  return by ?? 'person';
}

export async function runUndo(
  engine: EngineOfRun,
  run: DurableRun<Tx>,
  input: UndoInput,
): Promise<string> {
  const end = await asLander(engine, run, input.line, (own) =>
    landInRounds<Built>(engine, run, {
      line: input.line,
      reason: `drover: undo ${input.id}`,
      build: () =>
        withGitFallback<Built>(
          () => buildOwned(engine, input, own),
          (trouble) => ({ kind: 'failed', failure: trouble }),
        ),
      mergeOf: (built) => (built.kind === 'built' ? ok(built.undone) : err(built.failure)),
      test: (undone, signal) => testUndo(engine, input, undone, signal),
      isHeld: () => Promise.resolve(input.forge !== undefined),
      record: (tx, undone) => recordUndone(engine, tx, input, undone.commit, run.workflowId),
    }),
  );
  switch (end.kind) {
    case 'landed':
      return 'undone';
    case 'not_built':
    case 'red':
      return giveUp(engine, run, input, end.failure, end.round);
    case 'held':
      return sendUndo(engine, run, input, end);
    case 'moving': {
      const moving = failure('git_failed', `${input.line} moves too often. Try again.`);
      return giveUp(engine, run, input, moving, end.round);
    }
  }
}

async function buildOwned(
  engine: Uses<'forge' | 'git' | 'machineId' | 'store'>,
  input: UndoInput,
  own: () => Promise<GitResult<void>>,
): Promise<Built> {
  const owned = await own();
  return owned.ok ? await buildUndo(engine, input) : failedBuild(owned.error.message);
}

function failedBuild(message: string): Built {
  return { kind: 'failed', failure: failure('git_failed', message) };
}

async function buildUndo(
  engine: Uses<'forge' | 'git' | 'machineId' | 'store'>,
  input: UndoInput,
): Promise<Built> {
  const found =
    input.forge === undefined
      ? await mergeTargetForLanding(engine, input.line)
      : await forgeHead(engine, input.forge.base);
  if (!found.ok) return { kind: 'failed', failure: found.error };
  const { tip, head, includes } = found.value;
  let last: Merge | null = null;
  for (const revert of input.reverts) {
    const strange = await whyNotRevertible(engine, input, head, revert);
    if (strange !== null) return failedBuild(strange);
    const taken = await takeBack(engine, input, last?.commit ?? head, revert.sha);
    if (!taken.ok) return failedBuild(taken.error);
    last = taken.value;
  }
  if (last === null) return failedBuild(`${input.id} has nothing to undo`);
  // Several reverts arrive as one commit, because only the tested tree may become the tip.
  if (input.reverts.length > 1) {
    const words = wordsOf(input);
    const joined = await engine.git.merge({ tip: head, commit: last.commit, ...words });
    if (!joined.ok) return failedBuild(joined.error.message);
    if (joined.value.kind === 'conflict') return failedBuild(`${input.id} could not be undone`);
    last = joined.value;
  }
  const { commit, tree } = last;
  return { kind: 'built', undone: { tip, includes, commit, tree } };
}

/**
 * Returns a sentence if the commit is no longer on the line, or contains more than the work to
 * revert.
 */
async function whyNotRevertible(
  engine: Uses<'git'>,
  { id, line }: UndoInput,
  head: Sha,
  { sha, mark }: Revert,
): Promise<string | null> {
  if (!(await engine.git.isAncestor(sha, head))) {
    return `the commit ${sha.slice(0, 12)} of ${id} is not in ${line} any more`;
  }
  if (mark === null) return null;
  const itself = await engine.git.lineCommits(null, sha, 1);
  if (!itself.ok) return itself.error.message;
  if (itself.value[0]?.trailers.includes(mark) === true) return null;
  return `${sha.slice(0, 12)}, which brought in the work of ${id}, is not Drover's own commit and may hold more; revert it by hand (git revert -m 1 ${sha.slice(0, 12)})`;
}

type TakenBack =
  | { readonly ok: true; readonly value: Merge }
  | { readonly ok: false; readonly error: string };

async function takeBack(
  engine: Uses<'git'>,
  input: UndoInput,
  tip: Sha,
  landed: Sha,
): Promise<TakenBack> {
  const words = wordsOf(input);
  const revert = await engine.git.revertOf({ commit: landed, ...words });
  if (!revert.ok) return { ok: false, error: revert.error.message };
  const merged = await engine.git.merge({ tip, commit: revert.value, ...words });
  if (!merged.ok) return { ok: false, error: merged.error.message };
  if (merged.value.kind === 'merged') return { ok: true, value: merged.value };
  const files = merged.value.files.join(', ');
  const error = `Later landings have changed the same lines as ${input.id} in ${files}. Revert ${landed.slice(0, 12)} by hand.`;
  return { ok: false, error };
}

function wordsOf({ id, title }: UndoInput): { subject: string; trailers: readonly string[] } {
  return {
    subject: `drover: undo ${id} ${firstLineOf(title)}`,
    trailers: [trailer('undo', id)],
  };
}

async function testUndo(
  engine: Engine,
  input: UndoInput,
  undone: LineMerge,
  signal: AbortSignal,
): Promise<Failure | null> {
  if (input.gate === null) return null;
  const { commit, tree } = undone;
  const redSinceMs = engine.clock.now();
  const question = {
    commit,
    tree,
    command: input.gate,
    taskIds: input.tasks.map(({ id }) => id),
    redSinceMs,
    about: `without ${input.id}, the gate is red`,
  };
  return await gateFailure(engine, question, signal);
}

async function sendUndo(
  engine: Uses<'clock' | 'settings' | 'store'>,
  run: DurableRun<Tx>,
  input: UndoInput,
  { merge, round }: Extract<RoundsEnd, { readonly kind: 'held' }>,
): Promise<string> {
  const { forge, epicId, line } = input;
  if (forge === undefined || epicId === null) throw new Error(`${input.id} is not on the forge`);
  const { tip: base, commit, tree } = merge;
  await run.commit(`sent:${round}`, async (tx) => {
    const tested = { epicId, line, tip: commit, tree, testedBase: base };
    await planUndoPull(engine, tx, tested, forge);
    const reverts = input.reverts.map(({ sha }) => sha);
    const data = {
      sha: commit,
      branch: line,
      reverts,
      workflow: run.workflowId,
      by: askerOf(input),
    };
    await engine.store.append(tx, { type: 'epic.undo_sent', epicId, data });
  });
  return 'sent';
}

async function recordUndone(
  engine: Uses<'store'>,
  tx: Tx,
  input: UndoInput,
  sha: Sha,
  workflow: string,
): Promise<void> {
  await recordLine(tx, input.line, { landed: sha });
  await noteUndone(engine, tx, input, { sha, workflow });
}

type Noted = Pick<UndoInput, 'epicId' | 'line' | 'tasks' | 'reverts' | 'by'>;

/**
 * Records that the commit `sha` removed the work from its line. `workflow` is null if the forge
 * removed it.
 */
export async function noteUndone(
  engine: Uses<'store'>,
  tx: Tx,
  input: Noted,
  undone: { readonly sha: Sha; readonly workflow: string | null },
): Promise<void> {
  const { line, epicId } = input;
  if (epicId !== null) {
    await reopenEpic(tx, epicId, undoneReason);
    const reverts = input.reverts.map(({ sha }) => sha);
    const data = { ...undone, branch: line, reverts, by: askerOf(input) };
    await engine.store.append(tx, { type: 'epic.undone', epicId, data });
  }
  for (const task of input.tasks) await freeTask(engine, tx, task, { input, undone });
}

async function freeTask(
  engine: Uses<'store'>,
  tx: Tx,
  { id: taskId, epoch, landed }: UndoInput['tasks'][number],
  { input, undone }: { input: Noted; undone: { sha: Sha; workflow: string | null } },
): Promise<void> {
  const freed = await engine.store.transition(tx, {
    taskId,
    epoch,
    from: ['completed'],
    to: 'ready',
    event: 'landing.undone',
    data: { ...undone, branch: input.line, landed, by: askerOf(input) },
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
  // A person has reset or restarted the task since; that takes precedence.
  if (!freed.ok) return;
  await engine.store.transition(tx, {
    taskId,
    epoch,
    to: 'paused',
    event: 'task.paused',
    data: { reason: undoneReason },
  });
}

async function giveUp(
  engine: Uses<'mask' | 'store'>,
  run: DurableRun<Tx>,
  input: UndoInput,
  reason: Failure,
  round: number,
): Promise<string> {
  await run.commit(`failed:${round}`, async (tx) => {
    await engine.store.append(tx, {
      type: 'landing.undo_failed',
      ...(input.epicId === null ? { taskId: input.id } : { epicId: input.epicId }),
      data: {
        workflow: run.workflowId,
        kind: reason.kind,
        reason: engine.mask(reason.message),
        by: askerOf(input),
      },
    });
  });
  return 'failed';
}
