// Registers the workflows with the durable engine, and starts and stops their work.

import { executeTask, executeWorkflow } from './attempt/execute-task.ts';
import { endReassignedTasks } from './run/given-away.ts';
import { endOrphanCommands } from './landing/orphan-commands.ts';
import {
  type BaseGateInput,
  baseGateWorkflow,
  stopBaseGate,
  testBase,
} from './landing/base-gate.ts';
import { landEpic, landEpicWorkflow, type LandEpicInput } from './landing/land-epic.ts';
import { landTasks, type LandInput } from './landing/land-tasks.ts';
import { nextAppend } from './kit/next-append.ts';
import { type Engine, type EngineDeps, Switchboard, type Uses } from './kit/engine-ports.ts';
import { resolveRunSettings } from './kit/run-settings.ts';
import { type EngineOfRun, engineOfRun } from './kit/engine-of-run.ts';
import { agentQueueName, machineOfQueue } from './kit/placement.ts';
import { finishStopped, runEpic, runQueue, runWorkflow } from './run/run-epic.ts';
import { landWorkflow, limitLandQueue, lineOfQueue } from './attempt/submission.ts';
import type { DurableRun, QueueLimits } from '../durable/port.ts';
import {
  allLines,
  askedToStop,
  type Claim,
  countOwnedTasks,
  newestUnendedMs,
  openLandings,
  runById,
  type RunRow,
  stopActiveRun,
  tasksOwnedByRuns,
  type Tx,
} from '../store/port.ts';
import { requestStop } from './person/controls.ts';
import { activeRuns } from './run/start-run.ts';
import { runUndo, undoWorkflow, type UndoInput } from './person/undo-landing.ts';

/** Maximum number of agents in one process, whatever a run requests. */
const agentsMax = 64;

export function createEngine(deps: EngineDeps): Engine {
  const launchedAtMs = deps.clock.now();
  const engine: Engine = {
    ...deps,
    switchboard: new Switchboard(),
    launchedAtMs,
    foldersOfMachine: (body) => deps.store.transaction(body),
    earlierUntilMs: launchedAtMs - 1,
  };
  register<Claim, string>(engine, executeWorkflow, async (fenced, run, claim) => {
    return executeTask(await engineFor(fenced, claim.runId), run, claim);
  });
  register<LandInput, number>(engine, landWorkflow, async (fenced, run, input) => {
    return landTasks(await engineFor(fenced, input.runId), run, input);
  });
  register<BaseGateInput, string>(engine, baseGateWorkflow, async (fenced, run, input) => {
    const own = await engineFor(fenced, input.runId);
    return fenced.switchboard.whileWorking(() => testBase(own, run, input));
  });
  register<LandEpicInput, string>(engine, landEpicWorkflow, async (fenced, run, input) => {
    const own = await engineFor(fenced, input.runId);
    // No running task keeps the backend alive during the landing.
    return fenced.switchboard.whileWorking(() => landEpic(own, run, input));
  });
  register<UndoInput, string>(engine, undoWorkflow, (fenced, run, input) =>
    fenced.switchboard.whileWorking(() => runUndo(fenced, run, input)),
  );
  register<{ runId: string }, unknown>(engine, runWorkflow, async (fenced, run, input) => {
    return runEpic(await engineFor(fenced, input.runId), run, input);
  });
  deps.durable.queue(agentQueueName(deps.machineId), { perProcess: agentsMax });
  if (deps.machineId === '') deps.durable.queue(runQueue, {});
  return engine;
}

/** The only place that passes a workflow's name to the durable engine. */
function register<Input, Output>(
  engine: Engine,
  name: string,
  body: (fenced: EngineOfRun, run: DurableRun<Tx>, input: Input) => Promise<Output>,
): void {
  engine.durable.workflow<Input, Output>(name, (run, input) =>
    body(engineOfRun(engine, run), run, input),
  );
}

/**
 * The queue rules that all processes of a fleet share: one landing at a time per line on machines
 * that can land now, runs on machines that assign work, and attempts on their own machine.
 */
export function sharedQueueLimits(
  machineId: string,
  role: { readonly lands: (line: string) => boolean; readonly leads: () => boolean },
): (queue: string) => QueueLimits | undefined {
  return (queue) => {
    if (queue === runQueue) return role.leads() ? undefined : { perProcess: 0 };
    const line = lineOfQueue(queue);
    if (line !== null)
      return role.lands(line) ? { concurrency: 1 } : { concurrency: 1, perProcess: 0 };
    const machine = machineOfQueue(queue);
    return machine === null || machine === machineId ? undefined : { perProcess: 0 };
  };
}

/**
 * The engine with the settings of an active run. In a fleet, every machine that works for the run
 * also needs the environment that the run's options require.
 */
async function engineFor(engine: EngineOfRun, runId: string | null): Promise<EngineOfRun> {
  const row = runId === null ? null : await runById(engine.store.db, runId);
  if (row === null) return engine;
  if (engine.machineId !== '') await engine.useRun(row);
  return row.state === 'active'
    ? { ...engine, settings: () => resolveRunSettings(engine, row) }
    : engine;
}

/**
 * Resumes the workflows of an earlier process. Each line's queue is limited to one workflow before
 * any of them starts.
 */
export async function launchEngine(
  engine: Uses<
    | 'durable'
    | 'earlierUntilMs'
    | 'files'
    | 'git'
    | 'machineId'
    | 'places'
    | 'processes'
    | 'report'
    | 'store'
    | 'switchboard'
  >,
): Promise<void> {
  for (const { branch } of await allLines(engine.store.db)) limitLandQueue(engine, branch);
  const newestMs = await newestUnendedMs(engine.store.db);
  engine.earlierUntilMs = Math.max(engine.earlierUntilMs, newestMs);
  await endOrphanCommands(engine);
  if (engine.machineId !== '') await endReassignedTasks(engine);
  await engine.durable.launch();
}

/**
 * Stops all active runs: stops their agents and releases their tasks, without using attempts.
 * Resolves with the runs' ids.
 */
export async function stopRuns(
  engine: Uses<
    'clock' | 'durable' | 'git' | 'machineId' | 'report' | 'settings' | 'store' | 'switchboard'
  >,
  runId: string | null,
): Promise<readonly string[]> {
  const active = (await activeRuns(engine)).filter((row) => runId === null || row.id === runId);
  if (active.length === 0) return [];
  const runs = await engine.store.transaction(async (tx) => {
    const stopped: RunRow[] = [];
    for (const { id } of active) {
      // A run that has just finished stays finished, because it has nothing to resume.
      const run = await stopActiveRun(tx, id, engine.clock.now());
      if (run === null) continue;
      stopped.push(run);
      await engine.store.append(tx, {
        type: 'run.stopped',
        runId: run.id,
        epicId: run.epic_id,
        data: { run: run.id },
      });
    }
    return stopped;
  });
  if (runs.length === 0) return [];
  const ids = runs.map((row) => row.id);
  const owned = await tasksOwnedByRuns(engine.store.db, ids);
  for (const id of owned) await requestStop(engine, id, 'stop', 'the run was stopped');
  await waitUntilReleased(engine, owned);
  for (const run of runs) {
    await stopBaseGate(engine, run.line);
    await finishStopped(engine, run);
  }
  return ids;
}

/**
 * How long stopping a run waits for its agents. Agents that take longer are stopped in the
 * background.
 */
const stopWaitMaxMs = 15_000;

export async function waitUntilReleased(
  engine: Uses<'clock' | 'store'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const endMs = engine.clock.now() + stopWaitMaxMs;
  while (engine.clock.now() < endMs) {
    const left = await askedToStop(engine.store.db, ids);
    if (left.length === 0) return;
    await nextAppend(engine, 250);
  }
}

/** True if no work is running or about to start. */
export async function isIdle(engine: Uses<'store' | 'switchboard'>): Promise<boolean> {
  if (engine.switchboard.isWorking) return false;
  const runs = await activeRuns(engine);
  if (runs.length > 0) return false;
  const { db } = engine.store;
  return (await countOwnedTasks(db)) === 0 && (await openLandings(db)) === 0;
}
