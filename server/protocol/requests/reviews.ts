// Requests about changes and a person's decisions on them: diffs, approvals, answers, undoing.

import type { ChangeView } from '../panel-views.ts';
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
  /**
   * Reverts a landed task or epic by a commit that goes through the gate like any landing.
   * `dry_run` only lists the commits that it would revert and the tasks that depend on them. `by`
   * names the requester, for its events; absent for a person.
   */
  undo: { id, dry_run: optional(flag), by: optional(word) },
};

export interface ReviewAnswers {
  diff: { id: string; base: string; head: string; text: string };
  change: ChangeView;
  /** A file's text at a commit; null if it does not exist there or is not text. */
  'file.read': { text: string | null; binary: boolean; size: number };
  approve: TaskView | EpicView;
  questions: readonly QuestionView[];
  answer: TaskView;
  undo: UndoView;
}
