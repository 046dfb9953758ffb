// Starts a run: its target, its line and its row. A run that lacks something is refused without
// changes.

import { gateTitle } from '../../core/settings/gate-stages.ts';
import { branchRef } from '../../core/work/ref-names.ts';
import { epicCycle } from '../../core/line/epic-cycle.ts';
import { agentChain } from '../../core/work/fallback.ts';
import { Refusal } from '../../core/failure.ts';
import type { LandMode } from '../../core/plan/task.ts';
import { newId } from '../../core/ids.ts';
import type { WorktreeEntry } from '../../git/port.ts';
import {
  activeRunsIn,
  agentsNamed,
  askBaseGate,
  epicOrRefuse,
  epicWaits,
  flagsWithTasks,
  insertRun,
  newestRun,
  reactivateRun,
  type RunRow,
  scopeOfRun,
  setEpicLine,
  tasksOfRun,
  type Tx,
  widenRun,
} from '../../store/port.ts';
import { refuseBranchInTheWay, refuseLostBranch } from './lost-branch.ts';
import { type AskedScope, covers, coveringRun, isCovered } from './asked-scope.ts';
import { syncLine } from '../line/line.ts';
import { clearStaleLines, openLine } from '../line/open-line.ts';
import { runQueue, runWorkflow } from './run-epic.ts';
import type { Engine, Uses } from '../kit/engine-ports.ts';
import { gateOfRun } from '../attempt/submission.ts';

export interface StartRunOptions extends AskedScope {
  readonly workers: number;
  readonly target: string | null;
  /**
   * The folder in which the run was started. If `target` is not given and this is a linked
   * worktree, its branch is the target.
   */
  readonly calledIn?: string | null;
  readonly land: LandMode | null;
  /** Flags as given, stored so that `resume` uses the same ones. */
  readonly flags: Readonly<Record<string, unknown>>;
}

export interface RunBegun {
  readonly row: RunRow;
  readonly joined: boolean;
}

/**
 * Called when the run can no longer be refused, just before its row is written. Its settings are in
 * force from then on.
 */
export type UseSettings = () => Promise<void>;

const nothingToUse: UseSettings = async () => {};

export async function startRun(
  engine: Engine,
  request: StartRunOptions,
  use = nothingToUse,
): Promise<RunBegun> {
  await checkEpic(engine, request.epicId);
  const covering = await coveringRun(engine, request);
  if (covering !== null) return joinedTo(engine, covering, request, use);
  refuseLandWithoutEpic(request);
  await checkAgents(engine, request);
  const target = await chooseTarget(engine, request.target, request.calledIn ?? null);
  await refuseBranchInTheWay(engine);
  await clearStaleLines(engine, target);
  const land = request.land ?? defaultLand(request.epicId);
  const base = await syncLine(engine, target);
  if (!base.ok) throw new Refusal(base.error.kind, base.error.message);
  const line =
    land === 'task' || request.epicId === null ? target : `drover/epic/${request.epicId}`;
  if (line !== target && request.epicId !== null) await refuseEpicCycle(engine, request.epicId);
  if (line !== target) await openLine(engine, line, target, base.value);
  await use();
  const row: RunRow = {
    id: newId('run', engine.store.sources.random(8)),
    state: 'active',
    started_at_ms: engine.clock.now(),
    ended_at_ms: null,
    workers: request.workers,
    epic_id: request.epicId,
    land,
    target_branch: target,
    line,
    base_sha: base.value,
    result_branch: null,
    flags: flagsWithTasks(request.flags, request.tasks),
    settings: JSON.stringify(engine.settings()),
  };
  const before = await engine.store.transaction(async (tx) => {
    // Another machine may have started a run since. Two runs of the same tasks must not exist.
    const faster = covers(await activeRunsIn(tx), request);
    if (faster !== null) return faster;
    await insertRun(tx, row);
    if (request.epicId !== null) {
      await setEpicLine(tx, request.epicId, line);
    }
    await begin(engine, tx, row, 'run.started');
    return null;
  });
  if (before !== null) return joinedTo(engine, before, request, use);
  engine.durable.wake();
  return { row, joined: false };
}

/** The landing mode of a run without an option for it. */
export function defaultLand(epicId: string | null): LandMode {
  return epicId === null ? 'task' : 'epic';
}

/**
 * Joins an active run. A different landing option is refused and never silently ignored, because
 * work would land untested or without a review.
 */
async function joinedTo(
  engine: Engine,
  row: RunRow,
  request: StartRunOptions,
  use: UseSettings,
): Promise<RunBegun> {
  await refuseOtherTerms(engine, row, request);
  if (isCovered(row, request)) return { row, joined: true };
  await checkAgents(engine, request);
  const widened = await engine.store.transaction((tx) => widenRun(tx, row.id, request.tasks));
  // The active run has just ended.
  if (widened === null) return startRun(engine, request, use);
  engine.durable.wake();
  return { row: widened, joined: true };
}

const landWords: Readonly<Record<LandMode, string>> = {
  task: '',
  epic: '',
  review: ' after a review',
  pr: ' by a pull request',
};

async function refuseOtherTerms(
  engine: Uses<'git' | 'settings'>,
  row: RunRow,
  { flags }: StartRunOptions,
): Promise<void> {
  const { 'land.mode': land, 'land.target': target, 'gate.command': gate } = flags;
  const differences: string[] = [];
  if (land !== undefined && land !== row.land) {
    const what = row.land === 'task' ? 'each task' : 'the finished epic';
    const how = landWords[row.land];
    differences.push(`it lands ${what} on ${row.target_branch}${how} (--land ${row.land})`);
  }
  if (typeof target === 'string') {
    const branch = await engine.git.canonicalBranch(target);
    if (branch !== row.target_branch) differences.push(`its target is ${row.target_branch}`);
  }
  if (gate !== undefined && gate !== gateOfRun(engine, row))
    differences.push('its gate is another one');
  if (differences.length > 0) {
    const scope = row.epic_id === null ? 'everything' : `epic ${row.epic_id}`;
    throw new Refusal(
      'run_differs',
      `Run ${row.id} covers ${scope} already, and ${differences.join(', ')}. Wait until it has ended or stop it with Ctrl-C, then run again.`,
    );
  }
}

async function begin(
  engine: Uses<'clock' | 'durable' | 'mask' | 'settings' | 'store'>,
  tx: Tx,
  row: RunRow,
  event: string,
): Promise<void> {
  const gate = gateOfRun(engine, row);
  const tasks = tasksOfRun(row);
  await engine.store.append(tx, {
    type: event,
    epicId: row.epic_id,
    runId: row.id,
    data: {
      run: row.id,
      workers: row.workers,
      target: row.target_branch,
      line: row.line,
      land: row.land,
      base: row.base_sha,
      agent: engine.settings().agentKind,
      gate: gate === null ? null : engine.mask(gateTitle(gate)),
      ...(tasks !== null && { tasks: tasks.length }),
    },
  });
  // The cause of a red base in an earlier run may be fixed.
  await askBaseGate(tx, row.line, engine.clock.now(), { keepsGreen: true });
  const id = `run/${row.id}/${engine.store.sources.uuid()}`;
  // It stores no steps, so any release can continue it.
  const options = { queue: runQueue, isForAnyRelease: true };
  await engine.durable.startIn(tx, runWorkflow, id, { runId: row.id }, options);
}

/** Resumes the last unfinished run. Returns null if there is none. */
export async function resumeRun(
  engine: Uses<
    'agentEnvironment' | 'clock' | 'driverFor' | 'durable' | 'mask' | 'settings' | 'store'
  >,
  use = nothingToUse,
): Promise<RunBegun | null> {
  const [active] = await activeRuns(engine);
  if (active !== undefined) {
    await use();
    return { row: active, joined: true };
  }
  const stopped = await lastStoppedRun(engine);
  if (stopped === null) return null;
  await checkAgents(engine, await scopeOfRun(engine.store.db, stopped, []));
  await use();
  const settings = JSON.stringify(engine.settings());
  const row: RunRow = { ...stopped, state: 'active', ended_at_ms: null, settings };
  await engine.store.transaction(async (tx) => {
    await reactivateRun(tx, row.id, settings);
    await begin(engine, tx, row, 'run.resumed');
  });
  engine.durable.wake();
  return { row, joined: false };
}

export async function activeRuns(engine: Uses<'store'>): Promise<RunRow[]> {
  return activeRunsIn(engine.store.db);
}

export async function lastStoppedRun(engine: Uses<'store'>): Promise<RunRow | null> {
  const row = await newestRun(engine.store.db);
  return row?.state === 'stopped' ? row : null;
}

export async function checkEpic(engine: Uses<'store'>, epicId: string | null): Promise<void> {
  if (epicId !== null) await epicOrRefuse(engine.store.db, epicId);
}

/** Every agent that the scope needs must be installed before the first task starts. */
async function checkAgents(
  engine: Uses<'agentEnvironment' | 'driverFor' | 'settings' | 'store'>,
  scope: AskedScope,
): Promise<void> {
  const missing = new Map<string, string | null>();
  for (const chain of await agentsNeeded(engine, scope)) {
    for (const kind of chain) {
      if (!missing.has(kind)) missing.set(kind, await whyMissing(engine, kind));
    }
    const [first = '', ...others] = chain;
    const reason = missing.get(first) ?? null;
    // If a fallback agent is available, tasks of a missing agent can still be done.
    if (reason === null || others.some((kind) => missing.get(kind) === null)) continue;
    throw new Refusal('agent_missing', reason);
  }
}

async function whyMissing(
  engine: Uses<'agentEnvironment' | 'driverFor'>,
  kind: string,
): Promise<string | null> {
  try {
    const probe = await engine.driverFor(kind).probe(engine.agentEnvironment(kind, null));
    return probe.ok ? null : probe.message;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/**
 * The agents for the tasks in scope. Each list contains the first agent and those that take over,
 * in order.
 */
export async function agentsNeeded(
  engine: Uses<'settings' | 'store'>,
  scope: AskedScope,
): Promise<readonly (readonly string[])[]> {
  const rows = await agentsNamed(engine.store.db, scope);
  const { agents, agentKind } = engine.settings();
  return rows.map((row) => [
    ...new Set(agentChain(agents, agentKind, row).map(({ agent }) => agent)),
  ]);
}

/** Without an epic, nothing can land as a whole. */
export function refuseLandWithoutEpic({
  land,
  epicId,
}: Pick<StartRunOptions, 'land' | 'epicId'>): void {
  if (land === null || land === 'task' || epicId !== null) return;
  throw new Refusal(
    'bad_land',
    `--land ${land} ([land] mode) is for one epic. Name it with --epic <id>, or use --land task.`,
  );
}

/** An epic lands as a whole only after every epic that its tasks wait for. */
async function refuseEpicCycle({ store }: Uses<'store'>, epicId: string): Promise<void> {
  const cycle = epicCycle(epicId, await epicWaits(store.db));
  if (cycle === null) return;
  const waits = cycle.map(
    ({ epic, task, blocker, on }) => `${task} (${epic}) waits for ${blocker} (${on})`,
  );
  throw new Refusal(
    'cycle',
    `Epic ${epicId} cannot land as a whole, because epics wait for each other: ${waits.join(', ')}. Remove one of these blockers, or land each task by itself with --land task.`,
  );
}

export async function chooseTarget(
  engine: Uses<'git' | 'places' | 'store'>,
  wanted: string | null,
  calledIn: string | null = null,
): Promise<string> {
  const refreshed = await engine.git.refresh();
  if (!refreshed.ok) throw new Refusal(refreshed.error.kind, refreshed.error.message);
  const facts = refreshed.value;
  if (facts.headSha === null && wanted === null) {
    if (facts.headBranch !== null) await refuseLostBranch(engine, facts.headBranch);
    throw new Refusal(
      'no_commit',
      `The repository ${facts.root} has no commit yet. Make a first one (git commit --allow-empty -m "first") and run again.`,
    );
  }
  const worktree = calledIn === null ? null : await worktreeAround(engine, calledIn);
  const branch = wanted ?? (worktree === null ? facts.headBranch : worktree.branch);
  if (branch === null) {
    throw new Refusal(
      'detached_head',
      'HEAD is detached, so work has no branch to land on. Check one out, or name it with --target <branch>.',
    );
  }
  if (branch.startsWith('refs/') || branch.startsWith('-') || branch.startsWith('drover/')) {
    throw new Refusal(
      'bad_target',
      `${branch} can't be a target. Name a branch of your own, for example main.`,
    );
  }
  if ((await engine.git.readRef(branchRef(branch))) === null) {
    await refuseLostBranch(engine, branch);
    throw new Refusal(
      'unknown_branch',
      `Branch ${branch} does not exist or has no commit. Create it (git branch ${branch}), or name another with --target.`,
    );
  }
  return engine.git.canonicalBranch(branch);
}

/**
 * The user's linked worktree that contains the folder. Returns null if there is none or it is
 * Drover's.
 */
async function worktreeAround(
  engine: Uses<'git' | 'places'>,
  folder: string,
): Promise<WorktreeEntry | null> {
  const { root } = engine.git.facts;
  const listed = await engine.git.listWorktrees();
  const [around] = (listed.ok ? listed.value : [])
    .filter(({ path }) => isBelow(folder, path))
    .toSorted((one, other) => other.path.length - one.path.length);
  if (around === undefined || around.path === root) return null;
  // The project's folder may itself be inside another worktree.
  if (isBelow(folder, root) && isBelow(root, around.path)) return null;
  if (isBelow(around.path, engine.places.worktrees)) return null;
  return { ...around, branch: around.branch?.replace(/^refs\/heads\//, '') ?? null };
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
