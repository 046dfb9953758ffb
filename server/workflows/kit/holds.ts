// Reasons not to start tasks although workers are free: budgets of the day and of epics, the host's
// resources, and overloaded providers.

import { agentsAllowed, isOverload, nextPaceMs, slowerPace } from '../../core/work/concurrency.ts';
import { hasLimit } from '../../core/work/budget.ts';
import { hostHold } from '../../core/work/host-limits.ts';
import { worktreesHold } from '../../core/work/worktree-room.ts';
import {
  busyAgents,
  type Claim,
  epicsToStart,
  type Hold,
  pacedAccounts,
  readPace,
  readHolds,
  type Reads,
  setHolds,
  setPace,
  type Tx,
  workersOfLargestRun,
} from '../../store/port.ts';
import { budgetWord } from './budget-scopes.ts';
import { budgetDay, nextDayMs } from './budget-day.ts';
import type { Uses } from './engine-ports.ts';

export interface StartRules {
  /** Whether all starts are held. */
  readonly isHeld: boolean;
  readonly heldEpics: readonly string[];
  /** How many more agents of each kind may start. A kind that is not listed is not limited. */
  readonly free: ReadonlyMap<string, number>;
}

/**
 * Determines which tasks may start now. Records the reason for holding others if it has changed.
 */
export async function startRules(
  engine: Uses<'clock' | 'host' | 'settings' | 'store' | 'worktreeBytes'>,
): Promise<StartRules> {
  const { db } = engine.store;
  const agents = busyAgents(db);
  const [busy, full, ofDay, epics, paces, stored] = await Promise.all([
    agents,
    diskHold(engine),
    dayHold(engine, db),
    epicHolds(engine, db),
    paceHolds(engine, db, agents),
    readHolds(db),
  ]);
  const general = [...ofDay, ...machineHolds(engine, busy), ...full];
  await tellHolds(engine, stored, [...general, ...epics, ...paces.holds]);
  return {
    isHeld: general.length > 0,
    heldEpics: epics.map(({ scope }) => scope.slice(epicScope.length)),
    free: paces.free,
  };
}

const epicScope = 'epic/';

async function tellHolds(
  engine: Uses<'store'>,
  stored: Awaited<ReturnType<typeof readHolds>>,
  holds: readonly Hold[],
): Promise<void> {
  const { store } = engine;
  const isSame =
    stored.length === holds.length &&
    holds.every((hold) =>
      stored.some(
        (row) =>
          row.scope === hold.scope && row.reason === hold.reason && row.until_ms === hold.untilMs,
      ),
    );
  if (!isSame) await store.transaction((tx) => setHolds(tx, store.sources, holds));
}

async function dayHold(engine: Uses<'clock' | 'settings'>, db: Reads): Promise<Hold[]> {
  const nowMs = engine.clock.now();
  const place = { scope: 'day', name: budgetDay(nowMs) } as const;
  const word = await budgetWord(engine, db, place, null);
  if (word.kind !== 'stop') return [];
  return [{ scope: 'day', reason: word.sentence, untilMs: nextDayMs(nowMs) }];
}

function machineHolds(
  engine: Uses<'host' | 'settings'>,
  busy: ReadonlyMap<string, number>,
): Hold[] {
  const facts = engine.host();
  if (facts === null) return [];
  const agents = [...busy.values()].reduce((sum, n) => sum + n, 0);
  const reason = hostHold(facts, engine.settings().machine, agents);
  return reason === null ? [] : [{ scope: 'machine', reason, untilMs: null }];
}

async function diskHold(
  engine: Uses<'host' | 'settings' | 'worktreeBytes'>,
): Promise<readonly Hold[]> {
  const { worktreesMaxBytes } = engine.settings().machine;
  // In a fleet each machine reports its own.
  if (worktreesMaxBytes === null || engine.host() === null) return [];
  const reason = worktreesHold(await engine.worktreeBytes(), worktreesMaxBytes);
  return reason === null ? [] : [{ scope: 'worktrees', reason, untilMs: null }];
}

async function epicHolds(engine: Uses<'settings'>, db: Reads): Promise<Hold[]> {
  if (!hasLimit(engine.settings().budget.epic)) return [];
  const holds: Hold[] = [];
  for (const id of await epicsToStart(db)) {
    const word = await budgetWord(engine, db, { scope: 'epic', name: id }, null);
    if (word.kind !== 'stop') continue;
    holds.push({ scope: `${epicScope}${id}`, reason: word.sentence, untilMs: null });
  }
  return holds;
}

async function paceHolds(
  engine: Uses<'clock'>,
  db: Reads,
  agents: Promise<ReadonlyMap<string, number>>,
): Promise<{ holds: Hold[]; free: Map<string, number> }> {
  const nowMs = engine.clock.now();
  const holds: Hold[] = [];
  const free = new Map<string, number>();
  // Uses the largest run, so that the result does not depend on which run asks.
  const [busy, workers, paced] = await Promise.all([
    agents,
    workersOfLargestRun(db),
    pacedAccounts(db),
  ]);
  for (const name of paced) {
    const pace = await readPace(db, name);
    const allowed = agentsAllowed(pace, nowMs, workers);
    if (allowed >= workers) continue;
    const left = Math.max(0, allowed - (busy.get(name) ?? 0));
    free.set(name, left);
    if (left > 0) continue;
    const reason = `The provider of ${name} is overloaded or just back from its limit: ${allowed} of ${workers} agents work at once for now, and one more after each quiet period.`;
    holds.push({ scope: `agent/${name}`, reason, untilMs: nextPaceMs(pace, nowMs, workers) });
  }
  return { holds, free };
}

/** Reduces the number of parallel agents of one kind after its provider asked to retry later. */
export async function slowDown(
  engine: Uses<'clock'>,
  tx: Tx,
  claim: Claim,
  retry: { readonly status: number | null; readonly error: string },
): Promise<void> {
  if (!isOverload(retry)) return;
  const busy = (await busyAgents(tx)).get(claim.agent) ?? 1;
  const before = await readPace(tx, claim.agent);
  const workers = await workersOfLargestRun(tx);
  const pace = slowerPace(before, engine.clock.now(), { workers, busy });
  if (pace !== null) await setPace(tx, claim.agent, pace);
}

/**
 * After a limit, starts only a few agents first. If the limit still applies, only they run into it.
 */
export async function beginSlowly(tx: Tx, claim: Claim, untilMs: number): Promise<void> {
  const workers = await workersOfLargestRun(tx);
  await setPace(tx, claim.agent, { agents: Math.max(1, Math.ceil(workers / 4)), atMs: untilMs });
}
