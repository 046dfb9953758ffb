// Handles tasks whose blocker landed on another run's line. The store holds them back until the
// commit is on their own line (`store/lines/arrivals.ts`); this code checks that in git. If no run
// will bring the commit, the tasks are blocked with a sentence for a person, and released when it
// arrives.
//
// A run waits only for runs that have a task which can proceed. So at least one active run proceeds
// or does not wait, and all runs end.

import { storedCause } from '../../core/plan/block-cause.ts';
import {
  activeRunsIn,
  type AwaitedCommit,
  awaitedCommits,
  readBlockers,
  linesOnTheWay,
  noteArrivals,
  readClaimedParts,
  type Reads,
  type RunRow,
  scopeOfRun,
  setBlockCause,
  tasksHeldBy,
  waitsForRuns,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { countMoving } from '../kit/scope-state.ts';
import { missingBase } from '../line/advice.ts';
import { updateLandedCommits } from '../line/landed.ts';
import { syncLine } from '../line/line.ts';
import { isInReach, tipsOfLine } from '../line/open-line.ts';
import type { Sha } from '../../git/sha.ts';

/** Maximum number of tasks released in one check. The next check handles the rest. */
const looksMax = 200;

/** Records which of the commits that ready tasks wait for have arrived on the run's line. */
export async function noteArrived(engine: Uses<'git' | 'store'>, run: RunRow): Promise<number> {
  const awaited = await commitsOf(engine, run);
  const arrived = new Set<Sha>();
  for (const { sha } of awaited)
    if (!arrived.has(sha) && (await isInReach(engine, run.line, sha))) arrived.add(sha);
  if (arrived.size === 0) return 0;
  await engine.store.transaction((tx) => noteArrivals(tx, run.line, [...arrived]));
  return arrived.size;
}

async function commitsOf(
  { store: { db } }: Uses<'store'>,
  run: RunRow,
): Promise<readonly AwaitedCommit[]> {
  return awaitedCommits(db, await scopeOfRun(db, run, await activeRunsIn(db)));
}

/**
 * Whether another active run may bring the work that tasks of this run wait for: it has a task that
 * can start, or it waits for nothing and will end or land its epic.
 */
export async function waitsForOtherRuns(engine: Uses<'store'>, run: RunRow): Promise<boolean> {
  const { db } = engine.store;
  const active = await activeRunsIn(db);
  const others = active.filter(({ id }) => id !== run.id);
  if (others.length === 0 || !(await isWaiting(db, run, active))) return false;
  for (const other of others) {
    if ((await countMoving(db, other)) > 0 || !(await isWaiting(db, other, active))) return true;
  }
  return false;
}

async function isWaiting(db: Reads, run: RunRow, active: readonly RunRow[]): Promise<boolean> {
  const own = await scopeOfRun(db, run, active);
  const onTheWay = linesOnTheWay(active, run.id);
  const awaited = await awaitedCommits(db, own);
  if (awaited.some(({ landedOn }) => onTheWay.includes(landedOn))) return true;
  const others = active.filter(({ id }) => id !== run.id);
  const epics = others.flatMap(({ epic_id: epic }) => (epic === null ? [] : [epic]));
  return waitsForRuns(db, own, { epics, hasWider: epics.length < others.length });
}

/**
 * At the end of a run, blocks tasks whose missing commits no other run will bring, so that a person
 * can. Resolves with the number of tasks that changed, because some commits may just have arrived.
 */
export async function blockWaiting(
  engine: Uses<'git' | 'machineId' | 'store'>,
  run: RunRow,
): Promise<number> {
  const { store } = engine;
  const arrived = await noteArrived(engine, run);
  if (arrived > 0) return arrived;
  const waiting = await commitsOf(engine, run);
  const byTask = new Map(waiting.toReversed().map((commit) => [commit.id, commit]));
  let changed = 0;
  for (const { id, blocker, sha, landedOn } of byTask.values()) {
    if (await isFoundAgain(engine, run.line, id)) {
      changed += 1;
      continue;
    }
    const cause = {
      kind: 'missing_base',
      line: run.line,
      sha,
      seen: await tipsOfLine(engine, run.line),
    } as const;
    const reason = await missingBase(engine, id, { id: blocker, sha, landedOn }, run.line);
    const outcome = await store.transaction((tx) =>
      store.transition(tx, {
        taskId: id,
        runId: run.id,
        from: ['ready'],
        to: 'blocked',
        event: 'task.blocked',
        data: { reason },
        set: { blocked_reason: reason, last_error: reason, blocked_by: storedCause(cause) },
      }),
    );
    if (outcome.ok) changed += 1;
  }
  return changed;
}

/** Makes tasks ready whose missing commit is now on their line. Resolves with their number. */
export async function releaseFromMissingBase(
  engine: Uses<'git' | 'machineId' | 'store'>,
): Promise<number> {
  const { store } = engine;
  let released = 0;
  for (const { id, cause } of (await tasksHeldBy(store.db, 'missing_base')).slice(0, looksMax)) {
    const { line } = cause;
    // Commits that users brought there count once the line includes them.
    await syncLine(engine, line);
    const seen = await tipsOfLine(engine, line);
    // If a line and its target conflict, this is tried again only after one of them has moved.
    if (cause.seen === seen) continue;
    if (!(await hasArrived(engine, id, line))) {
      await store.transaction((tx) => setBlockCause(tx, id, { ...cause, seen }));
      continue;
    }
    const outcome = await store.transaction(async (tx) => {
      const blockers = await readBlockers(tx, await readClaimedParts(tx, id));
      const shas = blockers.flatMap(({ landed_sha: sha }) => (sha === null ? [] : [sha]));
      await noteArrivals(tx, line, shas);
      return store.transition(tx, {
        taskId: id,
        to: 'ready',
        from: ['blocked'],
        event: 'task.unblocked',
        data: { reason: 'the work of its blockers has arrived' },
        set: { last_error: null },
      });
    });
    if (outcome.ok) released += 1;
  }
  return released;
}

async function hasArrived(
  engine: Uses<'git' | 'store'>,
  taskId: string,
  line: string,
): Promise<boolean> {
  if ((await missingOn(engine, taskId, line)).length === 0) return true;
  // After a cherry-pick or a rebase, the work exists under another commit.
  return (
    (await isFoundAgain(engine, line, taskId)) &&
    (await missingOn(engine, taskId, line)).length === 0
  );
}

async function isFoundAgain(
  engine: Uses<'git' | 'store'>,
  line: string,
  taskId: string,
): Promise<boolean> {
  return updateLandedCommits(engine, line, await missingOn(engine, taskId, line));
}

type Blocker = Awaited<ReturnType<typeof readBlockers>>[number];

/** Landed blockers of a task and of its sub-tasks whose commits the line lacks. */
async function missingOn(
  engine: Uses<'git' | 'store'>,
  taskId: string,
  line: string,
): Promise<readonly (Blocker & { readonly sha: Sha })[]> {
  const { db } = engine.store;
  const missing: (Blocker & { readonly sha: Sha })[] = [];
  for (const row of await readBlockers(db, await readClaimedParts(db, taskId))) {
    const sha = row.landed_sha;
    if (sha !== null && !(await isInReach(engine, line, sha))) missing.push({ ...row, sha });
  }
  return missing;
}
