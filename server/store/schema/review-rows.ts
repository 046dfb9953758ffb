// The table of reviews: an agent's verdict on the merged tree of one task.

import type { ReviewVerdict } from '../../core/review/review.ts';
import type { Defaulted } from './column-values.ts';

export interface ReviewTable {
  task_id: string;
  tree_sha: string;
  attempt: number;
  agent: string;
  model: string | null;
  verdict: ReviewVerdict;
  /** JSON: the findings, and the verdict on each criterion. */
  findings: string;
  criteria: string;
  /** The attempt that the review sent back to its author; 0 = none. */
  sent_back: Defaulted<number>;
  at_ms: number;
}

export interface ReviewTables {
  reviews: ReviewTable;
}

export const reviewStatements: readonly string[] = [
  `CREATE TABLE reviews (
    task_id TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE, tree_sha TEXT NOT NULL,
    attempt INTEGER NOT NULL, agent TEXT NOT NULL, model TEXT, verdict TEXT NOT NULL,
    findings TEXT NOT NULL, criteria TEXT NOT NULL, sent_back INTEGER NOT NULL DEFAULT 0,
    at_ms INTEGER NOT NULL, PRIMARY KEY (task_id, tree_sha)) WITHOUT ROWID`,
];
