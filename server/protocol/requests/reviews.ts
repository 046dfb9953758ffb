// Requests about changes and a person's decisions on them: diffs, approvals, answers, undo.

import type { ChangeView } from '../panel-views.ts';
import type { ReviewVerdict, Severity } from '../../core/review/review.ts';
import type { UndoView } from '../run-views.ts';
import type { EpicView, QuestionView, TaskView } from '../views.ts';
import { flag, id, integer, optional, boundedText, word } from './fields.ts';

const shaCharactersMax = 64;
const pathCharactersMax = 4_096;

export const reviewShapes = {
  /** `snapshot`: the number of a snapshot, to get the change up to it. */
  diff: { id, snapshot: optional(integer(1)) },
  /** `against`: the change since this task's work, instead of since its base. */
  change: { id, against: optional(id) },
  'file.read': { sha: boundedText(shaCharactersMax), path: boundedText(pathCharactersMax) },
  /**
   * `seen`: the reviewed commit. For a task, the request is refused if the commit has changed; for
   * an epic, its tree is approved. `plan`: the waiting plan as the person edited it; `seen` is then
   * `plan-<number>`. `with_ignored`: also lands the ignored files that an attempt without changes
   * wrote.
   */
  approve: { id, seen: optional(word), plan: optional(word), with_ignored: optional(flag) },
  questions: {},
  answer: { id, choice: word },
  /** The latest review of a task by an agent; null if it has none. */
  'review.show': { id },
  /** Marks a finding of it (from 1) as wrong, so that it no longer counts for that tree. */
  'review.overrule': { id, finding: integer(1) },
  /**
   * Reverts a landed task or epic by a commit that goes through the gate like any landing.
   * `dry_run` only lists the commits that it would revert and the tasks that depend on them. `by`
   * names the requester in its events; absent for a person.
   */
  undo: { id, dry_run: optional(flag), by: optional(word) },
};

/** The review of a task by an agent. */
export interface ReviewView {
  readonly task_id: string;
  /** The only tree that the verdict is about. */
  readonly tree_sha: string;
  readonly attempt: number;
  readonly agent: string;
  readonly model: string | null;
  readonly verdict: ReviewVerdict;
  /** Number of blocking findings that no person has overruled. */
  readonly blocking: number;
  readonly findings: readonly {
    readonly path: string | null;
    readonly line: number | null;
    readonly severity: Severity;
    readonly text: string;
    readonly overruled: boolean;
  }[];
  readonly criteria: readonly {
    readonly text: string;
    readonly met: boolean;
    readonly evidence: string;
  }[];
  /** Unix seconds. */
  readonly at: number;
}

export interface ReviewAnswers {
  diff: { id: string; base: string; head: string; text: string };
  change: ChangeView;
  /** A file's text at a commit; null if it does not exist there or is not text. */
  'file.read': { text: string | null; binary: boolean; size: number };
  approve: TaskView | EpicView;
  questions: readonly QuestionView[];
  answer: TaskView;
  'review.show': ReviewView | null;
  'review.overrule': ReviewView;
  undo: UndoView;
}
