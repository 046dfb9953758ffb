// Requests that move tasks and epics, as users drag them, or remove them from the plan.

import type { Handlers } from '../../protocol/api.ts';
import { readTaskViews } from '../../store/board/board-changes.ts';
import { moveEpic, removeEpic } from '../../store/plan/epic-place.ts';
import { moveTasks } from '../../store/plan/task-move.ts';
import { Removals, restoreRemoved } from '../../store/plan/restore.ts';
import { removeTasks } from '../../store/plan/task-remove.ts';
import type { DataHandlerDeps } from './data-deps.ts';

type PlaceRequests = 'task.move' | 'epic.move' | 'task.remove' | 'epic.remove' | 'plan.restore';

export function placeHandlers(deps: DataHandlerDeps): Pick<Handlers, PlaceRequests> {
  const { store } = deps;
  const { db, sources } = store;
  const removals = new Removals();
  return {
    'task.move': async ({ before = null, ...move }) => {
      const ids = await store.transaction((tx) => moveTasks(tx, sources, { ...move, before }));
      return readTaskViews(db, ids);
    },
    'epic.move': async ({ id, before }) => {
      await store.transaction((tx) => moveEpic(tx, sources, id, before));
      return { id };
    },
    'task.remove': async ({ ids }) => {
      const tasks = await store.transaction((tx) => removeTasks(tx, sources, ids));
      removals.keep({ epics: [], tasks });
      return { removed: tasks.map(({ row }) => row.id) };
    },
    'epic.remove': async ({ id }) => {
      const epic = await store.transaction((tx) => removeEpic(tx, sources, id));
      removals.keep({ epics: [epic], tasks: [] });
      return { removed: id };
    },
    'plan.restore': async ({ ids }) => {
      const removed = removals.find(ids);
      await store.transaction((tx) => restoreRemoved(tx, sources, removed));
      return { restored: ids };
    },
  };
}
