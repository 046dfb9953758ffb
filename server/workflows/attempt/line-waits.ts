// Ready tasks whose blocker has landed on the line of another active run: they are not claimed
// until it brings the commit.
//
// Among active runs, there is always one that continues without the others. Where none does, each
// of them waits for a line that nothing moves any more, and they would wait for ever: then no task
// waits, and each is blocked with a sentence for a person.

import { landingRef } from '../../core/work/ref-names.ts';
import {
  activeRunsIn,
  type Claim,
  delayStart,
  linesOnTheWay,
  readLine,
  type Reads,
  type RunRow,
  type Scope,
  scopeOfRun,
  type TaskBehind,
  tasksBehindLines,
  type Tx,
  waitsForRuns,
} from '../../store/port.ts';
import { countMoving } from '../kit/scope-state.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

/** Pause between two checks whether a blocker has arrived on the line. */
export const baseLookMs = 5_000;

/** Commits of blockers that a run's line offers, although they landed on another: `line sha`. */
export type Arrived = ReadonlySet<string>;

/** Git is asked before the transaction that claims. */
export async function arrivedCommits(
  engine: Uses<'git' | 'store'>,
  active: readonly RunRow[],
): Promise<Arrived> {
  const arrived = new Set<string>();
  const asked = new Set<string>();
  for (const run of active) {
    for (const { sha } of (await lookAt(engine.store.db, active, run)).behind) {
      const fact = factOf(run.line, sha);
      if (asked.has(fact)) continue;
      asked.add(fact);
      if (await isOnLine(engine, run.line, sha)) arrived.add(fact);
    }
  }
  return arrived;
}

/** The tasks that each run leaves alone, by the id of the run. */
export type Waiting = ReadonlyMap<string, readonly string[]>;

/**
 * Together with the claims, so that none of these is claimed: they wait, as long as a run continues
 * that may bring what they need.
 */
export async function waitForLines(
  engine: Uses<'clock'>,
  tx: Tx,
  active: readonly RunRow[],
  arrived: Arrived,
): Promise<Waiting> {
  if (active.length < 2) return new Map();
  const looks = await Promise.all(active.map((run) => lookAt(tx, active, run, arrived)));
  const waiting = waitingIn(looks);
  if (waiting.size === 0 || !(await doesAnyContinue(tx, active, waiting))) return new Map();
  // Runs can share a task; on the line of another one it may start.
  const ids = looks
    .flatMap(({ behind }) => behind)
    .filter((task) =>
      looks.every(({ run, scope }) => !has(scope, task) || waiting.get(run)?.includes(task.id)),
    )
    .map(({ id }) => id);
  const nowMs = engine.clock.now();
  if (ids.length > 0) await delayStart(tx, ids, { nowMs, untilMs: nowMs + baseLookMs });
  return waiting;
}

/**
 * Whether the run has tasks that wait for unfinished tasks of another active run, while one of
 * those runs can make progress: two runs that only wait for each other both end.
 */
export async function waitsForOtherRuns(
  engine: Uses<'git' | 'store'>,
  run: RunRow,
): Promise<boolean> {
  const { db } = engine.store;
  const active = await activeRunsIn(db);
  const others = active.filter(({ id }) => id !== run.id);
  if (others.length === 0) return false;
  const epics = others.flatMap(({ epic_id: epic }) => (epic === null ? [] : [epic]));
  const hasWider = epics.length < others.length;
  // What others have to themselves is no part of this run.
  const own = await scopeOfRun(db, run, active);
  if (!(await waitsForRuns(db, own, { epics, hasWider }))) return false;
  const waiting = await waitingForLines(db, active, await arrivedCommits(engine, active));
  for (const other of others) {
    if ((await countMoving(db, other, waiting.get(other.id))) > 0) return true;
  }
  return false;
}

/**
 * Whether another run may bring what has landed on a line, for a task that was claimed before its
 * base was known to lack it.
 */
export async function canStillCome(tx: Tx, claim: Claim, landedOn: string): Promise<boolean> {
  const active = await activeRunsIn(tx);
  if (!linesOnTheWay(active, claim.runId).includes(landedOn)) return false;
  const waiting = new Map(await waitingForLines(tx, active, new Set()));
  waiting.set(claim.runId, [...(waiting.get(claim.runId) ?? []), claim.taskId]);
  return doesAnyContinue(tx, active, waiting);
}

/** The tasks of each run that can start only after another one has made progress. */
async function waitingForLines(
  db: Reads,
  active: readonly RunRow[],
  arrived: Arrived,
): Promise<Waiting> {
  return waitingIn(await Promise.all(active.map((run) => lookAt(db, active, run, arrived))));
}

function waitingIn(looks: readonly Look[]): Waiting {
  const rows = looks.filter(({ behind }) => behind.length > 0);
  return new Map(rows.map(({ run, behind }) => [run, [...new Set(behind.map(({ id }) => id))]]));
}

/**
 * A run continues while a task of it moves that waits for no line. One where nothing moves ends:
 * the wait for its line ends too. Or it waits itself for one that continues (`waitsForOtherRuns`).
 */
async function doesAnyContinue(
  db: Reads,
  active: readonly RunRow[],
  waiting: Waiting,
): Promise<boolean> {
  for (const run of active) {
    if ((await countMoving(db, run)) === 0) return true;
    if ((await countMoving(db, run, waiting.get(run.id))) > 0) return true;
  }
  return false;
}

interface Look {
  readonly run: string;
  readonly scope: Scope;
  /** Without what has arrived. */
  readonly behind: readonly TaskBehind[];
}

async function lookAt(
  db: Reads,
  active: readonly RunRow[],
  run: RunRow,
  arrived: Arrived = new Set(),
): Promise<Look> {
  const scope = await scopeOfRun(db, run, active);
  const { id, line } = run;
  const rows = await tasksBehindLines(db, { ...scope, line }, linesOnTheWay(active, id));
  return { run: id, scope, behind: rows.filter(({ sha }) => !arrived.has(factOf(line, sha))) };
}

function has({ epicId, exceptEpics, tasks }: Scope, task: TaskBehind): boolean {
  if (epicId !== null && task.epic_id !== epicId) return false;
  if (task.epic_id !== null && exceptEpics.includes(task.epic_id)) return false;
  return tasks === null || tasks.includes(task.id);
}

function factOf(line: string, sha: Sha): string {
  return `${line} ${sha}`;
}

/**
 * Whether a task of this line can start from the commit: a line merges its parent if a task needs
 * that.
 */
export async function isOnLine(
  engine: Uses<'git' | 'store'>,
  line: string,
  sha: Sha,
): Promise<boolean> {
  const parent = (await readLine(engine.store.db, line))?.parent_branch ?? null;
  for (const branch of parent === null ? [line] : [line, parent]) {
    const tip = await engine.git.readRef(landingRef(branch));
    if (tip !== null && (tip === sha || (await engine.git.isAncestor(sha, tip)))) return true;
  }
  return false;
}
