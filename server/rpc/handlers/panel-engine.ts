// Requests of panels that need the engine.

import type { KeyedMutex } from '../../core/work/semaphore.ts';
import { Refusal } from '../../core/failure.ts';
import type { Answer, Handlers, Params } from '../../protocol/api.ts';
import { requestBaseTest } from '../../workflows/landing/base-gate.ts';
import { conflictSides, landPersonsMerge } from '../../workflows/person/settle-conflict.ts';
import { followTarget } from '../../workflows/person/follow-target.ts';
import { handBackToAgent, takeOver } from '../../workflows/person/take-over.ts';
import { newestRun } from '../../store/port.ts';
import { activeRuns, chooseTarget } from '../../workflows/run/start-run.ts';
import { preflight } from './preflight.ts';
import { runFlags } from './run-flags.ts';
import { readStepLog } from './step-log.ts';
import type { EngineHandlerDeps } from './engine-deps.ts';

export type PanelEngineRequests =
  | 'preflight'
  | 'gate.test'
  | 'target.follow'
  | 'task.take_over'
  | 'task.give_back'
  | 'conflict'
  | 'task.merge'
  | 'step.log'
  | 'backend.leave';

export function panelEngineHandlers(
  deps: EngineHandlerDeps,
  starts: KeyedMutex,
): Pick<Handlers, PanelEngineRequests> {
  const { engine, taskView } = deps;
  return {
    preflight: (params) => preflight(deps, params),
    'gate.test': (params) => testBase(deps, starts, params),
    'target.follow': async ({ branch, leave_out: leavesOut }) => {
      const run = branch === undefined ? await newestRun(engine.store.db) : null;
      const target = branch ?? run?.target_branch;
      if (target === undefined)
        throw new Refusal('bad_request', 'Nothing has run yet. Name a branch.');
      return followTarget(engine, target, leavesOut === true);
    },
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
      await handBackToAgent(engine, id, note ?? null);
      return taskView(id);
    },
    conflict: ({ id }) => conflictSides(engine, id),
    'task.merge': async ({ id, onto, files }) => {
      await deps.refuseByPolicy('land');
      const settled = files.map(({ path, text, keeps_base: keeps }) => ({
        path,
        text,
        keepsBase: keeps === true,
      }));
      await landPersonsMerge(engine, id, onto, settled);
      return taskView(id);
    },
    'step.log': (params) => readStepLog(deps, params),
    'backend.leave': ({ force }) => deps.shutdown(force === true),
  };
}

/** Runs the gate on the target branch, at a person's request before a run. */
async function testBase(
  deps: EngineHandlerDeps,
  starts: KeyedMutex,
  params: Params<'gate.test'>,
): Promise<Answer<'gate.test'>> {
  const { branch, gateCommand } = await starts.run('', async () => {
    // Active runs keep the settings that they were started with.
    const isBusy = (await activeRuns(deps.engine)).length > 0;
    const start = isBusy ? null : await deps.configure(params.env, runFlags(params));
    const engine = { ...deps.engine, ...start?.engine };
    const settings = engine.settings();
    if (settings.gateCommand === null)
      throw new Refusal('bad_state', 'No gate is configured. Set [gate] command in .drover.toml.');
    const target = await chooseTarget(engine, params.target ?? settings.target);
    // It runs a command of the repository, as a run would.
    await start?.use();
    return { branch: target, gateCommand: settings.gateCommand };
  });
  const { state, reason } = await requestBaseTest(deps.engine, branch, gateCommand);
  const outcome = state === 'green' || state === 'red' ? state : 'unknown';
  return { branch, outcome, message: reason };
}
