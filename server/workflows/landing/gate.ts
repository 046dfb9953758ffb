// The gate runs the project's command on the merged tree, in a separate worktree. A verdict belongs
// to a tree: a green one is stored for everyone, a red one applies only to the caller.

import { failure, type Failure } from '../../core/failure.ts';
import { MadeOnce } from '../../core/made-once.ts';
import { failureLines } from '../../core/prompt/failure-lines.ts';
import { decodeStages, gateTitle } from '../../core/settings/gate-stages.ts';
import { KeyedMutex } from '../../core/work/semaphore.ts';
import type { GitFailure } from '../../git/port.ts';
import {
  gateVerdict,
  keepGateVerdict,
  type Reads,
  releaseSlot,
  setSlotAside,
  type Tx,
} from '../../store/port.ts';
import { commandEnd, tellingText } from '../kit/command-ends.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { orFullDisk } from '../kit/full-disk.ts';
import { gateRunId } from '../kit/run-ids.ts';
import { keptCaches } from './gate-caches.ts';
import { gateEnvironment, type GateTry, stageParts, tryGate } from './gate-try.ts';
import { leaseGateFolder } from './gate-folder.ts';
import { gatesOf } from './running-gates.ts';
import { setUp, type SettingUp } from '../kit/setup-step.ts';
import type { Sha } from '../../git/sha.ts';

type Testing = SettingUp & Uses<'clock' | 'commandEnvironment'>;
/** The ports that a gate uses. */
export type Gating = Testing & Uses<'foldersOfMachine' | 'machineId'>;

export type GateVerdict =
  | { readonly kind: 'green'; readonly flaky: boolean }
  | {
      readonly kind: 'red';
      readonly failure: Failure;
      /** Red after one try, and a second try would not help. */
      readonly isFinal?: boolean;
    }
  | { readonly kind: 'aborted' }
  /** `isForeign`: the folder does not belong to Drover, so another folder may work. */
  | { readonly kind: 'unusable'; readonly failure: Failure; readonly isForeign?: boolean };

/** A request to run the gate. */
export interface GateQuestion {
  readonly commit: Sha;
  readonly tree: Sha;
  readonly command: string;
  /** Tasks that the verdict concerns. */
  readonly taskIds: readonly string[];
  /** Older red verdicts (Unix ms) are ignored, because their cause may be gone. */
  readonly redSinceMs: number;
  /** Describes the tested code in sentences about a failure. Absent for the merged code. */
  readonly about?: string | null;
  /**
   * `first`: a single try; a red verdict is not stored. `again`: the second try of a tree that was
   * red. Absent: both tries.
   */
  readonly look?: 'first' | 'again';
}

/**
 * Runs the command on the commit's tree, in a folder that contains only this tree and what the
 * setup made of it. A green tree is not tested again; a red one gets a second try before it counts.
 */
export function runGate(
  engine: Gating,
  question: GateQuestion,
  signal: AbortSignal,
): Promise<GateVerdict> {
  return gatesOf(engine).whileRunning(() => runInPlace(engine, question, signal));
}

/** Like `runGate`, for a caller that already counts as a running gate. */
export async function runInPlace(
  engine: Gating,
  question: GateQuestion,
  signal: AbortSignal,
): Promise<GateVerdict> {
  const turns = turnsOf.of(engine.store.db, () => new KeyedMutex());
  const aborted = Promise.withResolvers<GateVerdict>();
  const giveUp = (): void => aborted.resolve({ kind: 'aborted' });
  signal.addEventListener('abort', giveUp);
  const turn = turns.run<GateVerdict>(gateHolder(question.commit), async () => {
    signal.removeEventListener('abort', giveUp);
    return signal.aborted ? { kind: 'aborted' } : await runAlone(engine, question, signal);
  });
  return Promise.race([turn, aborted.promise]);
}

/**
 * Gates of the same commit share a folder, so they run one at a time. Lines that start at the same
 * commit request them simultaneously.
 */
const turnsOf = new MadeOnce<Reads, KeyedMutex>();

async function runAlone(
  engine: Gating,
  question: GateQuestion,
  signal: AbortSignal,
): Promise<GateVerdict> {
  const known = await knownVerdict(engine, question);
  if (known !== null) return known;
  const holder = gateHolder(question.commit);
  for (let tries = 1; ; tries += 1) {
    const slot = await leaseGateFolder(engine, holder, 'gate');
    const job = { ...question, path: slot.path, number: slot.number };
    try {
      const verdict = await testTree(engine, job, signal);
      if (verdict.kind !== 'unusable' || verdict.isForeign !== true) return verdict;
      if (tries === foreignMax) return verdict;
      await engine.store.transaction((tx) => setSlotAside(tx, slot));
    } finally {
      await engine.foldersOfMachine((tx) => releaseSlot(tx, 'gate', holder));
    }
  }
}

/** How many consecutive folders may belong to something else before the gate fails. */
const foreignMax = 20;

async function knownVerdict(
  engine: Uses<'mask' | 'settings' | 'store'>,
  question: GateQuestion,
): Promise<GateVerdict | null> {
  const known = await gateVerdict(engine.store.db, question.tree, question.command);
  if (known === null) return null;
  if (known.ok === 1) return { kind: 'green', flaky: known.flaky === 1 };
  if (known.at_ms < question.redSinceMs || question.look === 'again') return null;
  const { exit_code: exitCode, output_tail: tail } = known;
  const telling = failureLines(tail);
  const stages = decodeStages(question.command) ?? [];
  const stage = stages.find(({ command }) => command === known.command)?.name ?? null;
  const how = { kind: 'exited' as const, exitCode, silentMs: 0, tail, telling };
  const last = { ...how, command: known.command, stage };
  const red = redGate(engine, question, last);
  return { kind: 'red', failure: red };
}

function gateHolder(commit: Sha): string {
  return `gate:${commit}`;
}

/**
 * Why a merge must not land by itself. Returns null if its gate is green. Throws if it is stopped.
 */
export async function gateFailure(
  engine: Gating,
  question: GateQuestion,
  signal: AbortSignal,
): Promise<Failure | null> {
  const verdict = await runGate(engine, question, signal);
  switch (verdict.kind) {
    case 'green':
      return null;
    case 'red':
    case 'unusable':
      return verdict.failure;
    case 'aborted':
      throw signal.reason;
  }
}

/** Marks of all commands that the holder of a gate slot may have started. */
export function gateRunIds(engine: Uses<'places'>, holder: string): readonly string[] {
  const commit = holder.slice(gateHolder('').length);
  const tries = [1, 2].flatMap((number) => [number, ...stageParts(number)]);
  return ['setup', ...tries].map((part) => gateRunId(engine, commit, part));
}

interface GateJob extends GateQuestion {
  readonly path: string;
  readonly number: number;
}

async function testTree(engine: Testing, job: GateJob, signal: AbortSignal): Promise<GateVerdict> {
  const isSecond = job.look === 'again';
  const first = await tryOnce(engine, job, isSecond ? 2 : 1, signal);
  if (first.kind === 'verdict') return first.verdict;
  if (first.kind === 'timed_out') return remember(engine, job, first, false);
  if (first.ok && first.changed.length === 0) return remember(engine, job, first, isSecond);
  if (!first.ok && job.look !== undefined) return remember(engine, job, first, false);
  const second = await tryOnce(engine, job, 2, signal);
  if (second.kind === 'verdict') return second.verdict;
  // A green command that changed tracked files is trusted only if it is green again on the clean
  // tree.
  return remember(engine, job, second, second.ok && !first.ok);
}

/** Runs one try in a freshly prepared folder, so that it cannot find leftovers of another try. */
async function tryOnce(
  engine: Testing,
  job: GateJob,
  number: number,
  signal: AbortSignal,
): Promise<GateTry | { readonly kind: 'verdict'; readonly verdict: GateVerdict }> {
  const unready = await makeReady(engine, job, signal);
  if (unready !== null) return { kind: 'verdict', verdict: unready };
  const tried = await tryGate(engine, job, number, signal);
  if (tried.kind === 'aborted') return { kind: 'verdict', verdict: { kind: 'aborted' } };
  if (!tried.ok) {
    const reason = await orFullDisk(engine, redGate(engine, job, tried));
    // A full disk reveals nothing about the tree, and a second try would fail in the same way.
    if (reason.kind === 'disk_full')
      return { kind: 'verdict', verdict: { kind: 'unusable', failure: reason } };
    return tried;
  }
  const after = await engine.git.status(job.path);
  if (!after.ok) return { kind: 'verdict', verdict: unusable(after.error) };
  const untracked = new Set(after.value.untracked);
  return { ...tried, changed: after.value.changed.filter((path) => !untracked.has(path)) };
}

/** Returns null if the folder is ready for the command. */
async function makeReady(
  engine: SettingUp & Uses<'commandEnvironment'>,
  job: GateJob,
  signal: AbortSignal,
): Promise<GateVerdict | null> {
  const keep = await keptCaches(engine, job);
  const prepared = await engine.git.prepareSlot({
    path: job.path,
    branch: null,
    sha: job.commit,
    keepBranch: false,
    dropIgnored: !engine.settings().keepIgnored,
    sparse: null,
    use: 'gate',
  });
  if (!prepared.ok) return unusable(prepared.error);
  const setup = await setUp(
    engine,
    {
      path: job.path,
      env: gateEnvironment(engine, job, 'setup'),
      logPath: `${engine.places.logs}/gate/${job.tree}.setup.log`,
      runId: gateRunId(engine, job.commit, 'setup'),
      only: true,
      keep,
      isBase: false,
    },
    signal,
  );
  switch (setup.kind) {
    case 'ready':
      return null;
    case 'aborted':
      return { kind: 'aborted' };
    case 'failed':
      return { kind: 'unusable', failure: setup.failure };
  }
}

function unusable(found: GitFailure): GateVerdict {
  const message = `the gate's worktree could not be prepared: ${found.message}`;
  const isForeign = found.kind === 'foreign';
  return { kind: 'unusable', failure: failure('git_failed', message), isForeign };
}

/** Each stage that ran, for the feed. */
function stageData({ ok, stage, stages }: GateTry): Readonly<Record<string, unknown>> {
  if (stages.length === 0) return {};
  const ended = stages.map((one) => ({
    name: one.stage,
    ok: one.ok,
    duration_ms: Math.round(one.durationMs),
  }));
  return { stages: ended, ...(ok ? {} : { stage }) };
}

/** Maximum number of file names in an event. */
const changedMax = 20;

async function remember(
  engine: Uses<'clock' | 'mask' | 'settings' | 'store'>,
  job: GateJob,
  last: GateTry,
  flaky: boolean,
): Promise<GateVerdict> {
  await engine.store.transaction(async (tx) => {
    // A gate that was interrupted or did not start reveals nothing about the tree.
    const isTold = last.kind === 'exited' && last.exitCode !== null;
    if (isTold && (last.ok || job.look !== 'first'))
      for (const one of last.ok && last.stages.length > 0 ? last.stages : [last])
        await keepVerdict(engine, tx, job, one, flaky);
    await engine.store.append(tx, {
      type: last.ok ? 'gate.passed' : 'gate.failed',
      data: {
        task_ids: job.taskIds,
        tree: job.tree,
        commit: job.commit,
        command: engine.mask(gateTitle(last.command)),
        ...stageData(last),
        exit_code: last.exitCode,
        duration_ms: Math.round(last.durationMs),
        flaky,
        ...(last.ok ? {} : { telling: last.telling, log: last.logPath }),
        ...(last.changed.length === 0 ? {} : { changed_files: last.changed.slice(0, changedMax) }),
      },
    });
  });
  if (last.ok) return { kind: 'green', flaky };
  return {
    kind: 'red',
    failure: redGate(engine, job, last),
    isFinal: last.kind === 'timed_out',
  };
}

async function keepVerdict(
  engine: Uses<'clock'>,
  tx: Tx,
  job: GateJob,
  last: GateTry,
  flaky: boolean,
): Promise<void> {
  await keepGateVerdict(tx, {
    tree_sha: job.tree,
    command: last.command,
    ok: last.ok ? 1 : 0,
    exit_code: last.exitCode,
    duration_ms: Math.round(last.durationMs),
    output_tail: last.tail,
    flaky: flaky ? 1 : 0,
    at_ms: engine.clock.now(),
  });
}

function redGate(
  engine: Uses<'mask' | 'settings'>,
  { about = null }: GateQuestion,
  last: Pick<GateTry, 'command' | 'exitCode' | 'kind' | 'silentMs' | 'stage' | 'tail' | 'telling'>,
): Failure {
  const { command, exitCode, silentMs, stage, tail, telling } = last;
  const limit = { name: '[gate] timeout', ms: engine.settings().gateTimeoutMs };
  const end = { isLate: last.kind === 'timed_out', silentMs, exitCode, limit };
  const shown = engine.mask(command);
  if (about !== null) {
    const what = stage === null ? shown : `stage ${stage} (${shown})`;
    return failure('gate_failed', `${about}: ${what} ${commandEnd({ ...end, telling })}`, tail);
  }
  const said = tellingText(telling);
  const how = `${shown} ${commandEnd({ ...end, telling: [] })}`;
  const why = said === '' ? how : `${said} (${how})`;
  const what = stage === null ? 'The gate' : `The stage ${stage} of the gate`;
  return failure('gate_failed', `${what} failed on the merged code: ${why}`, tail);
}
