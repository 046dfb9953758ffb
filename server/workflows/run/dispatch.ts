// Starts tasks: takes ready tasks in order, as many as there are free workers, and claims each one
// and starts its workflow in one transaction.

import { readBlockCause } from '../../core/plan/block-cause.ts';
import { landingsWaitingMax } from '../../core/plan/schedule.ts';
import {
  activeRunsIn,
  busyByRun,
  claimTask,
  countHandedOver,
  lastStarts,
  limitedAccounts,
  nextStartMs,
  type Reads,
  runById,
  type RunRow,
  scopeOfRun,
  type Startable,
  startableTasks,
  tasksWithCandidates,
  type Tx,
} from '../../store/port.ts';
import { beginCandidates, settleAll } from '../attempt/candidates.ts';
import { executeWorkflow, executeWorkflowId } from '../attempt/execute-task.ts';
import { chooseAgent } from '../attempt/fallback.ts';
import { startRules, type StartRules } from '../kit/holds.ts';
import { chooseGateCommand, gateOfRun } from '../attempt/submission.ts';
import { noteArrived, releaseFromMissingBase } from './line-waits.ts';
import { type BaseState, baseState, isLineAwaited } from '../landing/base-gate.ts';
import { blockBeforeStart, releaseFromRedBase } from '../landing/red-base.ts';
import type { Engine, Uses } from '../kit/engine-ports.ts';
import { isStopped } from '../kit/scope-state.ts';
import { openRemotePlaces } from './remote-places.ts';
import { tasksWithoutAgent } from './unusable-agents.ts';
import { agentQueueName, openPlacement, type Placement } from '../kit/placement.ts';

interface Free {
  /** Number of tasks that the run itself may start. */
  readonly own: number;
  /** Number of tasks that all runs together may start. */
  readonly all: number;
}

/**
 * How many more tasks may start. None if too much finished work waits to land. All runs together
 * have as many workers as the largest of them, and each uses at most its own number.
 */
function freeWorkers(run: RunRow, { active, places, busy, landing }: Workers): Free {
  const largest = Math.max(...[run, ...active].map((row) => workersOf(row, places)));
  const all = largest - [...busy.values()].reduce((sum, n) => sum + n, 0);
  const own = Math.min(all, workersOf(run, places) - (busy.get(run.id) ?? 0));
  if (own <= 0) return { own: 0, all: 0 };
  const room = Math.max(0, landingsWaitingMax(largest) - landing);
  return { own: Math.min(own, room), all: Math.min(all, room) };
}

interface Workers {
  readonly active: readonly RunRow[];
  readonly places: Placement;
  readonly busy: ReadonlyMap<string | null, number>;
  /** Number of finished tasks that wait to land. */
  readonly landing: number;
}

async function lookAtWorkers(
  engine: Uses<'compatibility' | 'machineId' | 'settings'>,
  tx: Reads,
  run: RunRow,
): Promise<{
  readonly active: readonly RunRow[];
  readonly places: Placement;
  readonly free: Free;
}> {
  const [active, places, busy, landing] = await Promise.all([
    activeRunsIn(tx),
    openPlacement(engine, tx),
    busyByRun(tx),
    countHandedOver(tx),
  ]);
  return { active, places, free: freeWorkers(run, { active, places, busy, landing }) };
}

/**
 * Other runs without a running task that have waited longer than this one. They start a task first.
 */
async function starvingRuns(
  tx: Reads,
  run: RunRow,
  active: readonly RunRow[],
): Promise<readonly RunRow[]> {
  if (active.length < 2) return [];
  const busy = await busyByRun(tx);
  const starts = await lastStarts(
    tx,
    active.map(({ id }) => id),
  );
  const lastOf = ({ id }: RunRow): number => starts.get(id) ?? 0;
  const isIdle = ({ id }: RunRow): boolean => (busy.get(id) ?? 0) === 0;
  return active
    .filter((row) => row.id !== run.id && isIdle(row))
    .filter((row) => !isIdle(run) || lastOf(row) < lastOf(run))
    .toSorted((one, other) => lastOf(one) - lastOf(other));
}

/** In a fleet, a run uses the capacity of all machines unless it has its own number of workers. */
function workersOf(run: RunRow, { room }: Placement): number {
  if (room === null) return run.workers;
  const flags = JSON.parse(run.flags) as Readonly<Record<string, unknown>>;
  return flags['max_workers'] === undefined ? room : Math.min(run.workers, room);
}

export interface Dispatched {
  /** Number of tasks that were started or changed. If it is not 0, another check is due at once. */
  readonly started: number;
  /**
   * True if every worker has a task, or too much finished work waits to land. No further check is
   * needed until that changes.
   */
  readonly full: boolean;
}

/**
 * Whether a run whose workers were all busy at the last check still has none free. A complete check
 * would then start nothing, so it can wait. Returns false if candidates exist, because a choice
 * between them is due at once.
 */
export async function isStillFull(
  engine: Uses<'compatibility' | 'machineId' | 'settings' | 'store'>,
  run: RunRow,
): Promise<boolean> {
  const { db } = engine.store;
  const [candidates, { free }] = await Promise.all([
    tasksWithCandidates(db),
    lookAtWorkers(engine, db, run),
  ]);
  return candidates.length === 0 && free.own === 0;
}

/** Starts all tasks that can start now. */
export async function dispatch(engine: Engine, run: RunRow): Promise<Dispatched> {
  const { db } = engine.store;
  // Each of these waits for the database and mostly finds nothing, so they run in parallel.
  const [settled, fromRedBase, fromMissingBase, arrived, rules, { active, free }, stopped] =
    await Promise.all([
      settleAll(engine),
      releaseFromRedBase(engine),
      releaseFromMissingBase(engine),
      noteArrived(engine, run),
      startRules(engine),
      lookAtWorkers(engine, db, run),
      isStopped(db, run),
    ]);
  const changed = settled + fromRedBase + fromMissingBase + arrived;
  if (changed > 0) return { started: changed, full: false };
  if (free.own === 0) return { started: 0, full: true };
  if (rules.isHeld || stopped) return { started: 0, full: false };
  const look = { ...(await scopeOf(engine, db, run, active, rules)), limit: 1 };
  if ((await startableTasks(db, look)).length === 0) {
    // Requests the gate again, because it may be green now.
    if (await isLineAwaited(db, run.line)) await baseState(engine, run);
    return { started: 0, full: false };
  }
  const bases = new Map<string, BaseState>();
  for (const row of [run, ...active]) {
    if (!bases.has(row.id)) bases.set(row.id, await baseState(engine, row));
  }
  return { started: await claimAndStart(engine, run, { rules, bases }), full: false };
}

async function scopeOf(
  engine: Uses<'clock'>,
  db: Reads,
  run: RunRow,
  active: readonly RunRow[],
  rules: StartRules,
): Promise<Omit<Parameters<typeof startableTasks>[1], 'limit'>> {
  const scope = await scopeOfRun(db, run, active);
  const exceptEpics = [...rules.heldEpics, ...scope.exceptEpics];
  return { ...scope, exceptEpics, nowMs: engine.clock.now() };
}

/** The claims made in one transaction. */
interface Round {
  readonly engine: Engine;
  readonly tx: Tx;
  readonly rules: StartRules;
  readonly bases: Looked['bases'];
  readonly active: readonly RunRow[];
  readonly places: Placement;
  readonly remote: Awaited<ReturnType<typeof openRemotePlaces>>;
  readonly limited: Awaited<ReturnType<typeof limitedAccounts>>;
  /** How many more agents of each kind may start. */
  readonly left: Map<string, number>;
}

/** The facts that were read before the transaction. */
interface Looked {
  readonly rules: StartRules;
  /** By run: the state of the tip that its tasks would start from. */
  readonly bases: ReadonlyMap<string, BaseState>;
}

async function claimAndStart(
  engine: Engine,
  run: RunRow,
  { rules, bases }: Looked,
): Promise<number> {
  let opened = 0;
  const claims = await engine.store.transaction(async (tx) => {
    // In a fleet this transaction holds up all machines, so its queries run in parallel.
    const [isOn, stopped, { active, places, free }, limited, remote] = await Promise.all([
      isActive(tx, run.id),
      isStopped(tx, run),
      lookAtWorkers(engine, tx, run),
      limitedAccounts(tx, engine.clock.now()),
      openRemotePlaces(engine, tx),
    ]);
    if (!isOn || stopped || free.own === 0) return 0;
    const left = new Map(rules.free);
    const found = { rules, bases, active, places, remote, limited, left };
    const round: Round = { engine, tx, ...found };
    let taken = 0;
    for (const other of await starvingRuns(tx, run, active)) {
      if (taken >= free.all || (await isStopped(tx, other))) continue;
      const given = await claimFor(round, other, 1);
      taken += given.claimed;
      opened += given.opened;
    }
    const own = await claimFor(round, run, Math.min(free.own, free.all - taken));
    opened += own.opened;
    return taken + own.claimed;
  });
  if (claims === 0) return opened;
  engine.crashPoint('claimed');
  engine.durable.wake();
  return claims + opened;
}

/** Claims at most `most` tasks of one run and starts their attempts. */
async function claimFor(
  round: Round,
  run: RunRow,
  most: number,
): Promise<{ readonly claimed: number; readonly opened: number }> {
  const { engine, tx, places, remote, limited, left } = round;
  let [claimed, opened] = [0, 0];
  if (most <= 0) return { claimed, opened };
  const without = await tasksWithoutAgent(engine, tx, run);
  const ready = await readyTasksFor(round, run, most, without.tasks);
  for (const task of ready) {
    if (claimed >= most) break;
    const base = heldByBase(round, run, task);
    if (base?.kind === 'runs') continue;
    if (base?.kind === 'red') {
      const named = { taskId: task.id, runId: run.id };
      if (await blockBeforeStart(engine, tx, named, base.reason, base.red)) opened += 1;
      continue;
    }
    if (await beginCandidates(engine, tx, run, task)) {
      opened += 1;
      continue;
    }
    const chosen = await chooseAgent(engine, tx, task, limited, without.agentsFor(task));
    if (chosen === null) continue;
    const { agent, model, step } = chosen;
    const leftOfKind = left.get(agent);
    if (leftOfKind === 0) continue;
    const runsOn = remote.placeOf(task);
    if (runsOn === 'remote' && remote.left === 0) continue;
    // A machine without the agent can still drive it on a worker. A candidate without its agent
    // fails there.
    const isAnywhere = runsOn === 'remote' || task.candidate_of !== null;
    const except = isAnywhere ? undefined : without.machinesWithout(agent);
    const machine = await places.choose(task, except);
    if (machine === null) continue;
    const claim = await claimTask(tx, engine.store.sources, {
      taskId: task.id,
      runId: run.id,
      owner: places.nameOf(machine) ?? engine.owner,
      machine,
      agent,
      model,
      step,
      agentResumes: engine.driverFor(agent).capabilities.resume,
      sessionId: engine.store.sources.uuid(),
      runsOn,
      plansFirst: engine.settings().plansFirst,
    });
    if (claim === null) continue;
    if (leftOfKind !== undefined) left.set(agent, leftOfKind - 1);
    await engine.durable.startIn(tx, executeWorkflow, executeWorkflowId(claim), claim, {
      queue: agentQueueName(machine),
    });
    places.taken(machine);
    if (runsOn === 'remote') remote.left -= 1;
    claimed += 1;
  }
  return { claimed, opened };
}

/**
 * Why the base's gate prevents the start. Returns null if it does not matter: the task has its own
 * gate or none, its agent started before a limit of its account, or a person wants it to start.
 */
function heldByBase({ engine, bases }: Round, run: RunRow, task: Startable): BaseState | null {
  const base = bases.get(run.id) ?? null;
  if (base === null || base.kind === 'clear' || task.status !== 'ready') return null;
  if (chooseGateCommand(engine, run, task) !== gateOfRun(engine, run)) return null;
  const cause = readBlockCause(task.blocked_by);
  return cause?.kind === 'red_base' && cause.waived === true ? null : base;
}

async function readyTasksFor(
  { engine, tx, rules, active, places, remote, limited }: Round,
  run: RunRow,
  most: number,
  withoutAgent: readonly string[],
): Promise<readonly Startable[]> {
  const isRemoteFull = remote.left === 0 ? 1 : 0;
  const limit = most + (limited.size + rules.free.size + isRemoteFull) * readySpare;
  const scope = await scopeOf(engine, tx, run, active, rules);
  const look = { ...scope, except: withoutAgent, limit };
  const [first, others] = await Promise.all([
    startableTasks(tx, look),
    // Tasks that require a machine without room must not keep others waiting.
    places.room === null ? [] : startableTasks(tx, { ...look, anywhere: true }),
  ]);
  const known = new Set(first.map(({ id }) => id));
  return [...first, ...others.filter(({ id }) => !known.has(id))];
}

/** Read in the same transaction as the claim, so that no task starts after the run was stopped. */
async function isActive(tx: Tx, runId: string): Promise<boolean> {
  const row = await runById(tx, runId);
  return row?.state === 'active';
}

/**
 * Number of additional ready tasks to read per limited account, so that tasks of other agents can
 * start before its tasks.
 */
const readySpare = 50;

/**
 * When time alone changes which tasks can start (Unix ms): the end of a delay or of a limit.
 * Returns null if time changes nothing.
 */
export async function nextWakeMs(
  engine: Uses<'store'>,
  run: RunRow,
  nowMs: number,
): Promise<number | null> {
  // Times in the past were already handled. Including them would make the run spin at an account's
  // limit.
  return nextStartMs(engine.store.db, { epicId: run.epic_id }, nowMs);
}
