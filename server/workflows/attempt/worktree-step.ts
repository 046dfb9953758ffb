// The "worktree" step: a slot of the pool at the right base with the attempt's branch checked out,
// after the project's setup.

import { branchRef } from '../../core/work/ref-names.ts';
import { attemptTrailers } from '../../core/work/trailers.ts';
import { failure, type Failure } from '../../core/failure.ts';
import { ownedStatuses } from '../../core/plan/state.ts';
import { GitRefusal } from '../../git/port.ts';
import {
  type AttemptRow,
  baseOfAttemptBranch,
  type Claim,
  lastAttempt,
  leaseSlot,
  type RunRow,
  setSlotAside,
  type SlotRow,
  taskById,
  type Tx,
} from '../../store/port.ts';
import { gitFailed, withGitFallback, retryWhileUnreachable } from '../kit/git-trouble.ts';
import { baseFacts, chooseBase, type NoBase } from './chosen-base.ts';
import { type EarlierCommit, restoreEarlier, startOfAttempt } from './earlier-work.ts';
import { ownBase } from '../line/range.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { enterPhase } from '../kit/phases.ts';
import { setupRunId } from '../kit/run-ids.ts';
import { setUp, type SettingUp } from '../kit/setup-step.ts';
import type { Sha } from '../../git/sha.ts';

type Preparing = SettingUp & Uses<'commandEnvironment' | 'machineId' | 'report'>;

export interface Place {
  readonly path: string;
  readonly slotNumber: number;
  readonly base: Sha;
  readonly created: boolean;
  readonly keptRefs: readonly string[];
}

export type PlaceOutcome =
  | { readonly kind: 'ready'; readonly place: Place }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** This machine cannot reach the git remote, but another one can run the whole task. */
  | { readonly kind: 'cut_off'; readonly reason: string }
  | NoBase;

export async function prepareWorktree(
  engine: Preparing & Uses<'clock'>,
  claim: Claim,
  runRow: RunRow,
  signal: AbortSignal,
): Promise<PlaceOutcome> {
  return retryWhileUnreachable(
    engine,
    signal,
    () =>
      withGitFallback<PlaceOutcome>(
        () => prepareNow(engine, claim, runRow, signal),
        (trouble) => ({ kind: 'failed', failure: trouble }),
      ),
    (outcome) => (outcome.kind === 'failed' ? outcome.failure : null),
    async ({ message: reason }) =>
      (await hasWorkHere(engine, claim)) ? null : { kind: 'cut_off', reason },
  );
}

async function hasWorkHere(engine: Uses<'store'>, { taskId }: Claim): Promise<boolean> {
  return (await lastAttempt(engine.store.db, taskId))?.base_sha !== null;
}

async function prepareNow(
  engine: Preparing,
  claim: Claim,
  runRow: RunRow,
  signal: AbortSignal,
): Promise<PlaceOutcome> {
  const facts = await baseFacts(engine, claim);
  const { attempt, stored } = facts;
  const base = await chooseBase(engine, claim, facts, runRow.line);
  if (typeof base !== 'string') return base;
  for (let tries = 1; ; tries += 1) {
    const slot = await engine.store.transaction((tx) => leaseOwnSlot(engine, tx, claim));
    const outcome = await prepareIn(
      engine,
      claim,
      { attempt, base, slot, stored, line: runRow.line },
      signal,
    );
    if (outcome !== 'foreign') return outcome;
    await engine.store.transaction((tx) => setSlotAside(tx, slot));
    if (tries < foreignMax) continue;
    const message = `${slot.path} and ${foreignMax - 1} other folders hold something that is not a worktree of this repository: move them away, or set another worktree_root`;
    return { kind: 'failed', failure: failure('git_failed', message) };
  }
}

/** How many consecutive folders may belong to something else before the step fails. */
const foreignMax = 20;

async function prepareIn(
  engine: Preparing,
  claim: Claim,
  given: {
    readonly attempt: AttemptRow;
    readonly base: Sha;
    readonly slot: SlotRow;
    readonly stored: Sha | null;
    readonly line: string;
  },
  signal: AbortSignal,
): Promise<PlaceOutcome | 'foreign'> {
  const { attempt, base, slot, stored, line } = given;
  const at = { path: slot.path, base, line, stored };
  const rescued = await keepEarlierBranch(engine, claim, attempt, at);
  if (rescued.keepBranch && (await holdsBranch(engine, slot.path, claim.branch))) {
    const place = {
      path: slot.path,
      slotNumber: slot.number,
      base,
      created: false,
      keptRefs: [],
    };
    return { kind: 'ready', place };
  }
  const settings = engine.settings();
  const prepared = await engine.git.prepareSlot({
    path: slot.path,
    branch: claim.branch,
    sha: rescued.startSha,
    keepBranch: rescued.keepBranch,
    dropIgnored: !settings.keepIgnored,
    sparse: settings.sparse,
    use: 'task',
  });
  if (!prepared.ok) {
    if (prepared.error.kind === 'foreign') return 'foreign';
    const message = `the worktree ${slot.path} could not be prepared: ${prepared.error.message}`;
    // This fails for every task until a person helps, so it blocks the task like a failed setup.
    if (prepared.error.kind === 'unfilled')
      return { kind: 'failed', failure: failure('setup_failed', message) };
    return { kind: 'failed', failure: gitFailed({ ...prepared.error, message }) };
  }
  const { hasCommitted } = rescued;
  const restored = await restoreEarlier(engine, attempt, {
    path: slot.path,
    hasCommitted,
    stored,
  });
  if (restored !== null) return { kind: 'failed', failure: restored };
  const isNew = attempt.base_sha === null && attempt.continues_from === null;
  const isBase = isNew && rescued.startSha === base && !rescued.keepBranch;
  const setup = await runSetup(engine, claim, slot, isBase, signal);
  if (setup !== null) return { kind: 'failed', failure: setup };
  const started = await engine.git.startWork(slot.path);
  if (!started.ok) return { kind: 'failed', failure: gitFailed(started.error) };
  const keptRefs = [rescued.ref, prepared.value.keptRef].filter((ref) => ref !== null);
  return {
    kind: 'ready',
    place: {
      path: slot.path,
      slotNumber: slot.number,
      base,
      created: prepared.value.created,
      keptRefs,
    },
  };
}

/**
 * A process that hung while another one took over its work must not lease a slot, because nothing
 * would release it.
 */
async function leaseOwnSlot(
  engine: Uses<'machineId' | 'places' | 'store'>,
  tx: Tx,
  claim: Claim,
): Promise<SlotRow> {
  const request = {
    machine: engine.machineId,
    kind: 'task',
    taskId: claim.taskId,
    attempt: claim.attempt,
    pathOf: (_kind: string, number: number) => `${engine.places.worktrees}/slot-${number}`,
  } as const;
  const task = await taskById(tx, claim.taskId);
  const isOwned = task?.epoch === claim.epoch && ownedStatuses.has(task.status);
  if (!isOwned || task.phase === 'gate' || task.phase === 'land')
    throw new Error(`${claim.taskId} has another owner`);
  return leaseSlot(tx, engine.store.sources, request);
}

/**
 * Whether the worktree still has the branch, so that the conversation can continue in it without
 * any change.
 */
async function holdsBranch(
  engine: Uses<'files' | 'git'>,
  path: string,
  branch: string,
): Promise<boolean> {
  if (!(await engine.files.exists(path))) return false;
  const status = await engine.git.status(path);
  return status.ok && status.value.branch === branch;
}

interface Start {
  readonly startSha: Sha;
  readonly keepBranch: boolean;
  readonly ref: string | null;
  /** Whether the start contains earlier commits. */
  readonly hasCommitted: boolean;
}

interface StartPlace {
  readonly path: string;
  readonly base: Sha;
  readonly line: string;
  readonly stored: Sha | null;
}

/**
 * Keeps work that the attempt's branch, or the branch that it continues, already has, whether or
 * not the attempt uses it.
 */
async function keepEarlierBranch(
  engine: Uses<'files' | 'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  claim: Claim,
  attempt: AttemptRow,
  { path, base, line, stored }: StartPlace,
): Promise<Start> {
  let hasCommitted = true;
  let present = await engine.git.readRef(branchRef(attempt.branch));
  if (present !== null && attempt.base_sha !== null) {
    const own = { line, base: attempt.base_sha };
    if (own.base === base || (await isBasedOn(engine, base, present, own.base)))
      return { startSha: present, keepBranch: true, ref: null, hasCommitted: true };
    present = await commitUnfinished(engine, claim, attempt, path, present);
    const moved = await ontoBase(engine, attempt, base, present, own);
    if (moved !== null)
      return { startSha: moved, keepBranch: false, ref: null, hasCommitted: true };
    hasCommitted = false;
  } else {
    const earlier = await startOfAttempt(engine, attempt, stored);
    const start = earlier === null ? null : await startOn(engine, attempt, base, earlier, line);
    if (start !== null)
      return { startSha: start, keepBranch: false, ref: null, hasCommitted: true };
    hasCommitted = earlier === null;
  }
  if (present === null || present === base || (await engine.git.isAncestor(present, base))) {
    return { startSha: base, keepBranch: false, ref: null, hasCommitted };
  }
  const kept = await engine.git.keepCommit(present, attempt.branch.slice('drover/'.length));
  if (!kept.ok) throw new GitRefusal(kept.error);
  return { startSha: base, keepBranch: false, ref: kept.value, hasCommitted };
}

async function startOn(
  engine: Uses<'git' | 'store'>,
  attempt: AttemptRow,
  base: Sha,
  earlier: EarlierCommit,
  line: string,
): Promise<Sha | null> {
  const own = { line, base: await baseOfAttemptBranch(engine.store.db, earlier.branch) };
  return ontoBase(engine, attempt, base, earlier.commit, own);
}

/** Commits the uncommitted changes of an interrupted attempt that has to move to another base. */
async function commitUnfinished(
  engine: Uses<'files' | 'git' | 'report' | 'settings'>,
  claim: Claim,
  attempt: AttemptRow,
  path: string,
  present: Sha,
): Promise<Sha> {
  if (!(await holdsBranch(engine, path, claim.branch))) return present;
  const committed = await engine.git.commitLeftovers({
    path,
    branch: claim.branch,
    base: attempt.base_sha ?? present,
    subject: `${claim.taskId}: not finished yet`,
    trailers: attemptTrailers(claim.taskId, claim.attempt),
    maxFileSize: engine.settings().maxCommitFileSize,
    runHooks: false,
    signature: null,
  });
  if (committed.ok) return committed.value.commit;
  // A snapshot keeps them when the slot is cleaned.
  engine.report(committed.error, `committing the unfinished work of ${claim.taskId}`);
  return present;
}

/**
 * Whether the work contains the current base and no other base that the current one lacks, such as
 * that of an epic's line that has not landed, or commits that users removed since.
 */
async function isBasedOn(
  { git }: Uses<'git'>,
  base: Sha,
  work: Sha,
  ownBase: Sha | null,
): Promise<boolean> {
  if (!(await git.isAncestor(base, work))) return false;
  return ownBase === null || (await git.isAncestor(ownBase, base));
}

/** Earlier work on top of the current base, if it merges cleanly. */
async function ontoBase(
  engine: Uses<'git' | 'store'>,
  attempt: AttemptRow,
  base: Sha,
  earlier: Sha,
  own: { readonly line: string; readonly base: Sha | null },
): Promise<Sha | null> {
  if (await isBasedOn(engine, base, earlier, own.base)) return earlier;
  if (earlier === own.base || (await engine.git.isAncestor(earlier, base))) return base;
  const merged = await engine.git.merge({
    tip: base,
    commit: earlier,
    base: await ownBase(engine, { head: base, commit: earlier, base: own.base }),
    subject: `${attempt.task_id}: go on from ${attempt.continues_from ?? attempt.branch}`,
    trailers: [],
  });
  return merged.ok && merged.value.kind === 'merged' ? merged.value.commit : null;
}

async function runSetup(
  engine: SettingUp & Uses<'commandEnvironment'>,
  claim: Claim,
  slot: SlotRow,
  isBase: boolean,
  signal: AbortSignal,
): Promise<Failure | null> {
  const end = await setUp(
    engine,
    {
      path: slot.path,
      env: {
        ...engine.commandEnvironment('setup'),
        ...taskVariables(engine, claim.taskId, claim.attempt, slot.number),
      },
      logPath: `${engine.places.logs}/${claim.taskId}/${claim.attempt}.setup.log`,
      runId: setupRunId(engine, claim.taskId, claim.attempt),
      only: false,
      isBase,
      onRun: () => enterPhase(engine, claim, 'setup'),
    },
    signal,
  );
  switch (end.kind) {
    case 'ready':
      return null;
    case 'aborted':
      return failure('setup_failed', 'The setup was stopped before its end.');
    case 'failed':
      return end.failure;
  }
}

/** First port of the first slot, far below the ephemeral range. */
const portBaseFirst = 20_000;

/** The environment variables that every agent, setup and gate of a task gets. */
export function taskVariables(
  engine: Uses<'settings'>,
  taskId: string,
  attempt: number,
  slotNumber: number,
): Record<string, string> {
  const portBase = portBaseFirst + slotNumber * engine.settings().portsPerTask;
  return {
    DROVER_TASK_ID: taskId,
    DROVER_ATTEMPT: String(attempt),
    DROVER_PORT_BASE: String(portBase),
  };
}
