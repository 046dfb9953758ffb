// The requests of panels that need the engine.

import type { Handlers } from '../../protocol/api.ts';
import { conflictSides, landPersonsMerge } from '../../workflows/person/settle-conflict.ts';
import { giveBack, takeOver } from '../../workflows/person/take-over.ts';
import { preflight } from './preflight.ts';
import { readStepLog } from './step-log.ts';
import type { EngineHandlerDeps } from './engine-deps.ts';

export type PanelEngineRequests =
  | 'preflight'
  | 'task.take_over'
  | 'task.give_back'
  | 'conflict'
  | 'task.merge'
  | 'step.log'
  | 'backend.leave';

export function panelEngineHandlers(deps: EngineHandlerDeps): Pick<Handlers, PanelEngineRequests> {
  const { engine, taskView } = deps;
  return {
    preflight: (params) => preflight(deps, params),
    'task.take_over': async ({ id }) => {
      const taken = await takeOver(engine, id);
      return {
        task_id: taken.taskId,
        attempt: taken.attempt,
        worktree_path: taken.worktreePath,
        session_id: taken.sessionId,
        command: taken.command,
        branch: taken.branch,
      };
    },
    'task.give_back': async ({ id, note }) => {
      await giveBack(engine, id, note ?? null);
      return taskView(id);
    },
    conflict: ({ id }) => conflictSides(engine, id),
    'task.merge': async ({ id, onto, files }) => {
      const settled = new Map(files.map(({ path, text }) => [path, text]));
      await landPersonsMerge(engine, id, onto, settled);
      return taskView(id);
    },
    'step.log': (params) => readStepLog(deps, params),
    'backend.leave': ({ force }) => deps.shutdown(force === true),
  };
}
