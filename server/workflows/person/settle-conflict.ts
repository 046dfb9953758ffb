// A person resolves a conflict in an editor with both sides. The person's merge goes through the
// gate and lands like approved work.

import { Refusal } from '../../core/failure.ts';
import { firstLineOf } from '../../core/format.ts';
import { approvedRoot, branchRef, landingRef } from '../../core/work/ref-names.ts';
import { attemptTrailers } from '../../core/work/trailers.ts';
import type { Sha } from '../../git/sha.ts';
import { lastAttempt, runById, type AttemptRow, type TaskRow } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { faultOfFile } from '../kit/merge-check.ts';
import { requireRoot } from './controls.ts';
import { nextAction } from './next-action.ts';
import { approveTask } from './reviews.ts';

export interface ConflictSides {
  /** The common base of both sides; null if they have no common history. */
  readonly base: Sha | null;
  /** The tip of the line that the task lands on. */
  readonly onto: Sha;
  /** The task's commit. */
  readonly commit: Sha;
  /** Empty if the two can now be merged. */
  readonly files: readonly string[];
}

interface Conflict {
  readonly row: TaskRow;
  readonly attempt: AttemptRow;
  readonly commit: Sha;
  readonly tip: Sha;
}

export async function conflictSides(
  engine: Uses<'git' | 'store'>,
  id: string,
): Promise<ConflictSides> {
  const conflict = await requireConflict(engine, id);
  const { commit, tip } = conflict;
  const merged = await mergeOf(engine, conflict, tip, new Map());
  const files = merged.kind === 'conflict' ? merged.files : [];
  return { base: await engine.git.mergeBase(tip, commit), onto: tip, commit, files };
}

/** `onto`: the tip that the person merged with. Later landings are merged when this lands. */
export interface SettledFile {
  readonly path: string;
  /** Null if the file was removed. */
  readonly text: string | null;
  /** The person wants to restore the lines from before both changes. */
  readonly keepsBase: boolean;
}

export async function landPersonsMerge(
  engine: Uses<'durable' | 'git' | 'machineId' | 'settings' | 'store'>,
  id: string,
  onto: Sha,
  files: readonly SettledFile[],
): Promise<void> {
  const conflict = await requireConflict(engine, id);
  const { row, tip } = conflict;
  if (!(await engine.git.isAncestor(onto, tip)))
    throw new Refusal(
      'bad_state',
      `The branch that ${id} lands on was rewritten since you merged. Merge again.`,
    );
  const settled = new Map(files.map(({ path, text }) => [path, text]));
  const merged = await mergeOf(engine, conflict, onto, settled);
  if (merged.kind === 'conflict')
    throw new Refusal(
      'bad_state',
      `${merged.files.join(', ')} of ${id} must be merged before it can land.`,
    );
  await refuseUndecided(engine, conflict, onto, files);
  // Creates a ref, so that the commit is not removed before it has landed.
  const ref = `${approvedRoot}${id}/${merged.commit.slice(0, 12)}`;
  const present = await engine.git.readRef(ref);
  const kept = await engine.git.updateRef(ref, merged.commit, present, 'drover: merge');
  if (!kept.ok) throw new Refusal('git', kept.error.message);
  const now = { ...row, commit_sha: merged.commit, base_sha: onto };
  await approveTask(engine, { ...now, review_kind: 'approval' }, async (tx) => {
    const outcome = await engine.store.transition(tx, {
      taskId: id,
      to: 'needs_review',
      from: ['conflict'],
      event: 'task.merged',
      data: { by: 'person', commit: merged.commit, files: [...settled.keys()] },
      set: {
        review_kind: 'approval',
        commit_sha: merged.commit,
        base_sha: onto,
        conflict_files: '[]',
        last_error: null,
      },
    });
    if (!outcome.ok)
      throw new Refusal('bad_state', `${id} was just changed by someone else. Try again.`);
  });
}

/**
 * Refuses conflicts that the person did not touch. An editor shows such a conflict as the lines
 * from before both changes, without markers. Landing it would revert earlier landings and drop the
 * task's change.
 */
async function refuseUndecided(
  engine: Uses<'git'>,
  { row: { id }, commit }: Conflict,
  onto: Sha,
  files: readonly SettledFile[],
): Promise<void> {
  const base = await engine.git.mergeBase(onto, commit);
  for (const { path, text, keepsBase } of files) {
    const fault = await faultOfFile(engine, { base, landed: onto, task: commit }, path, text);
    if (fault?.kind === 'marks')
      throw new Refusal('bad_state', `${path} of ${id} has conflict marks. Resolve them first.`);
    if (fault === null || keepsBase) continue;
    const { undecided, conflicts } = fault;
    const still = undecided === 1 ? 'still has' : 'still have';
    throw new Refusal(
      'bad_state',
      `${undecided} of ${conflicts} conflicts in ${path} of ${id} ${still} the lines from before both changes. Resolve them first.`,
    );
  }
}

async function requireConflict(engine: Uses<'git' | 'store'>, id: string): Promise<Conflict> {
  const row = await requireRoot(engine, id, 'merged');
  if (row.status !== 'conflict')
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status}. Only a task in conflict can be merged; ${nextAction(id, row.status)}.`,
    );
  const attempt = await lastAttempt(engine.store.db, id);
  const run = await runById(engine.store.db, attempt?.run_id ?? '');
  if (attempt === null || run === null || row.commit_sha === null)
    throw new Refusal('bad_state', `${id} has no commit to merge. Run \`drover retry ${id}\`.`);
  const tip =
    (await engine.git.readRef(landingRef(run.line))) ??
    (await engine.git.readRef(branchRef(run.line)));
  if (tip === null) throw new Refusal('unknown_ref', `The branch ${run.line} does not exist.`);
  return { row, attempt, commit: row.commit_sha, tip };
}

async function mergeOf(
  engine: Uses<'git'>,
  { row, attempt, commit }: Conflict,
  tip: Sha,
  settled: ReadonlyMap<string, string | null>,
): Promise<
  | { readonly kind: 'merged'; readonly commit: Sha }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
> {
  const merged = await engine.git.merge({
    tip,
    commit,
    settled,
    subject: `${row.id}: ${firstLineOf(row.title)}`,
    trailers: attemptTrailers(row.id, attempt.number),
  });
  if (!merged.ok) throw new Refusal('git', merged.error.message);
  return merged.value;
}
