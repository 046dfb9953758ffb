// Checks before a run: whether it would be refused, and what a person should know first. Starts
// nothing.

import { gateTitle } from '../../core/settings/gate-stages.ts';
import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import { cycleText, findCycle } from '../../core/plan/graph.ts';
import { Refusal } from '../../core/failure.ts';
import { formatCount, formatDuration } from '../../core/format.ts';
import type { Params } from '../../protocol/api.ts';
import type { PreflightCheck, PreflightView } from '../../protocol/panel-views.ts';
import { type Board, readBoard } from '../../store/board/board.ts';
import { readGraph } from '../../store/status/graph-rows.ts';
import { failureLines } from '../../core/prompt/failure-lines.ts';
import { gateVerdict, readBaseGate, readLine } from '../../store/port.ts';
import { unmetWants } from '../../store/board/machine-wants.ts';
import { stuckCauses, stuckReason } from '../../store/board/stuck.ts';
import {
  agentsNeeded,
  checkEpic,
  chooseTarget,
  refuseLandWithoutEpic,
} from '../../workflows/run/start-run.ts';
import { askedScope, type AskedScope, coveringRun } from '../../workflows/run/asked-scope.ts';
import { runFlags } from './run-flags.ts';
import { agentCheck, preflightDecisions } from './preflight-decisions.ts';
import type { EngineHandlerDeps } from './engine-deps.ts';
import type { Uses } from '../../workflows/kit/engine-ports.ts';

const freeBytesMin = 1024 ** 3;
const namedMax = 3;

type Check = PreflightCheck;
type PreflightParams = Params<'preflight'>;

export async function preflight(
  current: EngineHandlerDeps,
  params: PreflightParams,
): Promise<PreflightView> {
  const asked = await askedScope(current.engine, params);
  const { epicId } = asked;
  await checkEpic(current.engine, epicId);
  const isJoining = (await coveringRun(current.engine, asked)) !== null;
  const { deps, configuration } = isJoining
    ? { deps: current, configuration: null }
    : await asOffered(current, params);
  const { engine } = deps;
  const board = await readBoard(engine.store.db);
  const work = workIn(board, asked);
  const target = await targetCheck(engine, params);
  const workers = params.workers ?? engine.settings().workers;
  const width = Math.min(workers, work.width);
  const checks: Check[] = [
    ...(configuration === null ? [] : [configuration]),
    await graphCheck(engine, board, work),
    gitCheck(engine),
    target.check,
    ...((await deps.landingChecks?.(params.land ?? null, target.branch)) ?? []),
    ...(await agentChecks(deps, epicId)),
    await gateCheck(engine, target.branch),
    setupCheck(engine, board),
    ...(await sandboxChecks(deps)),
    diskCheck(deps),
    await checkoutCheck(engine, target.branch),
    ...(await machineChecks(engine, epicId)),
    widthCheck(work, workers, isJoining),
  ];
  return {
    can_run: checks.every((check) => check.outcome !== 'error'),
    checks,
    tasks: work.tasks,
    width,
    decisions: await preflightDecisions(deps, params, {
      hasEpic: epicId !== null,
      branch: target.branch,
      width: work.width,
      workers,
      tasks: work.tasks,
    }),
  };
}

function check(
  name: Check['name'],
  outcome: Check['outcome'],
  message: string,
  remedy: string | null = null,
): Check {
  return { name, outcome, message, remedy };
}

/** Warns prominently if no sandbox works although the user did not choose that. */
async function sandboxChecks(deps: EngineHandlerDeps): Promise<Check[]> {
  const state = await deps.sandbox?.();
  if (state === undefined) return [];
  const message = `Sandbox: ${state.message}.`;
  const remedy = 'Install bubblewrap, or set [sandbox] mode = "off".';
  if (state.refuses) return [check('sandbox', 'error', message, remedy)];
  if (state.holds === 'bwrap') return [check('sandbox', 'ok', message)];
  return [
    state.mode === 'off' || state.mode === 'agent'
      ? check('sandbox', 'note', message)
      : check('sandbox', 'warning', message, remedy),
  ];
}

/** Reads the settings again, like the run itself, which refuses an invalid setting. */
async function asOffered(
  deps: EngineHandlerDeps,
  params: PreflightParams,
): Promise<{ readonly deps: EngineHandlerDeps; readonly configuration: Check | null }> {
  try {
    const offer = await deps.offer?.(params.env, runFlags(params));
    if (offer === undefined) return { deps, configuration: null };
    const { engine, warnings, ...parts } = offer;
    const [warning] = warnings;
    return {
      deps: { ...deps, ...parts, engine: { ...deps.engine, ...engine } },
      configuration: warning === undefined ? null : check('setup', 'warning', warning),
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const remedy = 'Correct it in .drover.toml.';
    return { deps, configuration: check('setup', 'error', error.message, remedy) };
  }
}

interface Work {
  readonly tasks: number;
  /** How many of them could run at the same time with enough workers. */
  readonly width: number;
  readonly stuck: readonly number[];
}

/**
 * The top-level tasks that a run would work on, and how many of them can run in parallel, by levels
 * of their blockers.
 */
function workIn(board: Board, { epicId, tasks }: AskedScope): Work {
  const causes = stuckCauses(board);
  const named = tasks === null ? null : new Set(tasks);
  const inScope = (number: number): boolean => {
    const task = board.tasks[number];
    if (task === undefined) return false;
    if (named !== null) return named.has(board.tasks[board.tops[number] ?? number]?.id ?? '');
    return epicId === null || task.epic_id === epicId;
  };
  const moving = new Set(['ready', 'blocked', 'claimed', 'in_progress', 'waiting']);
  const open: number[] = [];
  for (const [number, task] of board.tasks.entries()) {
    if (task.parent_id !== null || !moving.has(task.status) || !inScope(number)) continue;
    if (!causes.has(number)) open.push(number);
  }
  const levels = levelsOf(board, open);
  const sizes = new Map<number, number>();
  for (const level of levels.values()) sizes.set(level, (sizes.get(level) ?? 0) + 1);
  const stuck = [...causes.keys()].filter(inScope).sort((a, b) => a - b);
  return { tasks: open.length, width: Math.max(0, ...sizes.values()), stuck };
}

/**
 * For each task, the longest chain of open blockers before it. Omits tasks in loops, which are
 * stuck.
 */
function levelsOf(board: Board, open: readonly number[]): ReadonlyMap<number, number> {
  const among = new Set(open);
  const levels = new Map<number, number>();
  const stack = [...open];
  while (stack.length > 0) {
    const number = stack.at(-1) as number;
    if (levels.has(number)) {
      stack.pop();
      continue;
    }
    const tops = (board.waits[number] ?? []).map((blocker) => board.tops[blocker] ?? blocker);
    const before = tops.filter((top) => among.has(top) && top !== number);
    const missing = before.filter((top) => !levels.has(top));
    if (missing.length > 0) {
      stack.push(...missing);
      continue;
    }
    levels.set(number, 1 + Math.max(0, ...before.map((top) => levels.get(top) ?? 0)));
    stack.pop();
  }
  return levels;
}

async function graphCheck(engine: Uses<'store'>, board: Board, work: Work): Promise<Check> {
  const loop = findCycle(await readGraph(engine.store.db));
  if (loop !== null) {
    const remedy = 'Remove one of these dependencies.';
    return check('graph', 'warning', `Tasks wait for each other: ${cycleText(loop)}.`, remedy);
  }
  const [first] = work.stuck;
  if (first !== undefined) {
    const count = formatCount(work.stuck.length, 'task cannot start', 'tasks cannot start');
    const cause = stuckCauses(board).get(first) ?? -1;
    return check('graph', 'warning', `${count}: ${stuckReason(board, first, cause)}`);
  }
  if (work.tasks === 0) {
    return board.tasks.length === 0
      ? check('graph', 'warning', 'The plan has no tasks.', 'Add tasks first.')
      : check('graph', 'warning', 'No task is left to start.', 'Retry failed tasks, or add tasks.');
  }
  return check('graph', 'ok', 'The dependencies have no loop, and no task is stuck.');
}

function gitCheck(engine: Uses<'git'>): Check {
  const { hasSubmodules, usesLfs, root } = engine.git.facts;
  if (hasSubmodules) {
    const remedy = 'Add "git submodule update --init" to [setup] command.';
    return check('git', 'note', 'Submodules are not checked out in worktrees.', remedy);
  }
  if (usesLfs) return check('git', 'note', 'Files in Git LFS are fetched into each worktree.');
  return check('git', 'ok', `The repository is ${root}.`);
}

async function targetCheck(
  engine: Uses<'git' | 'places' | 'settings' | 'store'>,
  params: PreflightParams,
): Promise<{ readonly check: Check; readonly branch: string | null }> {
  const { target, land } = engine.settings();
  try {
    refuseLandWithoutEpic({ land: params.land ?? land, epicId: params.epic ?? null });
    const branch = await chooseTarget(engine, params.target ?? target);
    const line = await readLine(engine.store.db, branch);
    const pending = line?.pending ?? 0;
    if (pending > 0) {
      const waits = formatCount(pending, 'landed commit waits', 'landed commits wait');
      const message = `${waits} for ${branch}: ${line?.pending_reason ?? 'it could not follow'}`;
      return { branch, check: check('target', 'warning', message) };
    }
    return { branch, check: check('target', 'ok', `Work lands on ${branch}.`) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const name = error.kind === 'no_commit' ? 'commit' : 'target';
    return { branch: null, check: check(name, 'error', error.message) };
  }
}

/** Makes the same check as the run itself. */
async function agentChecks(
  deps: EngineHandlerDeps,
  epicId: string | null,
): Promise<readonly Check[]> {
  const { engine } = deps;
  const needed = await agentsNeeded(engine, { epicId, tasks: null });
  const chains = needed.length === 0 ? [[engine.settings().agentKind]] : needed;
  const checks = new Map<string, Check>();
  for (const kind of chains.flat()) {
    if (!checks.has(kind)) checks.set(kind, await agentCheckOrRefusal(deps, kind));
  }
  const able = new Set(
    [...checks].flatMap(([kind, { outcome }]) => {
      return outcome === 'error' ? [] : [kind];
    }),
  );
  for (const [kind, found] of checks) {
    if (able.has(kind)) continue;
    // An available fallback makes up for a missing first agent, and the other way round.
    if (chains.some((chain) => chain.includes(kind) && !chain.some((each) => able.has(each))))
      continue;
    checks.set(kind, {
      ...found,
      outcome: 'warning',
      remedy: 'Another agent takes over its tasks.',
    });
  }
  return [...checks.values()];
}

async function agentCheckOrRefusal(deps: EngineHandlerDeps, kind: string): Promise<Check> {
  try {
    const named = deps.programOfProject?.(kind) ?? null;
    return named === null ? await agentCheck(deps.engine, kind) : namedCheck(kind, named);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return check('agent', 'error', error.message);
  }
}

/** A program that only the repository names is started by a run and never by a check. */
function namedCheck(
  kind: string,
  { path, isFound }: { readonly path: string; readonly isFound: boolean },
): Check {
  if (!isFound) {
    const message = `Agent ${kind} is missing: .drover.toml names ${path}.`;
    return check('agent', 'error', message, 'Correct [agent] path.');
  }
  const message = `Agent ${kind} found: ${path}, named by .drover.toml. Only a run starts it.`;
  return check('agent', 'ok', message);
}

/**
 * The commit from which a run would start, including commits that users made since the last
 * landing.
 */
async function nextBase({ git }: Uses<'git'>, branch: string): Promise<string | null> {
  const landed = await git.readRef(landingRef(branch));
  const own = await git.readRef(branchRef(branch));
  if (landed === null || own === null) return landed ?? own;
  return (await git.isAncestor(landed, own)) ? own : landed;
}

async function gateCheck(
  engine: Uses<'git' | 'mask' | 'settings' | 'store'>,
  branch: string | null,
): Promise<Check> {
  const command = engine.settings().gateCommand;
  if (command === null) {
    const remedy = 'Set [gate] command in .drover.toml.';
    return check('gate', 'warning', 'No gate: nothing is tested before it lands.', remedy);
  }
  const shown = engine.mask(gateTitle(command));
  const tip = branch === null ? null : await nextBase(engine, branch);
  const tree = tip === null ? null : await engine.git.treeOf(tip);
  const known =
    tree === null || !tree.ok ? null : await gateVerdict(engine.store.db, tree.value, command);
  const running = branch === null ? null : await readBaseGate(engine.store.db, branch);
  if (running?.state === 'running' && running.commit_sha === tip && running.command === command)
    return check('gate', 'note', `\`${shown}\` is running on ${branch} now.`);
  if (known === null)
    return {
      ...check('gate', 'note', `It is not known yet whether \`${shown}\` passes on ${branch}.`),
      ...(branch === null ? {} : { can_test: true as const }),
    };
  const took = formatDuration(known.duration_ms);
  if (known.ok === 1)
    return check('gate', 'ok', `\`${shown}\` passes on ${branch} (it took ${took}).`);
  const [first] = failureLines(known.output_tail);
  const said = first === undefined ? '' : `: ${engine.mask(first)}`;
  const remedy = 'Tasks wait until it passes.';
  return {
    ...check('gate', 'warning', `\`${shown}\` fails on ${branch}${said}`, remedy),
    can_test: true,
  };
}

function setupCheck(engine: Uses<'mask' | 'settings'>, board: Board): Check {
  const command = engine.settings().setupCommand;
  const failed = board.tasks.find(({ block }) => block?.kind === 'setup');
  if (failed !== undefined) {
    const remedy = 'Fix it, then retry the task.';
    return check('setup', 'warning', `The setup failed for ${failed.id}.`, remedy);
  }
  if (command === null) return check('setup', 'ok', 'Worktrees need no setup.');
  return check('setup', 'ok', `${engine.mask(command)} sets up each worktree.`);
}

function diskCheck(deps: EngineHandlerDeps): Check {
  const freeBytes = deps.freeBytes();
  if (freeBytes === null) return check('disk', 'note', 'The free disk space is unknown.');
  const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GB are free for worktrees.`;
  if (freeBytes >= freeBytesMin) return check('disk', 'ok', free);
  return check('disk', 'warning', free, 'Free some space first.');
}

async function checkoutCheck(engine: Uses<'git'>, branch: string | null): Promise<Check> {
  const { root, headBranch } = engine.git.facts;
  const status = await engine.git.status(root);
  if (!status.ok) return check('checkout', 'note', status.error.message);
  const { changed } = status.value;
  if (changed.length === 0) return check('checkout', 'ok', 'The checkout is clean.');
  const named = changed.slice(0, namedMax).join(', ');
  const more = changed.length > namedMax ? ` and ${changed.length - namedMax} more` : '';
  const what = `Your checkout has changes that are not committed (${named}${more}).`;
  if (headBranch !== branch) return check('checkout', 'note', `${what} Agents don’t see them.`);
  const effect = `Agents don’t see them. If a landing touches the same files, your checkout stays behind until you commit or stash them.`;
  return check(
    'checkout',
    'note',
    `${what} ${effect}`,
    'Commit them first if the agents need them.',
  );
}

/** Checks a fleet: whether some or all tasks could not start. */
async function machineChecks(
  engine: Uses<'settings' | 'store'>,
  epicId: string | null,
): Promise<readonly Check[]> {
  const wants = await unmetWants(engine.store.db, epicId, engine.settings().gateNeeds);
  return wants.slice(0, namedMax).map((want) => check('machines', 'warning', want));
}

function widthCheck(work: Work, workers: number, isJoining: boolean): Check {
  if (isJoining) return check('width', 'note', 'A run is already active: this joins it.');
  const width = Math.min(workers, work.width);
  const tasks = formatCount(work.tasks, 'task', 'tasks');
  if (work.tasks === 0) return check('width', 'ok', 'No task is left to start.');
  const limit = formatCount(workers, 'worker', 'workers');
  return check('width', 'ok', `${tasks}, at most ${width} at once with ${limit}.`);
}
