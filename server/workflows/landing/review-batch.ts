// Reviews a tested batch. Work with blocking findings leaves the batch, back to its author or to a
// person; the rest is built and tested again without it.

import { failure } from '../../core/failure.ts';
import {
  blockingAmong,
  decideReview,
  findingLine,
  findingLines,
  type ReviewStep,
} from '../../core/review/review.ts';
import { wantsReview } from '../../core/settings/review-settings.ts';
import type { Sha } from '../../git/sha.ts';
import {
  countSentBack,
  type LandingRow,
  markSentBack,
  readTreeReview,
  type StoredReview,
  taskById,
} from '../../store/port.ts';
import type { HeldWork, LandingBatch, Merged, Unmergeable } from './landing-batch.ts';
import { type Reviewing, type ReviewQuestion, runReview } from './run-review.ts';

const reasonCharactersMax = 600;

interface Reviewed {
  readonly row: LandingRow;
  readonly step: ReviewStep;
  readonly review: StoredReview | null;
  /** Why the review has no verdict. */
  readonly problem: string | null;
}

export async function reviewBatch(
  engine: Reviewing,
  batch: LandingBatch,
  runId: string,
  stop: AbortSignal,
): Promise<LandingBatch> {
  const { problem, verdict, start } = batch;
  const isTested = problem === null && (verdict.kind === 'green' || verdict.kind === 'none');
  if (engine.settings().review.agent === null || !isTested || start === undefined) return batch;
  const reviewed: Reviewed[] = [];
  let before = start;
  // Reviews run one after another, because a reviewer is an additional agent beside those that work
  // on tasks.
  for (const item of batch.merged) {
    // This work is already on the line.
    if (await engine.git.isAncestor(item.commit, before)) continue;
    reviewed.push(await reviewItem(engine, item, { before, runId }, stop));
    if (stop.aborted) return { ...batch, verdict: { kind: 'aborted' } };
    before = item.commit;
  }
  if (reviewed.every(({ step }) => step.kind === 'land')) return batch;
  return withoutBlocked(batch, reviewed);
}

function withoutBlocked(batch: LandingBatch, reviewed: readonly Reviewed[]): LandingBatch {
  const returned: Unmergeable[] = [];
  const held: HeldWork[] = [];
  for (const one of reviewed) {
    const { row, step } = one;
    if (step.kind === 'send_back') returned.push({ row, failure: failureOf(one) });
    if (step.kind === 'ask_person')
      held.push({ row, reason: reasonOf(one, step.why), kind: 'reviewed' });
  }
  return {
    ...batch,
    // The others wait, because their tree without this work differs and must be tested first.
    merged: [],
    unmergeable: [...(batch.unmergeable ?? []), ...returned],
    held: [...(batch.held ?? []), ...held],
    verdict: { kind: 'none' },
  };
}

async function reviewItem(
  engine: Reviewing,
  { row, commit, tree }: Merged,
  { before, runId }: { readonly before: Sha; readonly runId: string },
  stop: AbortSignal,
): Promise<Reviewed> {
  const { db } = engine.store;
  const task = await taskById(db, row.task_id);
  const isFree = { row, step: { kind: 'land' }, review: null, problem: null } as const;
  // A person approved it.
  if (task === null || task.status === 'needs_review') return isFree;
  const question = { row, task, runId, commit, before, tree };
  const known = await readTreeReview(db, row.task_id, tree);
  if (known === null && !(await isWanted(engine, question))) return isFree;
  const problem = known === null ? await runReview(engine, question, stop) : null;
  const review = known ?? (await readTreeReview(db, row.task_id, tree));
  const step = decideReview({
    blocking: review === null ? null : blockingAmong(review.findings).length,
    rounds: await countSentBack(db, row.task_id, tree),
    wasSentBack: review !== null && ![null, row.attempt].includes(review.sentBackAttempt),
    hasAttempts: task.attempts + 1 < task.max_attempts,
  });
  if (step.kind === 'send_back')
    await engine.store.transaction((tx) => markSentBack(tx, row.task_id, tree, row.attempt));
  return { row, step, review, problem };
}

async function isWanted(
  engine: Reviewing,
  { before, commit }: Pick<ReviewQuestion, 'before' | 'commit'>,
): Promise<boolean> {
  const [paths, size] = await Promise.all([
    engine.git.changedPaths(before, commit),
    engine.git.sizeOfChange(before, commit),
  ]);
  // If git cannot answer now, the review must not be skipped.
  if (!paths.ok || !size.ok) return true;
  const lines = size.value.insertions + size.value.deletions;
  if (paths.value.length === 0) return false;
  return wantsReview(engine.settings().review, { paths: paths.value, lines });
}

function failureOf({ review }: Reviewed): Unmergeable['failure'] {
  const findings = review?.findings ?? [];
  const message = `The reviewer (${review?.agent ?? ''}) found a defect that the gate does not see: ${firstFinding(review)}`;
  return failure('gate_failed', message, findingLines(findings));
}

function reasonOf(
  { review, problem }: Reviewed,
  why: Extract<ReviewStep, { kind: 'ask_person' }>['why'],
): string {
  switch (why) {
    case 'no_verdict':
      return `got no verdict from the reviewer: ${(problem ?? 'it ended without one').slice(0, reasonCharactersMax)}`;
    case 'unchanged':
      return `came back unchanged after a review: ${firstFinding(review)}`;
    case 'rounds':
      return `still has blocking findings: ${firstFinding(review)}`;
  }
}

function firstFinding(review: StoredReview | null): string {
  const blocking = blockingAmong(review?.findings ?? []);
  const [first] = blocking;
  if (first === undefined) return 'no finding';
  const more = blocking.length > 1 ? ` (and ${blocking.length - 1} more)` : '';
  return `${findingLine(first).slice(0, reasonCharactersMax)}${more}`;
}
