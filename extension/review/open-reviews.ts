// Which reviews by agents have findings that still concern a person. Pure.

import type { ReviewView } from '../../server/protocol/requests/reviews.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';

/** A task whose review may be shown, with a text that changes whenever its review may have. */
export interface OpenReview {
  readonly task: string;
  readonly state: string;
}

const openTasksMax = 50;

/** Tasks whose work has not landed and may have been reviewed, if an agent reviews. */
export function openReviews(board: StatusSnapshot | null): readonly OpenReview[] {
  if (board === null || typeof board.config['review.agent']?.value !== 'string') return [];
  return board.tasks
    .filter(
      ({ status, attempts, commit_sha: commit }) =>
        (commit !== null || attempts > 0) && status !== 'completed' && status !== 'cancelled',
    )
    .slice(0, openTasksMax)
    .map(({ id, status, attempts, phase, updated_at: at }) => ({
      task: id,
      state: [status, attempts, phase, at].join(' '),
    }));
}

export interface FindingPlace {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly isError: boolean;
  readonly text: string;
}

/** Findings in files; those that a person overruled are left out. */
export function findingPlaces(review: ReviewView | null): readonly FindingPlace[] {
  return (review?.findings ?? []).flatMap(({ path, line, severity, text, overruled }) =>
    path === null || overruled
      ? []
      : [{ path, line: line ?? 1, isError: severity === 'blocking', text }],
  );
}
