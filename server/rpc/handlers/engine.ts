// Requests that need the engine: runs, and a person's actions on tasks. Each response contains the
// task's row afterwards.

import { KeyedMutex } from '../../core/work/semaphore.ts';
import type { LandMode } from '../../core/plan/task.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import type { Answer, EpicView, Handlers, Params, RunView, TaskView } from '../../protocol/api.ts';
import {
  answerQuestion,
  cancelTask,
  hintTask,
  pauseTask,
  resetTasks,
  retryTask,
  unpauseTask,
} from '../../workflows/person/controls.ts';
import { waitForTask } from '../../workflows/person/wait-for.ts';
import { isChoice } from '../../workflows/attempt/candidates.ts';
import { resolveTask } from '../../workflows/person/resolve-task.ts';
import { restoreTask } from '../../workflows/person/restore-task.ts';
import { stopRuns } from '../../workflows/engine.ts';
import { returnOrphans } from '../../workflows/run/orphans.ts';
import { approve, sendBack } from '../../workflows/person/reviews.ts';
import { previewUndo, undoLanding, type UndoAnswer } from '../../workflows/person/undo-landing.ts';
import { defaultLand, resumeRun, startRun } from '../../workflows/run/start-run.ts';
import { askedScope, coveringRun } from '../../workflows/run/asked-scope.ts';
import { unmetWants } from '../../store/board/machine-wants.ts';
import { countReady, newestRun, questionById, readLine, type RunRow } from '../../store/port.ts';
import { lastSeqOfRun } from '../../store/feed/find-events.ts';
import { runView } from '../../store/board/views.ts';
import { runFlags } from './run-flags.ts';
import { panelEngineHandlers, type PanelEngineRequests } from './panel-engine.ts';
import type { EngineHandlerDeps } from './engine-deps.ts';
import type { UndoView } from '../../protocol/run-views.ts';
import type { Uses } from '../../workflows/kit/engine-ports.ts';

type EngineRequests =
  | 'run.start'
  | 'run.resume'
  | 'run.stop'
  | 'task.pause'
  | 'task.unpause'
  | 'task.cancel'
  | 'task.retry'
  | 'task.restore'
  | 'task.hint'
  | 'task.resolve'
  | 'task.send_back'
  | 'approve'
  | 'answer'
  | 'undo'
  | 'reset'
  | 'worktree.prune'
  | 'shutdown';

export function createEngineHandlers(
  deps: EngineHandlerDeps,
): Pick<Handlers, EngineRequests | PanelEngineRequests> {
  const starts = new KeyedMutex();
  return {
    ...runHandlers(deps, starts),
    ...taskHandlers(deps),
    ...panelEngineHandlers(deps, starts),
  };
}

type RunRequests =
  | 'run.start'
  | 'run.resume'
  | 'run.stop'
  | 'reset'
  | 'worktree.prune'
  | 'shutdown';

/**
 * Starts are handled one at a time, so that none is checked against settings that another is
 * putting in force.
 */
function runHandlers(deps: EngineHandlerDeps, starts: KeyedMutex): Pick<Handlers, RunRequests> {
  const { engine } = deps;
  /** Runs whose end has answered a "resume". Another "resume" is then a new request. */
  const told = new Set<string>();
  return {
    'run.start': (options) => starts.run('', () => startRequest(deps, options)),
    'run.resume': (options) => starts.run('', () => resumeRequest(deps, options, told)),
    'run.stop': async ({ run }) => ({ stopped: await stopRuns(engine, run ?? null) }),
    reset: async (options) => {
      const ids = options.ids ?? [];
      const statuses: TaskStatus[] = [
        ...(options.completed === true ? (['completed'] as const) : []),
        ...(options.failed === true ? (['failed'] as const) : []),
        ...(options.claimed === true ? (['claimed'] as const) : []),
        ...(options.in_progress === true ? (['in_progress'] as const) : []),
      ];
      if (ids.length === 0 && statuses.length === 0) {
        return { reset: [...(await returnOrphans(engine))], refused: [] };
      }
      return resetTasks(engine, { ids, statuses });
    },
    'worktree.prune': (options) => deps.pruneWorktrees(options),
    shutdown: ({ force }) => deps.shutdown(force === true),
  };
}

async function startRequest(
  deps: EngineHandlerDeps,
  options: Params<'run.start'>,
): Promise<Answer<'run.start'>> {
  const flags = runFlags(options);
  // A caller that only joins an active run does not change its settings.
  const scope = await askedScope(deps.engine, options);
  const covering = await coveringRun(deps.engine, scope);
  const start = covering === null ? await deps.configure(options.env, flags) : null;
  const engine = { ...deps.engine, ...start?.engine };
  const settings = engine.settings();
  const after = await engine.store.feed.lastSeq();
  await refuseDirectLanding(deps, covering?.land ?? settings.land ?? defaultLand(scope.epicId));
  const wanted = {
    workers: settings.workers,
    ...scope,
    target: settings.target,
    calledIn: options.called_in ?? null,
    land: settings.land,
    flags,
  };
  let news: readonly string[] = [];
  const begun = await startRun(engine, wanted, async () => {
    news = (await start?.use()) ?? [];
  });
  const warnings = begun.joined
    ? [...news, ...unusedFlags(flags, JSON.parse(begun.row.flags) as Record<string, unknown>)]
    : [...news, ...(start?.warnings ?? [])];
  const loud =
    settings.gateCommand === null && !begun.joined
      ? [
          'No gate is configured: nothing is tested before it lands. Set one with --gate "<command>", DROVER_GATE or [gate] command in .drover.toml.',
        ]
      : [];
  const wants = begun.joined
    ? []
    : await unmetWants(engine.store.db, scope.epicId, settings.gateNeeds);
  return {
    run: await viewOf(engine, begun.row),
    joined: begun.joined,
    message: begun.joined
      ? `run ${begun.row.id} is running already and covers this; joined it`
      : `run ${begun.row.id} started`,
    warnings: [...loud, ...warnings, ...wants],
    after: begun.joined ? await seqBefore(engine, begun.row.id) : after,
  };
}

/** If a run waits for an approval or a pull request, others make the decision. */
async function refuseDirectLanding(deps: EngineHandlerDeps, land: LandMode): Promise<void> {
  if (land === 'task' || land === 'epic') await deps.refuseByPolicy('land');
}

function unusedFlags(
  given: Readonly<Record<string, unknown>>,
  used: Readonly<Record<string, unknown>>,
): readonly string[] {
  const unused = Object.keys(given).filter((key) => given[key] !== used[key]);
  if (unused.length === 0) return [];
  const keys = unused.join(', ');
  return [`The current run keeps the settings that it was started with. Not used: ${keys}.`];
}

/**
 * The event number before the run started or was resumed (an earlier end does not count), or before
 * its end.
 */
async function seqBefore(
  engine: Uses<'store'>,
  runId: string,
  types: readonly string[] = ['run.started', 'run.resumed'],
): Promise<number> {
  const seq = await lastSeqOfRun(engine.store.db, runId, types);
  return Math.max(0, (seq ?? 1) - 1);
}

/**
 * How long a command that started this backend may take to ask for the run that an earlier backend
 * left.
 */
const takeOverMs = 10_000;

/**
 * A new backend resumes an earlier one's run automatically, and the run may be over before the
 * person's "resume" arrives. The request meant that run, so its end is the response.
 */
async function endedSinceLaunch(
  engine: Uses<'clock' | 'launchedAtMs' | 'store'>,
): Promise<RunRow | null> {
  if (engine.clock.now() - engine.launchedAtMs > takeOverMs) return null;
  const last = await newestRun(engine.store.db);
  if (last === null || last.state !== 'finished') return null;
  const isLeft = last.started_at_ms < engine.launchedAtMs;
  return isLeft && (last.ended_at_ms ?? 0) >= engine.launchedAtMs ? last : null;
}

/** Tasks that never ran, or became ready since, need a separate run. */
async function nothingToResume(engine: Uses<'store'>, hasRun: boolean): Promise<string> {
  const n = await countReady(engine.store.db);
  const why = hasRun ? 'the last run has finished' : 'no run was ever started';
  const ready = n === 1 ? '1 task is ready' : `${n} tasks are ready`;
  const next = n === 0 ? '' : `; ${ready}, "drover run" starts ${n === 1 ? 'it' : 'them'}`;
  return `Nothing to resume: ${why}${next}.`;
}

async function resumeRequest(
  deps: EngineHandlerDeps,
  options: Params<'run.resume'>,
  told: Set<string>,
): Promise<Answer<'run.resume'>> {
  const last = await newestRun(deps.engine.store.db);
  const flags = JSON.parse(last?.flags ?? '{}') as Record<string, unknown>;
  const start = await deps.configure(options.env, flags);
  if (last !== null) await refuseDirectLanding(deps, last.land);
  const engine = { ...deps.engine, ...start.engine };
  const after = await engine.store.feed.lastSeq();
  let news: readonly string[] = [];
  const begun = await resumeRun(engine, async () => {
    news = await start.use();
  });
  const warnings = [...news, ...start.warnings];
  if (begun === null) {
    const ended = await endedSinceLaunch(engine);
    if (ended === null || told.has(ended.id))
      return { run: null, message: await nothingToResume(engine, last !== null) };
    told.add(ended.id);
    return {
      run: await viewOf(engine, ended),
      joined: true,
      message: `run ${ended.id} continued and has ended`,
      warnings,
      after: await seqBefore(engine, ended.id, ['run.finished']),
    };
  }
  told.add(begun.row.id);
  return {
    run: await viewOf(engine, begun.row),
    joined: begun.joined,
    message: begun.joined ? `run ${begun.row.id} resumes` : `run ${begun.row.id} resumed`,
    warnings,
    after,
  };
}

type TaskRequests = Exclude<EngineRequests, RunRequests>;

function taskHandlers(deps: EngineHandlerDeps): Pick<Handlers, TaskRequests> {
  const { engine, taskView, epicView } = deps;
  const either = async (kind: 'task' | 'epic', id: string): Promise<TaskView | EpicView> =>
    kind === 'epic' ? epicView(id) : taskView(id);
  return {
    'task.pause': async ({ id, until }) => {
      if (until === undefined) await pauseTask(engine, id);
      else await waitForTask(engine, id, until, `a person lets it wait for ${until}`);
      return taskView(id);
    },
    'task.unpause': async ({ id, hint }) => {
      await unpauseTask(engine, id, hint ?? null);
      return taskView(id);
    },
    'task.cancel': async ({ id, reason }) => {
      await cancelTask(engine, id, reason ?? null);
      return taskView(id);
    },
    'task.retry': async ({ id, force }) => {
      await retryTask(engine, id, force === true);
      return taskView(id);
    },
    'task.restore': async ({ id, snapshot }) => {
      const number = await restoreTask(engine, id, snapshot ?? null);
      return { task: await taskView(id), snapshot: number };
    },
    'task.hint': async ({ id, text: words }) => {
      const reaches = await hintTask(engine, id, words);
      return { ...(await taskView(id)), hint_reaches: reaches };
    },
    'task.resolve': async ({ id, note, anyway }) => {
      await resolveTask(engine, id, { note: note ?? null, anyway: anyway === true });
      return taskView(id);
    },
    'task.send_back': async ({ id, text: words }) => either(await sendBack(engine, id, words), id),
    approve: async ({ id, seen, plan, with_ignored: isWithIgnored }) => {
      await deps.refuseByPolicy('approve');
      return either(await approve(engine, id, seen ?? null, plan ?? null, isWithIgnored), id);
    },
    answer: async ({ id, choice }) => {
      const row = await questionById(engine.store.db, id);
      // This lands the chosen candidate.
      if (row !== null && isChoice(row)) await deps.refuseByPolicy('approve');
      return taskView(await answerQuestion(engine, id, choice));
    },
    undo: async ({ id, dry_run: isDry, by }) => {
      const asker = by?.slice(0, askerMax) ?? 'person';
      if (isDry !== true) {
        await deps.refuseByPolicy('land');
        return undoView(await undoLanding(engine, id, asker), null);
      }
      const preview = await previewUndo(engine, id);
      return undoView(preview, preview.tree);
    },
  };
}

/** Maximum characters of the requester's name. */
const askerMax = 100;

function undoView(
  { plan, dependents, state, workflowId: workflow, after }: UndoAnswer,
  tree: string | null,
): UndoView {
  const reverts = plan.reverts.map(({ sha }) => sha);
  const tasks = plan.tasks.map((task) => task.id);
  const pulls = plan.forge?.merges.map(({ number }) => number) ?? [];
  const about = { id: plan.id, reverts, dependents, tasks, line: plan.line, pull_requests: pulls };
  return { ...about, tree, state, workflow, after };
}

async function viewOf(engine: Uses<'store'>, row: RunRow): Promise<RunView> {
  return runView(row, await readLine(engine.store.db, row.target_branch));
}
