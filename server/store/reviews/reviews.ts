// Verdicts of reviewing agents. Each belongs to a task and to the tree with its work.

import type { Selectable } from 'kysely';
import { Refusal } from '../../core/failure.ts';
import type { CheckedReview, Finding, JudgedCriterion } from '../../core/review/review.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { ReviewTable } from '../schema/review-rows.ts';
import type { Reads, Tx } from '../schema/tables.ts';

type ReviewRow = Selectable<ReviewTable>;

export interface StoredReview extends Omit<ReviewRow, 'findings' | 'criteria' | 'sent_back'> {
  readonly findings: readonly Finding[];
  readonly criteria: readonly JudgedCriterion[];
  /** The attempt that the review sent back to its author; null if none. */
  readonly sentBackAttempt: number | null;
}

export async function readTreeReview(
  db: Reads,
  taskId: string,
  tree: string,
): Promise<StoredReview | null> {
  const row = await db
    .selectFrom('reviews')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('tree_sha', '=', tree)
    .executeTakeFirst();
  return row === undefined ? null : stored(row);
}

export async function newestReview(db: Reads, taskId: string): Promise<StoredReview | null> {
  const row = await db
    .selectFrom('reviews')
    .selectAll()
    .where('task_id', '=', taskId)
    .orderBy('at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : stored(row);
}

function stored({ sent_back: sentBack, findings, criteria, ...row }: ReviewRow): StoredReview {
  return {
    ...row,
    findings: JSON.parse(findings) as Finding[],
    criteria: JSON.parse(criteria) as JudgedCriterion[],
    sentBackAttempt: sentBack === 0 ? null : sentBack,
  };
}

/** Counts reviews of other trees that sent the task back. */
export async function countSentBack(
  db: Reads,
  taskId: string,
  exceptTree: string,
): Promise<number> {
  const { n } = await db
    .selectFrom('reviews')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('task_id', '=', taskId)
    .where('sent_back', '>', 0)
    .where('tree_sha', '!=', exceptTree)
    .executeTakeFirstOrThrow();
  return Number(n);
}

export interface NewReview extends CheckedReview {
  readonly taskId: string;
  readonly tree: string;
  readonly attempt: number;
  readonly agent: string;
  readonly model: string | null;
  readonly runId: string;
}

/** The first verdict on a tree counts. Returns false if one existed. */
export async function addReview(tx: Tx, sources: StoreSources, given: NewReview): Promise<boolean> {
  const { taskId, tree, attempt, agent, model, verdict, findings, criteria, runId } = given;
  const added = await tx
    .insertInto('reviews')
    .values({
      task_id: taskId,
      tree_sha: tree,
      attempt,
      agent,
      model,
      verdict,
      findings: JSON.stringify(findings),
      criteria: JSON.stringify(criteria),
      at_ms: sources.clock.now(),
    })
    .onConflict((conflict) => conflict.columns(['task_id', 'tree_sha']).doNothing())
    .returning('task_id')
    .executeTakeFirst();
  if (added === undefined) return false;
  await appendEvent(tx, sources, {
    type: 'review.given',
    taskId,
    runId,
    data: { attempt, tree, agent, verdict, findings: findings.length },
  });
  return true;
}

/** Does nothing if it was already marked for the same attempt. */
export async function markSentBack(
  tx: Tx,
  taskId: string,
  tree: string,
  attempt: number,
): Promise<void> {
  await tx
    .updateTable('reviews')
    .set({ sent_back: attempt })
    .where('task_id', '=', taskId)
    .where('tree_sha', '=', tree)
    .execute();
}

/** Records that a person considers a finding of the latest review wrong. `number` counts from 1. */
export async function overruleFinding(
  tx: Tx,
  sources: StoreSources,
  taskId: string,
  number: number,
): Promise<StoredReview> {
  const review = await newestReview(tx, taskId);
  const finding = review?.findings[number - 1];
  if (review === null || finding === undefined) {
    throw new Refusal(
      'unknown_id',
      `No review of ${taskId} has a finding ${number}. Run "drover review ${taskId}" to list them.`,
    );
  }
  if (finding.isOverruled) return review;
  const findings = review.findings.with(number - 1, { ...finding, isOverruled: true });
  await tx
    .updateTable('reviews')
    .set({ findings: JSON.stringify(findings) })
    .where('task_id', '=', taskId)
    .where('tree_sha', '=', review.tree_sha)
    .execute();
  await appendEvent(tx, sources, {
    type: 'review.overruled',
    taskId,
    data: { tree: review.tree_sha, finding: number, text: finding.text },
  });
  return { ...review, findings };
}
