// Requests about changes and a person's decisions on them: diffs, approvals, answers, undoing.

import type { ChangeView } from '../panel-views.ts';
import type { ReviewVerdict, Severity } from '../../core/review/review.ts';
import type { UndoView } from '../run-views.ts';
import type { EpicView, QuestionView, TaskView } from '../views.ts';
import { flag, id, integer, optional, boundedText, word } from './fields.ts';

const shaCharactersMax = 64;
const pathCharactersMax = 4_096;

export const reviewShapes = {
  /** `snapshot`: its number; the change up to it instead of the task's. */
  diff: { id, snapshot: optional(integer(1)) },
  /** `against`: since the work of this task, instead of since its base. */
  change: { id, against: optional(id) },
  'file.read': { sha: boundedText(shaCharactersMax), path: boundedText(pathCharactersMax) },
  /**
   * `seen`: the commit that was reviewed. For a task, the request is refused if the commit has
   * changed; for an epic, its tree is approved. `plan`: the waiting plan as the person wants it;
   * `seen` is then `plan-<number>`. `with_ignored`: the ignored files that an attempt without
   * changes has written land too.
   */
  approve: { id, seen: optional(word), plan: optional(word), with_ignored: optional(flag) },
  questions: {},
  answer: { id, choice: word },
  /** The newest review of a task by an agent; null if there is none. */
  'review.show': { id },
  /** A finding of it (from 1) is wrong: it counts no more for that tree. */
  'review.overrule': { id, finding: integer(1) },
  /**
   * Reverts a landed task or epic by a commit that goes through the gate like any landing.
   * `dry_run` only lists the commits that it would revert and the tasks that depend on them. `by`
   * names the requester, for its events; absent for a person.
   */
  undo: { id, dry_run: optional(flag), by: optional(word) },
};

/** The review of a task by an agent. */
export interface ReviewView {
  readonly task_id: string;
  /** The verdict is about this tree alone. */
  readonly tree_sha: string;
  readonly attempt: number;
  readonly agent: string;
  readonly model: string | null;
  readonly verdict: ReviewVerdict;
  /** Blocking findings that no person has overruled. */
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
