// Requests about tasks: adding, changing, showing, moving, and a person's actions.

import * as z from 'zod/mini';
import type { AttemptView, TakeOverView } from '../panel-views.ts';
import { sequence, taskFields, title } from '../task-fields.ts';
import type { EpicView, TaskSnapshots, TaskView } from '../views.ts';
import {
  flag,
  id,
  idOrNull,
  boundedList,
  number,
  oneOf,
  optional,
  text,
  boundedText,
  textOrNull,
  texts,
  textsByName,
  word,
} from './fields.ts';

const settledFilesMax = 200;
/** 5 MiB in base64, and a little more. The handler refuses larger images with its own message. */
const attachmentCharactersMax = 8 * 1024 * 1024;
const sha = boundedText(64);
const settledFile = z.object({
  path: boundedText(4_096),
  text: textOrNull,
  keeps_base: optional(flag),
});

export const taskShapes = {
  /**
   * `template`: a template from the settings, whose placeholders are filled from `set`. Fields
   * given in the request take precedence.
   */
  'task.add': {
    ...taskFields,
    title,
    sequence,
    template: optional(text),
    set: optional(textsByName),
  },
  'task.edit': { id, ...taskFields },
  /**
   * Stores an image (PNG, JPEG, GIF or WebP, at most 5 MiB, in base64) in the project. A
   * description shows it as `![words](attachment:<name>)`, and agents get its path.
   */
  'attachment.add': { content: boundedText(attachmentCharactersMax) },
  /** `proposal` contains the whole latest plan, whatever its state. */
  'task.show': { id },
  /** `until`: the task continues by itself, based on that task's work, when that has landed. */
  'task.pause': { id, until: optional(text) },
  'task.unpause': { id, hint: optional(text) },
  'task.cancel': { id, reason: optional(text) },
  'task.retry': { id, force: optional(flag) },
  /** Makes the next attempt start from a snapshot; without a number, from the last one. */
  'task.restore': { id, snapshot: optional(number) },
  'task.hint': { id, text: word },
  /** `anyway`: starts the task although its line fails the gate. For a task that fixes the line. */
  'task.resolve': { id, note: optional(word), anyway: optional(flag) },
  /** Both sides of a task's conflict, and their common base. */
  conflict: { id },
  /**
   * Lands a person's merge of a conflicting task: `onto` is the commit that they merged with, and
   * each conflicting file has its text (null: the file is removed). Refused if a conflict still has
   * its markers, or has the lines from before both changes without `keeps_base`.
   */
  'task.merge': { id, onto: sha, files: boundedList(settledFile, settledFilesMax, 'files') },
  'task.send_back': { id, text: word },
  /**
   * Moves tasks, all or none: into an epic (null for none), below a parent (null for none; absent
   * to keep it), and before another task (`before`; null or absent for the end). They keep their
   * given order.
   */
  'task.move': {
    ids: texts,
    epic: optional(idOrNull),
    parent: optional(idOrNull),
    before: optional(idOrNull),
  },
  /** Removes tasks that never started and that nothing depends on. All or none. */
  'task.remove': { ids: texts },
  /** Undoes removals, with the same ids. The backend remembers its last hundred removals. */
  'plan.restore': { ids: texts },
  /**
   * Stops the agent, keeps everything, and pauses the task so that a person can continue by hand.
   */
  'task.take_over': { id },
  /**
   * The person is done: the agent continues in the same worktree and session, and gets the note.
   */
  'task.give_back': { id, note: optional(text) },
  /** Attempts of a task, oldest first. */
  attempts: { id },
  /** The snapshots of a task's attempts, oldest first. */
  snapshots: { id },
  /** The latest output of a task's gate or setup command. Refused if no log is kept. */
  'step.log': { id, attempt: number, step: oneOf(['setup', 'gate']) },
  reset: {
    ids: optional(texts),
    completed: optional(flag),
    failed: optional(flag),
    claimed: optional(flag),
    in_progress: optional(flag),
  },
};

export interface TaskAnswers {
  'task.add': TaskView;
  'task.edit': TaskView;
  'attachment.add': { name: string };
  'task.show': TaskView;
  'task.pause': TaskView;
  'task.unpause': TaskView;
  'task.cancel': TaskView;
  'task.retry': TaskView;
  'task.restore': { task: TaskView; snapshot: number };
  /** `hint_reaches`: whether the agent gets it `now` or with its `next_prompt`. */
  'task.hint': TaskView & { readonly hint_reaches?: 'now' | 'next_prompt' };
  'task.resolve': TaskView;
  conflict: {
    /** Null if the two have no common history. */
    base: string | null;
    onto: string;
    commit: string;
    /** Empty if they can now be merged. */
    files: readonly string[];
  };
  'task.merge': TaskView;
  'task.send_back': TaskView | EpicView;
  'task.move': readonly TaskView[];
  'task.remove': { removed: readonly string[] };
  'plan.restore': { restored: readonly string[] };
  'task.take_over': TakeOverView;
  'task.give_back': TaskView;
  attempts: readonly AttemptView[];
  snapshots: TaskSnapshots;
  /** `is_cut`: the text is only the end of the log. */
  'step.log': { path: string; text: string; is_cut: boolean };
  reset: { reset: readonly string[]; refused: readonly { id: string; reason: string }[] };
}
