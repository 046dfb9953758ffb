// Edits of the plan in the tree, which can be undone, with their messages.

import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { Host } from '../shared/host.ts';
import {
  addEpicEdit,
  addTaskEdit,
  dropEdit,
  dropQuestion,
  duplicateEdit,
  EditHistory,
  keptDependents,
  moveEpicEdit,
  removeEdit,
  renameEdit,
  unblockEdit,
  type Edit,
} from '../shared/plan/edits.ts';
import type { Drop } from '../shared/plan/places.ts';
import { epicKey, taskKey, type Draft } from './rows.ts';

export interface PlanVoice {
  /** Announced to screen readers. */
  readonly say: (words: string) => void;
  /** Shown until the next action. */
  readonly fail: (error: unknown) => void;
  /** A row that should be selected once the board contains it. */
  readonly choose: (key: string) => void;
}

export class TreePlan {
  readonly #host: Host;
  readonly #voice: PlanVoice;
  readonly #history = new EditHistory();

  constructor(host: Host, voice: PlanVoice) {
    this.#host = host;
    this.#voice = voice;
  }

  drop(board: StatusSnapshot, drop: Drop | null): void {
    if (drop === null) return;
    if (drop.kind === 'refused') return this.#voice.fail(drop.words);
    this.#run(dropEdit(board, drop));
  }

  rename(board: StatusSnapshot, id: string, title: string): void {
    const task = board.tasks.find((one) => one.id === id);
    const epic = board.epics.find((one) => one.id === id);
    const before = task?.title ?? epic?.title;
    if (before === undefined || before === title) return;
    this.#run(renameEdit(task === undefined ? 'epic' : 'task', id, before, title));
  }

  add(draft: Draft, title: string): void {
    if (draft.kind === 'epic') {
      this.#run(addEpicEdit(title, (id) => this.#voice.choose(epicKey(id))));
      return;
    }
    this.#run(addTaskEdit(title, draft, (id) => this.#voice.choose(taskKey(id))));
  }

  /** Removes tasks that never started; for other tasks, the backend names the alternative. */
  remove(board: StatusSnapshot, ids: readonly string[]): void {
    if (ids.length === 0) return;
    const question = dropQuestion(keptDependents(board, ids));
    if (question === null) return this.#run(removeEdit(board, ids));
    this.#ask(async () => {
      const { text, button } = question;
      const asked = { level: 'warning', text, buttons: [button] } as const;
      const answer = await this.#host.action('notify', asked);
      if (answer.button === button) this.#run(removeEdit(board, ids));
    });
  }

  unblock(board: StatusSnapshot, ids: readonly string[], blocker: string): void {
    this.#run(unblockEdit(board, ids, blocker));
  }

  duplicate(board: StatusSnapshot, ids: readonly string[]): void {
    this.#run(duplicateEdit(board, ids, (id) => this.#voice.choose(taskKey(id))));
  }

  /** The backend refuses an epic with unfinished tasks. A new task restores the epic. */
  archive(board: StatusSnapshot, ids: readonly string[]): void {
    const [first] = ids;
    const title = board.epics.find(({ id }) => id === first)?.title ?? '';
    this.#ask(async () => {
      for (const id of ids) await this.#host.backend('epic.close', { id });
      const what = ids.length === 1 ? title : `${ids.length} epics`;
      this.#voice.say(`Archived: ${what}. The filter “Archived” shows it.`);
    });
  }

  moveEpic(board: StatusSnapshot, id: string, step: -1 | 1): void {
    this.#run(moveEpicEdit(board, id, step));
  }

  undo(): void {
    this.#ask(async () => {
      const edit = await this.#history.undo(this.#host);
      this.#voice.say(edit === null ? 'Nothing to undo.' : `Undone: ${edit.words}`);
    });
  }

  redo(): void {
    this.#ask(async () => {
      const edit = await this.#history.redo(this.#host);
      this.#voice.say(edit === null ? 'Nothing to redo.' : `Done again: ${edit.words}`);
    });
  }

  #run(edit: Edit | null): void {
    if (edit === null) return;
    this.#ask(async () => {
      await this.#history.run(this.#host, edit);
      this.#voice.say(edit.words);
    });
  }

  #ask(body: () => Promise<void>): void {
    body().catch((error: unknown) => this.#voice.fail(error));
  }
}
