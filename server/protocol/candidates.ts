// The candidates of a task as clients show them: below their task, with one line each.

import {
  candidateLine,
  candidateSize,
  type CandidateFacts,
  landTitle,
  candidateStanding,
} from '../core/plan/best-of.ts';
import type { TaskView } from './views.ts';

type Task = Pick<
  TaskView,
  | 'blocked_reason'
  | 'candidate'
  | 'candidate_of'
  | 'commit_sha'
  | 'cost'
  | 'id'
  | 'review_kind'
  | 'status'
>;

/** In creation order. */
export function listCandidates<T extends Task>(tasks: readonly T[], id: string): readonly T[] {
  return tasks
    .filter(({ candidate_of: of }) => of === id)
    .toSorted((a, b) => numberOf(a) - numberOf(b));
}

/** The task below which this one is shown: its parent, or the task that it is a candidate of. */
export function taskAbove({
  parent_id: parent,
  candidate_of: of,
}: Pick<TaskView, 'candidate_of' | 'parent_id'>): string | null {
  return parent ?? of;
}

export function standOfView(task: Task): ReturnType<typeof candidateStanding> {
  return candidateStanding({
    id: task.id,
    status: task.status,
    reviewKind: task.review_kind,
    isBlockedOutside: task.blocked_reason !== null,
    changedLines: null,
    costUsd: task.cost,
  });
}

/** The known facts about a candidate; null for any other task. */
export function factsOfCandidate(task: Task): CandidateFacts | null {
  const { candidate } = task;
  if (candidate === null) return null;
  return {
    number: candidate.number,
    stand: standOfView(task),
    added: candidate.added_lines,
    removed: candidate.removed_lines,
    costUsd: task.cost,
  };
}

/**
 * `Candidate 1, +12 −3, green, $0.01`. Returns null if the task is not a candidate. `task` is null
 * if the candidate's task is unknown.
 */
export function candidateWords(
  candidate: Task,
  task: Pick<TaskView, 'commit_sha'> | null,
  state: string,
): string | null {
  const facts = factsOfCandidate(candidate);
  if (facts === null) return null;
  return candidateLine(facts, candidateState(candidate, task) ?? state);
}

/** The outcome of the choice for this candidate; null before the choice. */
export function candidateState(
  candidate: Pick<TaskView, 'commit_sha' | 'status'>,
  task: Pick<TaskView, 'commit_sha'> | null,
): 'chosen' | 'not chosen' | null {
  if (candidate.status !== 'cancelled' || task === null || task.commit_sha === null) return null;
  return candidate.commit_sha === task.commit_sha ? 'chosen' : 'not chosen';
}

export function landWords(candidate: Task): string {
  const facts = factsOfCandidate(candidate);
  return facts === null ? 'Land' : landTitle(facts);
}

export function sizeWords(candidate: Task): string | null {
  const facts = factsOfCandidate(candidate);
  return facts === null ? null : candidateSize(facts);
}

function numberOf({ candidate }: Task): number {
  return candidate?.number ?? 0;
}
