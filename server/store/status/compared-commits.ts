// Selects the two commits whose difference is the change of a task or an epic.

import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import { Refusal } from '../../core/failure.ts';
import { ownedStatuses } from '../../core/plan/state.ts';
import { shown } from '../rows/field-checks.ts';
import { type Db, readAtOneMoment } from '../rows/one-moment.ts';
import type { EpicRow, TaskRow } from '../schema/tables.ts';
import { rootTaskId } from './transition.ts';

export interface Change {
  readonly id: string;
  readonly kind: 'task' | 'epic';
  readonly title: string;
  /** The stage that the work has reached. */
  readonly stage: 'working' | 'committed' | 'review' | 'landed';
  /** The task's or epic's state, for a message. */
  readonly state: string;
  /** Best first, because a commit may no longer exist. */
  readonly candidates: readonly { readonly base: string; readonly head: string }[];
  /** Set for an epic that has not landed. Its change is its merge with the target. */
  readonly wouldLand: { readonly line: string; readonly target: string } | null;
}

export async function findChange(db: Db, id: string): Promise<Change> {
  return readAtOneMoment(db, async (at) => {
    const task = await at.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst();
    if (task !== undefined) return taskChange(at, task);
    const epic = await at.selectFrom('epics').selectAll().where('id', '=', id).executeTakeFirst();
    if (epic !== undefined) return epicChange(at, epic);
    throw new Refusal(
      'unknown_id',
      `"${shown(id)}" is neither a task nor an epic of this project. Run "drover status" to list the ids.`,
    );
  });
}

/** A sub-task belongs to its parent's change. */
async function taskChange(db: Db, task: TaskRow): Promise<Change> {
  const root = await rootTaskId(db, task.id);
  const row =
    root === task.id
      ? task
      : ((await db.selectFrom('tasks').selectAll().where('id', '=', root).executeTakeFirst()) ??
        task);
  const { base_sha: base, commit_sha: commit, landed_sha: landed, branch } = row;
  const candidates: { base: string; head: string }[] = [];
  if (base !== null && commit !== null) candidates.push({ base, head: commit });
  if (landed !== null) candidates.push({ base: `${landed}^1`, head: landed });
  if (base !== null && branch !== null) candidates.push({ base, head: branchRef(branch) });
  return {
    id: task.id,
    kind: 'task',
    title: task.title,
    stage: stageOf(row),
    state: task.status,
    candidates,
    wouldLand: null,
  };
}

function stageOf(row: TaskRow): Change['stage'] {
  if (row.landed_sha !== null) return 'landed';
  if (row.status === 'needs_review') return 'review';
  // A running attempt does not show an earlier attempt's commit.
  const isAtWork = ownedStatuses.has(row.status) && row.phase !== 'gate' && row.phase !== 'land';
  return row.commit_sha === null || isAtWork ? 'working' : 'committed';
}

/** The change that the epic made to its target or, before its landing, the content of its line. */
async function epicChange(db: Db, epic: EpicRow): Promise<Change> {
  const candidates: { base: string; head: string }[] = [];
  const { landed_sha: landed } = epic;
  if (landed !== null) candidates.push({ base: `${landed}^1`, head: landed });
  const branch = epic.branch ?? `drover/epic/${epic.id}`;
  const first = await db
    .selectFrom('runs')
    .select(['base_sha', 'target_branch'])
    .where('epic_id', '=', epic.id)
    .where('line', '=', branch)
    .where('land', '!=', 'task')
    .orderBy('started_at_ms')
    .limit(1)
    .executeTakeFirst();
  if (first !== undefined) {
    const line = await db
      .selectFrom('lines')
      .select('landed_sha')
      .where('branch', '=', branch)
      .executeTakeFirst();
    for (const head of [landingRef(branch), line?.landed_sha, branchRef(branch)]) {
      if (head !== undefined) candidates.push({ base: first.base_sha, head });
    }
  }
  const isLanded = epic.landing_state === 'landed' && landed !== null;
  return {
    id: epic.id,
    kind: 'epic',
    title: epic.title,
    stage: isLanded
      ? 'landed'
      : epic.landing_state === 'needs_review'
        ? 'review'
        : first === undefined
          ? 'working'
          : 'committed',
    state: epic.landing_state ?? 'nothing has landed on it',
    candidates,
    wouldLand:
      isLanded || first === undefined ? null : { line: branch, target: first.target_branch },
  };
}
