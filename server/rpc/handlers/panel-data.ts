// Requests of panels that the database and git can answer.

import type { Handlers } from '../../protocol/api.ts';
import { readAttempts } from '../../store/work/attempts.ts';
import { readChanges } from '../../store/board/board-changes.ts';
import { snapshotExtras, unacceptedSettings, withSandboxes } from './data-inspect.ts';
import { reviewHandlers } from './panel-review.ts';
import { placeHandlers } from './panel-place.ts';
import type { DataHandlerDeps } from './data-deps.ts';

type PanelDataRequests =
  | 'board.changes'
  | 'attempts'
  | 'task.move'
  | 'epic.move'
  | 'task.remove'
  | 'epic.remove'
  | 'plan.restore'
  | 'change'
  | 'file.read';

export function panelDataHandlers(deps: DataHandlerDeps): Pick<Handlers, PanelDataRequests> {
  const { store } = deps;
  return {
    'board.changes': async ({ after }) => {
      const changes = await readChanges(store.db, after, snapshotExtras(deps));
      const { tasks } = await withSandboxes(deps, changes.tasks);
      const held = unacceptedSettings(deps);
      if (changes.snapshot === null) {
        return { ...changes, tasks, ...(changes.config !== undefined && held) };
      }
      const whole = await withSandboxes(deps, changes.snapshot.tasks);
      return { ...changes, tasks, snapshot: { ...changes.snapshot, ...whole, ...held } };
    },
    attempts: async ({ id }) => readAttempts(store.db, id),
    ...placeHandlers(deps),
    ...reviewHandlers(deps),
  };
}
