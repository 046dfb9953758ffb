// Runs the gate on the tip that tasks would start from before the first agent starts, so that no
// money is spent on a red base. A tip that Drover landed was already tested.

import { MadeOnce } from '../../core/made-once.ts';
import type { RedBase } from '../../core/plan/block-cause.ts';
import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import type { DurableRun } from '../../durable/port.ts';
import type { Sha } from '../../git/sha.ts';
import {
  type BaseGateRow,
  endBaseGate,
  gateVerdict,
  isLandedTip,
  lastGateDurationMs,
  readBaseGate,
  type Reads,
  type RunRow,
  tasksHeldBy,
  type Tx,
  writeBaseGate,
} from '../../store/port.ts';
import { baseGateQueue, gateOfRun } from '../attempt/submission.ts';
import type { EngineOfRun } from '../kit/engine-of-run.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { syncLine } from '../line/line.ts';
import { type GateVerdict, runGate } from './gate.ts';
import { readRedBase, redBaseWords } from './red-base.ts';

export const baseGateWorkflow = 'base-gate';

export interface BaseGateInput {
  readonly line: string;
  readonly workflow: string;
  readonly commit: Sha;
  readonly command: string;
  /** Older red verdicts (Unix ms) are ignored. */
  readonly redSinceMs: number;
  /** Null if the user requested the gate outside of a run. */
  readonly runId: string | null;
}

export type BaseState =
  /** Agents may start. */
  | { readonly kind: 'clear' }
  /** The gate is running, and no task may start yet. */
  | { readonly kind: 'runs' }
  | { readonly kind: 'red'; readonly reason: string; readonly red: RedBase };

const clear: BaseState = { kind: 'clear' };

/** How long tasks wait for the gate. If it takes longer, agents start while it runs. */
const waitMaxMs = 30_000;

type Asking = Uses<'clock' | 'durable' | 'git' | 'machineId' | 'settings' | 'store'>;

interface Place {
  readonly line: string;
  readonly commit: Sha;
  readonly command: string;
}

/**
 * The known state of the tip that tasks of the run would start from. Starts its gate if the state
 * is unknown.
 */
export async function baseState(engine: Asking, run: RunRow): Promise<BaseState> {
  const command = gateOfRun(engine, run);
  if (command === null) return clear;
  const commit = await tipOf(engine, run.line);
  if (commit === null) return clear;
  const place = { line: run.line, commit, command };
  const known = await readBaseGate(engine.store.db, run.line);
  if (known === null || known.state === 'asked' || !isAbout(known, place)) {
    const askedMs = known?.asked_ms ?? run.started_at_ms;
    if (await needsNoGate(engine, place, askedMs)) return clear;
    await beginBaseGate(engine, place, { askedMs, runId: run.id });
    return baseStateOf(engine, await readBaseGate(engine.store.db, run.line));
  }
  return baseStateOf(engine, known);
}

async function baseStateOf(
  engine: Uses<'clock' | 'durable' | 'git' | 'store'>,
  known: BaseGateRow | null,
): Promise<BaseState> {
  switch (known?.state) {
    case undefined:
    case 'asked':
    case 'green':
    case 'unknown':
      return clear;
    case 'red': {
      const red = await readRedBase(engine, known.line, known.commit_sha);
      return { kind: 'red', reason: known.reason ?? redBaseWords(red), red };
    }
    case 'running': {
      const isWaitedFor = engine.clock.now() < known.since_ms + known.wait_ms;
      return isWaitedFor && (await isUnderWay(engine, known)) ? { kind: 'runs' } : clear;
    }
  }
}

function isAbout(known: BaseGateRow, { commit, command }: Place): boolean {
  return known.commit_sha === commit && known.command === command;
}

async function isUnderWay(
  { durable }: Uses<'durable'>,
  { workflow }: BaseGateRow,
): Promise<boolean> {
  const found = workflow === null ? null : await durable.get(workflow);
  return found?.state === 'pending' || found?.state === 'running';
}

async function tipOf(
  engine: Uses<'git' | 'machineId' | 'store'>,
  line: string,
): Promise<Sha | null> {
  const tip = await engine.git.readRef(landingRef(line));
  const branch = await engine.git.readRef(branchRef(line));
  if (branch === null || branch === tip) return tip;
  // The next attempt includes commits that users made on the branch.
  const synced = await syncLine(engine, line);
  return synced.ok ? synced.value : null;
}

/** The last tip of each line that did not need its gate. */
const goodTips = new MadeOnce<Reads, Map<string, string>>();

/** Whether the tip passed the gate, was landed by Drover, or contains nothing to test. */
async function needsNoGate(
  engine: Uses<'git' | 'store'>,
  { line, commit, command }: Place,
  askedMs: number,
): Promise<boolean> {
  const { db } = engine.store;
  const good = goodTips.of(db, () => new Map());
  const name = `${commit} ${askedMs} ${command}`;
  if (good.get(line) === name) return true;
  const tree = await engine.git.treeOf(commit);
  if (!tree.ok) return true;
  const verdict = await gateVerdict(db, tree.value, command);
  const isGood =
    verdict === null
      ? (await isLandedTip(db, line, commit)) || (await isBare(engine, commit))
      : verdict.ok === 1;
  if (isGood) good.set(line, name);
  return isGood;
}

/** In a new repository, the first task writes the code that the gate tests. */
async function isBare({ git }: Uses<'git'>, commit: Sha): Promise<boolean> {
  const names = await git.namesAtRoot(commit);
  return names.ok && names.value.every((name) => aboutTheProject.test(name));
}

/** Files without anything to test: tool settings and texts for people. */
const aboutTheProject =
  /^\.|\.md$|^(?:readme|licen[cs]e|copying|notice|changelog|contributing|authors)\b/i;

async function beginBaseGate(
  engine: Asking,
  place: Place,
  { askedMs, runId }: { readonly askedMs: number; readonly runId: string | null },
): Promise<void> {
  const { store, durable } = engine;
  const lastMs = await lastGateDurationMs(store.db, place.command);
  const workflow = `base-gate/${place.commit.slice(0, 16)}/${store.sources.uuid()}`;
  const input: BaseGateInput = { ...place, workflow, redSinceMs: askedMs, runId };
  const before = await store.transaction(async (tx) => {
    const known = await readBaseGate(tx, place.line);
    if (known?.state === 'running' && isAbout(known, place)) return null;
    await writeBaseGate(tx, {
      line: place.line,
      state: 'running',
      asked_ms: askedMs,
      commit_sha: place.commit,
      command: place.command,
      workflow,
      since_ms: engine.clock.now(),
      wait_ms: (lastMs ?? 0) > waitMaxMs ? 0 : waitMaxMs,
      reason: null,
    });
    await durable.startIn(tx, baseGateWorkflow, workflow, input, {
      queue: baseGateQueue(place.line),
    });
    return known;
  });
  durable.wake();
  // The tip moved while its gate was running.
  if (before?.state === 'running' && before.workflow !== null) void durable.cancel(before.workflow);
}

/** The workflow that runs the gate. */
export async function testBase(
  engine: EngineOfRun,
  run: DurableRun<Tx>,
  { line, workflow, commit, command, redSinceMs }: BaseGateInput,
): Promise<string> {
  if (!engine.lands()) throw run.handOver();
  const end = await run.step(
    'tested',
    async (signal) => {
      const tree = await engine.git.treeOf(commit);
      if (!tree.ok) return { state: 'unknown' as const, reason: tree.error.message };
      const about = redBaseWords(await readRedBase(engine, line, commit));
      const question = { commit, tree: tree.value, command, taskIds: [], redSinceMs, about };
      const verdict = await runGate(engine, question, signal);
      if (signal.aborted) throw signal.reason;
      return endOf(verdict);
    },
    (tx, found) => endBaseGate(tx, line, workflow, found),
  );
  engine.switchboard.wake();
  return end.state;
}

function endOf(verdict: GateVerdict): Pick<BaseGateRow, 'state' | 'reason'> {
  switch (verdict.kind) {
    case 'green':
      return { state: 'green', reason: null };
    case 'red':
      return { state: 'red', reason: verdict.failure.message };
    case 'aborted':
      return { state: 'unknown', reason: null };
    case 'unusable':
      return { state: 'unknown', reason: verdict.failure.message };
  }
}

/** Whether tasks of the run's line are blocked and a running gate may release them. */
export async function awaitsBaseGate(
  engine: Uses<'durable' | 'store'>,
  { line }: RunRow,
): Promise<boolean> {
  const { db } = engine.store;
  const known = await readBaseGate(db, line);
  if (known?.state !== 'running' || !(await isUnderWay(engine, known))) return false;
  return isLineAwaited(db, line);
}

/** Whether tasks wait for the line, even if none of them could start now. */
export async function isLineAwaited(db: Reads, line: string): Promise<boolean> {
  return (await tasksHeldBy(db, 'red_base')).some(({ cause }) => cause.line === line);
}

/** Stops the gate of a run that was stopped. */
export async function stopBaseGate(
  engine: Uses<'clock' | 'durable' | 'store'>,
  line: string,
): Promise<void> {
  const known = await readBaseGate(engine.store.db, line);
  if (known?.state !== 'running' || known.workflow === null) return;
  const { workflow } = known;
  await engine.store.transaction((tx) =>
    endBaseGate(tx, line, workflow, { state: 'asked', reason: null }),
  );
  await engine.durable.cancel(workflow);
}

/** Runs the gate at a user's request. Resolves when it has ended. */
export async function requestBaseTest(
  engine: Asking,
  line: string,
  command: string,
): Promise<Pick<BaseGateRow, 'state' | 'reason'>> {
  const synced = await syncLine(engine, line);
  if (!synced.ok) return { state: 'unknown', reason: synced.error.message };
  const place = { line, commit: synced.value, command };
  await beginBaseGate(engine, place, { askedMs: engine.clock.now(), runId: null });
  const begun = await readBaseGate(engine.store.db, line);
  if (begun?.workflow !== null && begun !== null) await engine.durable.wait(begun.workflow);
  return (await readBaseGate(engine.store.db, line)) ?? { state: 'unknown', reason: null };
}
