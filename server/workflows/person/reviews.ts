// A person approves finished work or sends it back. The approval of an epic applies only to the
// tested tree.

import { firstLineOf } from '../../core/format.ts';
import { approvedRoot } from '../../core/work/ref-names.ts';
import { trailer } from '../../core/work/trailers.ts';
import { Refusal } from '../../core/failure.ts';
import {
  addTask,
  approveEpicTree,
  beginApprovedLanding,
  epicById,
  lastAttempt,
  newestRun,
  releaseSlot,
  runById,
  sendEpicBack,
  setAttempt,
  type TaskRow,
  type Tx,
} from '../../store/port.ts';
import { chooseByPerson } from './choose-candidate.ts';
import { isHeld, requireTask } from './controls.ts';
import { startEpicLanding } from '../landing/land-epic.ts';
import { nextAction } from './next-action.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { approvePlan, sendPlanBack } from '../run/plan-decisions.ts';
import { chooseGateCommand, submitLanding } from '../attempt/submission.ts';

/**
 * `seen`: the reviewed commit (for a plan: `plan-<number>`). The approval is refused if the work
 * has changed since. `plan`: the plan as the person edited it.
 */
export async function approve(
  engine: Uses<'durable' | 'git' | 'machineId' | 'mask' | 'settings' | 'store' | 'switchboard'>,
  id: string,
  seen: string | null = null,
  plan: string | null = null,
  isWithIgnored = false,
): Promise<'task' | 'epic'> {
  const epic = await epicById(engine.store.db, id);
  if (plan !== null && epic !== null) throw noPlan(id);
  if (isWithIgnored && epic !== null) throw noIgnored(id);
  if (epic !== null) {
    const tree = seen === null ? epic.review_tree : await treeSeen(engine, seen);
    await approveEpic(engine, id, epic.landing_state, tree);
    return 'epic';
  }
  const row = await requireTask(engine, id);
  if (row.status !== 'needs_review')
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status}. Only what needs a review can be approved; ${nextAction(id, row.status)}.`,
    );
  if (row.review_kind === 'plan') {
    await approvePlan(engine, row, { changed: plan, seen });
    return 'task';
  }
  if (plan !== null) throw noPlan(id);
  const hasIgnored = row.review_kind === 'no_changes' && row.held_files !== '[]';
  if (isWithIgnored && !hasIgnored) throw noIgnored(id);
  if (seen !== null && row.commit_sha !== null && row.commit_sha !== seen) throw changedSince(id);
  if (row.candidate_of !== null) {
    await chooseByPerson(engine, id);
    return 'task';
  }
  // Already approved, and about to land.
  if (isHeld(row)) return 'task';
  await (isWithIgnored ? landIgnored(engine, row) : approveTask(engine, row));
  return 'task';
}

function noIgnored(id: string): Refusal {
  const message = `${id} has no ignored files that wait for a decision. Leave --with-ignored out.`;
  return new Refusal('bad_state', message);
}

async function treeSeen(engine: Uses<'git'>, seen: string): Promise<string> {
  const tree = await engine.git.treeOf(seen);
  if (!tree.ok) throw new Refusal('git', tree.error.message);
  return tree.value;
}

function noPlan(id: string): Refusal {
  return new Refusal('bad_state', `No plan of ${id} waits for an approval. Leave the plan out.`);
}

function changedSince(id: string): Refusal {
  return new Refusal(
    'bad_state',
    `${id} has changed since you reviewed it. Review the change again, then approve it.`,
  );
}

async function approveEpic(
  engine: Uses<'durable' | 'git' | 'machineId' | 'store'>,
  id: string,
  state: string | null,
  tree: string | null,
): Promise<void> {
  if (state !== 'needs_review' || tree === null) {
    throw new Refusal('bad_state', notForReview(id, state));
  }
  const run = await newestRun(engine.store.db, { epicId: id });
  if (run === null)
    throw new Refusal(
      'bad_state',
      `Epic ${id} has never run. Run "drover run --epic ${id} --land review".`,
    );
  await engine.store.transaction(async (tx) => {
    await approveEpicTree(tx, id, tree);
    await engine.store.append(tx, {
      type: 'epic.approved',
      epicId: id,
      data: { tree, by: 'person' },
    });
  });
  await startEpicLanding(engine, run, true);
}

function notForReview(id: string, state: string | null): string {
  const remedy =
    state === 'landed'
      ? `drover diff ${id} shows the landed change`
      : `drover run --epic ${id} --land review brings it there`;
  return `epic ${id} does not wait for an approval (${state ?? 'nothing has landed on it yet'}); ${remedy}`;
}

/**
 * Removes held files that the agent itself committed from the tree and the history. Returns null if
 * nothing is left to land.
 */
async function commitToLand(
  engine: Uses<'git' | 'settings'>,
  row: TaskRow,
): Promise<string | null> {
  const { commit_sha: commit, base_sha: base } = row;
  if (commit === null || base === null || row.review_kind !== 'held_files') return commit;
  const trailers = [trailer('task', row.id)];
  const subject = `${row.id}: ${firstLineOf(row.title)}`;
  const held = JSON.parse(row.held_files) as string[];
  const maxFileSize = engine.settings().maxCommitFileSize;
  const made = await engine.git.withoutHeld({ base, commit, held, maxFileSize, subject, trailers });
  if (!made.ok) throw new Refusal('git', made.error.message);
  if (made.value === null || made.value === commit) return made.value;
  await nameApproved(engine, row.id, made.value);
  return made.value;
}

/** The result consists of ignored files, which land as a commit on the attempt's base. */
async function landIgnored(
  engine: Uses<'durable' | 'git' | 'machineId' | 'settings' | 'store'>,
  row: TaskRow,
): Promise<void> {
  const attempt = await lastAttempt(engine.store.db, row.id);
  const label = `${row.id}/${attempt?.number ?? 1}/ignored`;
  const found = await engine.git.lastSnapshot(label, 'anywhere');
  if (!found.ok) throw new Refusal('git', found.error.message);
  if (found.value === null || row.base_sha === null) {
    const place = row.worktree_path === null ? '' : ` They are in ${row.worktree_path}.`;
    const message = `The ignored files of ${row.id} are in no snapshot.${place} Copy those you want, then approve without --with-ignored.`;
    throw new Refusal('bad_state', message);
  }
  const made = await engine.git.withIgnored({
    commit: row.base_sha,
    snapshot: found.value.commit,
    paths: JSON.parse(row.held_files) as string[],
    maxFileSize: engine.settings().maxCommitFileSize,
    subject: `${row.id}: ${firstLineOf(row.title)}`,
    trailers: [trailer('task', row.id)],
  });
  if (!made.ok) throw new Refusal('git', made.error.message);
  await nameApproved(engine, row.id, made.value);
  await approveTask(engine, { ...row, commit_sha: made.value }, async (tx) => {
    if (attempt === null) return;
    await setAttempt(tx, row.id, attempt.number, { commit_sha: made.value });
  });
}

/** Creates a ref, so that the commit is not removed before it has landed. */
async function nameApproved(engine: Uses<'git'>, id: string, commit: string): Promise<void> {
  const ref = `${approvedRoot}${id}/${commit.slice(0, 12)}`;
  const kept = await engine.git.updateRef(ref, commit, null, 'drover: approve');
  if (!kept.ok) throw new Refusal('git', kept.error.message);
}

/** Publishes the work, because any machine may land it. */
async function publishApproved(
  engine: Uses<'git' | 'store'>,
  id: string,
  commit: string | null,
): Promise<void> {
  const attempt = await lastAttempt(engine.store.db, id);
  if (commit === null || attempt === null || engine.git.sharedRemote === null) return;
  const published = await engine.git.publish(attempt.branch, commit);
  if (!published.ok) throw new Refusal('git', published.error.message);
}

/**
 * Work with held files lands without them. An attempt without changes counts as done. `before` runs
 * in the same transaction.
 */
export async function approveTask(
  engine: Uses<'durable' | 'git' | 'machineId' | 'settings' | 'store'>,
  row: TaskRow,
  before: (tx: Tx) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { store } = engine;
  const commitSha = await commitToLand(engine, row);
  await publishApproved(engine, row.id, commitSha);
  await store.transaction(async (tx) => {
    await before(tx);
    const attempt = await lastAttempt(tx, row.id);
    await store.append(tx, {
      type: 'task.approved',
      taskId: row.id,
      epicId: row.epic_id,
      data: { kind: row.review_kind, by: 'person' },
    });
    if (attempt === null || commitSha === null || commitSha === row.base_sha) {
      if (attempt !== null) await setAttempt(tx, row.id, attempt.number, { state: 'succeeded' });
      await store.transition(tx, {
        taskId: row.id,
        to: 'completed',
        event: 'task.completed',
        data: { approved: true, commit: null },
        set: { verdict: 'pass', last_error: null, held_files: '[]' },
      });
      await releaseSlot(tx, 'task', row.id);
      return;
    }
    const run = await runById(tx, attempt.run_id ?? '');
    if (run === null)
      throw new Refusal(
        'bad_state',
        `${row.id} has no run to land with. Run "drover retry ${row.id}".`,
      );
    const claim = { taskId: row.id, epoch: row.epoch, attempt: attempt.number, runId: run.id };
    const gateCommand = chooseGateCommand(engine, run, row);
    await submitLanding(engine, tx, claim, { line: run.line, commitSha, gateCommand });
    await beginApprovedLanding(tx, row.id);
    await releaseSlot(tx, 'task', row.id);
  });
  engine.durable.wake();
}

/**
 * States of a finished epic that has not landed: it waits for its review, or its merge or gate
 * failed.
 */
const sentBackStates: ReadonlySet<string> = new Set([
  'needs_review',
  'conflict',
  'gate_failed',
  'pull_request',
  'returned',
]);

/** Sends work back to its author's session with the reviewer's feedback, as another attempt. */
export async function sendBack(
  engine: Uses<'clock' | 'durable' | 'mask' | 'store'>,
  id: string,
  text: string,
): Promise<'task' | 'epic'> {
  if (text.trim() === '')
    throw new Refusal('bad_request', 'The text must not be empty. State what to change.');
  const epic = await epicById(engine.store.db, id);
  if (epic !== null) {
    if (!sentBackStates.has(epic.landing_state ?? ''))
      throw new Refusal('bad_state', notForReview(id, epic.landing_state));
    return sendBackEpic(engine, id, text);
  }
  const row = await requireTask(engine, id);
  if (row.status !== 'needs_review')
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status}. Only what needs a review can be sent back; ${nextAction(id, row.status)}.`,
    );
  if (row.review_kind === 'plan') {
    await sendPlanBack(engine, row, text);
    return 'task';
  }
  if (isHeld(row))
    throw new Refusal(
      'bad_state',
      `${id} is approved and about to land. Run "drover cancel ${id}" to stop it.`,
    );
  await engine.store.transaction(async (tx) => {
    const attempt = await lastAttempt(tx, id);
    if (attempt !== null) {
      await setAttempt(tx, id, attempt.number, {
        state: 'failed',
        failure_kind: 'sent_back',
        error: text,
        ended_at_ms: engine.clock.now(),
      });
    }
    await engine.store.transition(tx, {
      taskId: id,
      to: 'ready',
      event: 'task.sent_back',
      data: { text, by: 'person' },
      set: { held_files: '[]', last_error: text, phase: null },
    });
    await releaseSlot(tx, 'task', id);
  });
  return 'task';
}

/** Maximum characters of the reviewer's feedback in the title of the new task. */
const sentBackTitleMax = 120;

/** Sends an epic back, which reopens it. A new task in it contains the feedback. */
async function sendBackEpic(engine: Uses<'store'>, id: string, text: string): Promise<'epic'> {
  await engine.store.transaction(async (tx) => {
    await sendEpicBack(tx, id, text);
    const words = firstLineOf(text.trim()).slice(0, sentBackTitleMax);
    const task = await addTask(tx, engine.store.sources, {
      title: `Review: ${words}`,
      description: text,
      epic: id,
    });
    const data = { text, task: task.id };
    await engine.store.append(tx, {
      type: 'epic.sent_back',
      epicId: id,
      data: { ...data, by: 'person' },
    });
  });
  return 'epic';
}
