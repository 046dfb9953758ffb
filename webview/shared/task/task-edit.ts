// Edits of one task from its page: sequential backend requests, and refused values.

import { withoutCriteria } from '../../../server/core/exchange/import-record.ts';
import type { TaskStatus } from '../../../server/core/plan/state.ts';
import type { TaskFields } from '../../../server/protocol/task-fields.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { AskFailure } from '../asks.ts';
import type { Host } from '../host.ts';

/** The reason why no field of a task can be changed. Returns null if fields can be changed. */
export function readOnlyReason({ status }: TaskView): string | null {
  return readOnlyReasons[status] ?? null;
}

const readOnlyReasons: Readonly<Partial<Record<TaskStatus, string>>> = {
  completed: 'This task is completed and can no longer be edited.',
  cancelled: 'This task is cancelled. Retry it to change it.',
};

/** Shown above the form while edits are too late for the running attempt. */
export function lateNote({ status }: TaskView): string | null {
  return status === 'in_progress' || status === 'claimed'
    ? 'The running attempt keeps the prompt that it started with. Changes apply from the next attempt. For anything urgent, message the agent below.'
    : null;
}

/** The description without the criteria, which have a separate list. */
export function taskDescription({ description, acceptance_criteria }: TaskView): string {
  return withoutCriteria(description, acceptance_criteria);
}

/** Tasks that wait for this one, in the order of the board. */
export function findDependents(board: StatusSnapshot, id: string): readonly TaskView[] {
  return board.tasks.filter(({ blocked_by }) => blocked_by.includes(id));
}

/** `a, b ,,a` → a, b. */
export function parseLabels(text: string): readonly string[] {
  const labels = text.split(',').map((label) => label.trim());
  return [...new Set(labels.filter((label) => label !== ''))];
}

export class TaskEditor {
  readonly #host: Host;
  readonly #changed: () => void;
  #last: Promise<unknown> = Promise.resolve();
  /** The reason why the last edit was refused; empty if it was accepted. */
  failure = '';

  constructor(host: Host, changed: () => void) {
    this.#host = host;
    this.#changed = changed;
  }

  edit(id: string, fields: TaskFields): void {
    this.run(() => this.#host.backend('task.edit', { id, ...fields }));
  }

  run(action: () => Promise<unknown>): void {
    this.failure = '';
    this.#changed();
    this.#last = this.#last.then(action).catch((error: unknown) => {
      this.failure = error instanceof AskFailure ? error.message : String(error);
      this.#changed();
    });
  }

  review(id: string): void {
    this.run(() => this.#host.action('review', { id }));
  }

  /** The task stops, and continues from the other task's work. */
  waitFor(id: string, until: string): void {
    this.run(() => this.#host.backend('task.pause', { id, until }));
  }

  open(id: string): void {
    this.run(() => this.#host.action('openStream', { task: id }));
  }

  /** A candidate of the task. */
  land(id: string): void {
    this.run(() => this.#host.backend('approve', { id }));
  }

  compareCandidates(task: string): void {
    this.run(() => this.#host.action('compare', { task }));
  }

  addSubTask(parent: string, title: string): void {
    this.run(() => this.#host.backend('task.add', { title, parent }));
  }

  /** Asks which of the board's tasks is meant. */
  pickTask(
    title: string,
    board: StatusSnapshot,
    left: ReadonlySet<string>,
    chosen: (id: string) => void,
  ): void {
    const items = board.tasks
      .filter(({ id, parent_id }) => parent_id === null && !left.has(id))
      .map((task) => ({ id: task.id, label: task.title, detail: task.id }));
    this.run(async () => {
      const { id } = await this.#host.action('pick', { title, items });
      if (id !== null) chosen(id);
    });
  }
}
