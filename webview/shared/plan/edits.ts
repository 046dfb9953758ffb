// Edits of the plan that can be undone: each has its backend requests and the requests that undo
// it.

import { formatCount } from '../../../server/core/format.ts';
import { removableStatuses } from '../../../server/core/plan/state.ts';
import { withoutCriteria } from '../../../server/core/exchange/import-record.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import type { BackendRequests } from '../../messages/messages.ts';
import type { Host } from '../host.ts';
import { movable, findTaskPlace, type Drop, type TaskPlace } from './places.ts';

export interface Edit {
  /** Shown when it is done, undone or refused. */
  readonly words: string;
  readonly run: (host: Host) => Promise<unknown>;
  readonly undo: (host: Host) => Promise<unknown>;
}

const editsMax = 100;

/**
 * Completed edits, newest last, and undone ones. Requests are handled in order: an undo while an
 * edit is still being sent applies to that edit, not to an earlier one.
 */
export class EditHistory {
  readonly #done: Edit[] = [];
  readonly #undone: Edit[] = [];
  #last: Promise<unknown> = Promise.resolve();

  run(host: Host, edit: Edit): Promise<void> {
    return this.#inTurn(async () => {
      await edit.run(host);
      this.#done.push(edit);
      if (this.#done.length > editsMax) this.#done.shift();
      this.#undone.length = 0;
    });
  }

  /**
   * The edit that was undone. Drops an edit that can no longer be undone. Returns null if there was
   * none.
   */
  undo(host: Host): Promise<Edit | null> {
    return this.#carry(this.#done, this.#undone, (edit) => edit.undo(host));
  }

  redo(host: Host): Promise<Edit | null> {
    return this.#carry(this.#undone, this.#done, (edit) => edit.run(host));
  }

  /** Moves the newest edit of one list to the other, once `how` has finished with it. */
  #carry(from: Edit[], to: Edit[], how: (edit: Edit) => Promise<unknown>): Promise<Edit | null> {
    return this.#inTurn(async () => {
      const edit = from.pop();
      if (edit === undefined) return null;
      await how(edit);
      to.push(edit);
      return edit;
    });
  }

  #inTurn<Result>(body: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(body);
    this.#last = result.catch(() => undefined); // The caller gets the error; the next one has its turn all the same.
    return result;
  }
}

/** Returns null if the drop is refused, in which case nothing changes. */
export function dropEdit(board: StatusSnapshot, drop: Drop): Edit | null {
  switch (drop.kind) {
    case 'refused':
      return null;
    case 'block':
      return {
        words: drop.words,
        run: (host) => changeBlockers(host, drop.ids, 'add_blockers', drop.blocker),
        undo: (host) => changeBlockers(host, drop.ids, 'remove_blockers', drop.blocker),
      };
    case 'move':
      return moveEdit(board, drop.ids, drop.to, drop.words);
  }
}

/** Returns null if none of them waits for it. */
export function unblockEdit(
  board: StatusSnapshot,
  ids: readonly string[],
  blocker: string,
): Edit | null {
  const waiting = board.tasks.filter(
    ({ id, blocked_by }) => ids.includes(id) && blocked_by.includes(blocker),
  );
  const [only] = waiting;
  if (only === undefined) return null;
  const title = board.tasks.find(({ id }) => id === blocker)?.title ?? '';
  const what = waiting.length === 1 ? only.title : formatCount(waiting.length, 'task');
  const of = waiting.map(({ id }) => id);
  return {
    words: `${what} no longer ${waiting.length === 1 ? 'waits' : 'wait'} for ${title}`,
    run: (host) => changeBlockers(host, of, 'remove_blockers', blocker),
    undo: (host) => changeBlockers(host, of, 'add_blockers', blocker),
  };
}

/** Copies the texts and rules of tasks, beside the originals, but never their outcomes. */
export function duplicateEdit(
  board: StatusSnapshot,
  ids: readonly string[],
  onAdded: (id: string) => void,
): Edit | null {
  const tasks = board.tasks.filter(({ id }) => ids.includes(id));
  const [only] = tasks;
  if (only === undefined) return null;
  let added: readonly string[] = [];
  return {
    words: `Duplicate ${tasks.length === 1 ? only.title : formatCount(tasks.length, 'task')}`,
    run: async (host) => {
      added = [];
      for (const task of tasks) {
        const { id } = await host.backend('task.add', copyOf(task));
        added = [...added, id];
        onAdded(id);
      }
    },
    undo: (host) => host.backend('task.remove', { ids: added }),
  };
}

function copyOf(task: TaskView): BackendRequests['task.add']['params'] {
  const where = task.parent_id === null ? { epic: task.epic_id } : { parent: task.parent_id };
  return {
    title: `${task.title} (copy)`,
    description: withoutCriteria(task.description, task.acceptance_criteria),
    accept: task.acceptance_criteria,
    ...where,
    blocked_by: task.blocked_by,
    priority: task.priority,
    type: task.type,
    labels: task.labels,
    max_attempts: task.max_attempts,
    ...(task.gate === null ? {} : { gate: task.gate }),
  };
}

async function changeBlockers(
  host: Host,
  ids: readonly string[],
  field: 'add_blockers' | 'remove_blockers',
  blocker: string,
): Promise<void> {
  for (const id of ids) await host.backend('task.edit', { id, [field]: [blocker] });
}

function moveEdit(
  board: StatusSnapshot,
  ids: readonly string[],
  to: TaskPlace,
  words: string,
): Edit {
  // The last one is restored first, so that each task finds its previous successor in place.
  const back = movable(board.tasks, ids)
    .map((task) => ({ id: task.id, place: findTaskPlace(board.tasks, task) }))
    .toReversed();
  return {
    words,
    run: (host) => host.backend('task.move', { ids, ...to }),
    undo: async (host) => {
      for (const { id, place } of back) await host.backend('task.move', { ids: [id], ...place });
    },
  };
}

export function renameEdit(kind: 'task' | 'epic', id: string, from: string, to: string): Edit {
  const rename = (host: Host, title: string): Promise<unknown> =>
    host.backend(kind === 'task' ? 'task.edit' : 'epic.edit', { id, title });
  return {
    words: `Rename to ${to}`,
    run: (host) => rename(host, to),
    undo: (host) => rename(host, from),
  };
}

export function addTaskEdit(
  title: string,
  { epic, parent, before }: TaskPlace,
  onAdded: (id: string) => void,
): Edit {
  let id: string | null = null;
  return {
    words: `Add ${title}`,
    run: async (host) => {
      const where = parent === null ? { epic } : { parent };
      const added = await host.backend('task.add', { title, ...where });
      id = added.id;
      onAdded(id);
      if (before !== null) await host.backend('task.move', { ids: [id], epic, parent, before });
    },
    undo: async (host) => {
      if (id !== null) await host.backend('task.remove', { ids: [id] });
    },
  };
}

export function addEpicEdit(title: string, onAdded: (id: string) => void): Edit {
  let id: string | null = null;
  return {
    words: `Add epic ${title}`,
    run: async (host) => {
      const added = await host.backend('epic.add', { title });
      id = added.id;
      onAdded(id);
    },
    undo: async (host) => {
      if (id !== null) await host.backend('epic.remove', { id });
    },
  };
}

/** A remaining task, and its blockers that are removed. */
export interface KeptDependent {
  readonly task: TaskView;
  readonly blockers: readonly TaskView[];
}

/** Returns no dependents if a removed task has started: the backend refuses that removal. */
export function keptDependents(
  board: StatusSnapshot,
  ids: readonly string[],
): readonly KeptDependent[] {
  const gone = new Set(ids);
  const parts = Map.groupBy(board.tasks, ({ parent_id }) => parent_id);
  for (const id of gone) for (const part of parts.get(id) ?? []) gone.add(part.id);
  const removed = board.tasks.filter(({ id }) => gone.has(id));
  if (!removed.every((task) => removableStatuses.has(task.status) && task.attempts === 0))
    return [];
  return board.tasks.flatMap((task) => {
    const blockers = removed.filter(({ id }) => task.blocked_by.includes(id));
    return gone.has(task.id) || blockers.length === 0 ? [] : [{ task, blockers }];
  });
}

/** Dependencies that the confirmation of a removal names. */
const namedMax = 3;

/** Returns null if no remaining task waits for a removed one. */
export function dropQuestion(
  dependents: readonly KeptDependent[],
): { readonly text: string; readonly button: string } | null {
  const pairs = dependents.flatMap(({ task, blockers }) =>
    blockers.map((blocker) => `“${task.title}” waits for “${blocker.title}”`),
  );
  if (pairs.length === 0) return null;
  const more = pairs.length - namedMax;
  const rest = more > 0 ? `, and ${more} more` : '';
  const count = formatCount(pairs.length, 'Dependency', 'Dependencies');
  return {
    text: `${pairs.slice(0, namedMax).join(', ')}${rest}.`,
    button: `Remove and Drop ${count}`,
  };
}

/**
 * The backend restores removed rows under the same ids, so older edits can still be undone.
 * Remaining tasks no longer wait for the removed ones.
 */
export function removeEdit(board: StatusSnapshot, ids: readonly string[]): Edit {
  const epics = ids.filter((id) => board.epics.some((epic) => epic.id === id));
  const tasks = ids.filter((id) => !epics.includes(id));
  const [first] = ids;
  const named = [...board.tasks, ...board.epics].find(({ id }) => id === first)?.title ?? '';
  const dependents = keptDependents(board, tasks);
  const edges = async (host: Host, field: 'add_blockers' | 'remove_blockers'): Promise<void> => {
    for (const { task, blockers } of dependents)
      await host.backend('task.edit', { id: task.id, [field]: blockers.map(({ id }) => id) });
  };
  let gone: readonly string[] = [];
  return {
    words: `Remove ${ids.length === 1 ? named : formatCount(ids.length, 'row')}`,
    run: async (host) => {
      gone = [];
      await edges(host, 'remove_blockers');
      if (tasks.length > 0) gone = await removeOr(host, tasks, () => edges(host, 'add_blockers'));
      for (const id of epics) {
        await host.backend('epic.remove', { id });
        gone = [...gone, id];
      }
    },
    undo: async (host) => {
      await host.backend('plan.restore', { ids: gone });
      await edges(host, 'add_blockers');
    },
  };
}

/** A refused removal changes nothing. */
async function removeOr(
  host: Host,
  ids: readonly string[],
  restore: () => Promise<void>,
): Promise<readonly string[]> {
  try {
    return (await host.backend('task.remove', { ids })).removed;
  } catch (error) {
    await restore();
    throw error;
  }
}

/** Returns null if it is already the first or the last one. */
export function moveEpicEdit(board: StatusSnapshot, id: string, step: -1 | 1): Edit | null {
  const ids = board.epics.map((epic) => epic.id);
  const at = ids.indexOf(id);
  const to = at + step;
  if (at < 0 || to < 0 || to >= ids.length) return null;
  const before = step === -1 ? (ids[to] ?? null) : (ids[to + 1] ?? null);
  return {
    words: `Move ${board.epics[at]?.title ?? ''} ${step === -1 ? 'up' : 'down'}`,
    run: (host) => host.backend('epic.move', { id, before }),
    undo: (host) => host.backend('epic.move', { id, before: ids[at + 1] ?? null }),
  };
}
