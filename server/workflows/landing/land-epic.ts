// Lands a finished epic on its target as one merge commit, after the gate on the current target. In
// review mode it first needs an approval, which applies only to the tree that the person saw.

import { landingRef } from '../../core/work/ref-names.ts';
import { trailer } from '../../core/work/trailers.ts';
import { err, failure, type Failure, ok } from '../../core/failure.ts';
import { firstLineOf } from '../../core/format.ts';
import type { DurableRun } from '../../durable/port.ts';
import type { GitResult } from '../../git/port.ts';
import {
  endEpicLanding,
  epicById,
  flagsOfRun,
  holdsLandedWork,
  landOnLine,
  markEpicLanded,
  runById,
  type RunRow,
  type Tx,
} from '../../store/port.ts';
import { gateOfRun, landQueue, limitLandQueue } from '../attempt/submission.ts';
import { gateFailure, type Gating } from './gate.ts';
import {
  gitFailed,
  handOverOnTrouble,
  withGitFallback,
  retryWhileUnreachable,
} from '../kit/git-trouble.ts';
import { resolveRunSettings } from '../kit/run-settings.ts';
import { asLander } from './lander.ts';
import { landInRounds, type LineMerge } from './land-rounds.ts';
import { handMerge, handPick, isPicked } from '../line/advice.ts';
import { findCommitOnLine } from '../line/landed.ts';
import { mergeTargetForLanding, syncLine } from '../line/line.ts';
import { ownBaseOfLine } from '../line/range.ts';
import type { EngineOfRun } from '../kit/engine-of-run.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';
import { buildStack, chooseShape } from './build-stack.ts';
import { forgeHead, planPullRequest } from './pull-request.ts';

export const landEpicWorkflow = 'land-epic';

export interface LandEpicInput {
  readonly epicId: string;
  readonly runId: string;
  readonly line: string;
  readonly target: string;
  readonly approvalNeeded: boolean;
  /** The forge merges it: it is tested on the forge's latest base and sent there. */
  readonly isPullRequest?: boolean;
  /** The tip of the epic's line to land. */
  readonly tip: Sha;
}

/**
 * Starts the landing of the run's epic unless it is over. Returns true if the run has nothing left
 * to wait for: the epic has landed or waits for a person.
 */
export async function startEpicLanding(
  engine: Uses<'durable' | 'git' | 'machineId' | 'store'>,
  row: RunRow,
  /** A person has just approved, so an earlier failed landing of the same tree does not count. */
  isAsked = false,
): Promise<boolean> {
  const epicId = row.epic_id;
  if (epicId === null) return true;
  // A person may have resolved a conflict on the epic's branch, as Drover suggested.
  const synced = await syncLine(engine, row.line);
  const tip = synced.ok ? synced.value : await engine.git.readRef(landingRef(row.line));
  if (tip === null) return true;
  const name = `land-epic/${epicId}/${row.id}/${tip.slice(0, 16)}/${(await approvedTree(engine, epicId)) ?? 'none'}`;
  const known = await engine.durable.get(name);
  const isUnderWay = known !== null && (known.state === 'pending' || known.state === 'running');
  if (known !== null && (isUnderWay || !isAsked)) return !isUnderWay;
  const id = known === null ? name : `${name}/${engine.store.sources.uuid()}`;
  if (await isOnTarget(engine, row, tip)) {
    await noteLanded(engine, epicId, row.line);
    return true;
  }
  const input: LandEpicInput = {
    epicId,
    runId: row.id,
    line: row.line,
    target: row.target_branch,
    approvalNeeded: row.land === 'review',
    ...(row.land === 'pr' && { isPullRequest: true }),
    tip,
  };
  limitLandQueue(engine, row.target_branch);
  await engine.durable.start(landEpicWorkflow, id, input, { queue: landQueue(row.target_branch) });
  return false;
}

/** The head of an epic's pull request, with a newer base. */
interface HeadOnBase {
  readonly epicId: string;
  readonly tip: Sha;
  readonly base: Sha;
}

export function testOnBaseName({ id }: Pick<RunRow, 'id'>, { epicId, tip, base }: HeadOnBase) {
  return `land-epic/${epicId}/${id}/${tip.slice(0, 16)}/on-${base.slice(0, 16)}`;
}

/** Runs the gate of an epic on the forge again, because its base has moved. */
export async function regateOnNewBase(
  engine: Uses<'durable' | 'machineId'>,
  row: RunRow,
  at: HeadOnBase,
): Promise<void> {
  const { id: runId, line, target_branch: target } = row;
  const { epicId, tip } = at;
  const pull = { approvalNeeded: false, isPullRequest: true };
  const input: LandEpicInput = { epicId, runId, line, target, ...pull, tip };
  limitLandQueue(engine, target);
  const options = { queue: landQueue(target) };
  await engine.durable.start(landEpicWorkflow, testOnBaseName(row, at), input, options);
}

/** Whether the run's line has landed up to `tip`, or a person merged or cherry-picked all of it. */
export async function isOnTarget(
  engine: Uses<'git' | 'store'>,
  row: Pick<RunRow, 'line' | 'target_branch'>,
  tip: Sha,
): Promise<boolean> {
  const target = await engine.git.readRef(landingRef(row.target_branch));
  if (target === null) return false;
  if ((await findCommitOnLine(engine, tip, target)) !== null) return true;
  const into = { branch: row.target_branch, tip: target };
  return isPicked(engine, { branch: row.line, tip }, into);
}

/** Records that a person brought the line to its target by hand. */
async function noteLanded(engine: Uses<'store'>, epicId: string, line: string): Promise<void> {
  if (!(await holdsLandedWork(engine.store.db, line))) return;
  await engine.store.transaction((tx) => markEpicLanded(tx, epicId, null));
}

async function approvedTree(engine: Uses<'store'>, epicId: string): Promise<string | null> {
  return (await epicById(engine.store.db, epicId))?.approved_tree ?? null;
}

export async function landEpic(
  engine: EngineOfRun,
  run: DurableRun<Tx>,
  input: LandEpicInput,
): Promise<string> {
  const { epicId, target } = input;
  const end = await asLander(engine, run, target, (own) =>
    landInRounds<BuiltEpic>(engine, run, {
      line: target,
      reason: `drover: land ${epicId}`,
      build: (signal) =>
        retryWhileUnreachable(
          engine,
          signal,
          () => withGitFallback<BuiltEpic>(() => buildEpic(engine, input, own, signal), notBuilt),
          (outcome) => (outcome.kind === 'built' ? null : outcome.failure),
          handOverOnTrouble(run),
        ),
      mergeOf: (built) => (built.kind === 'built' ? ok(built.candidate) : err(built.failure)),
      test: (merge, signal) => testEpic(engine, input, merge, signal),
      isHeld: async ({ tree }) =>
        input.isPullRequest === true ||
        (input.approvalNeeded && (await approvedTree(engine, epicId)) !== tree),
      record: (tx, merge) => recordLanded(engine, tx, input, merge),
    }),
  );
  switch (end.kind) {
    case 'landed':
      return 'landed';
    case 'not_built':
    case 'red': {
      const state = end.kind === 'red' ? 'gate_failed' : 'conflict';
      return endEpic(engine, run, input, { ...end, state, reason: end.failure.message });
    }
    case 'held': {
      if (input.isPullRequest === true) {
        const reason = `epic ${epicId} passed its gate and is being sent to the forge`;
        return endEpic(engine, run, input, { ...end, state: 'pull_request', reason });
      }
      const reason = `epic ${epicId} waits for an approval: drover diff ${epicId}, then drover approve ${epicId}`;
      return endEpic(engine, run, input, { ...end, state: 'needs_review', reason });
    }
    case 'moving': {
      const reason = `${target} moves too often`;
      return endEpic(engine, run, input, { ...end, state: 'conflict', reason });
    }
  }
}

type BuiltEpic =
  /** `candidate`: older versions stored the merge under this name. */
  | { readonly kind: 'built'; readonly candidate: LineMerge }
  | { readonly kind: 'conflict'; readonly failure: Failure };

function notBuilt(trouble: Failure): BuiltEpic {
  return { kind: 'conflict', failure: trouble };
}

async function buildEpic(
  engine: Gating & Uses<'forge'>,
  input: LandEpicInput,
  own: () => Promise<GitResult<void>>,
  signal: AbortSignal,
): Promise<BuiltEpic> {
  const owned = await own();
  if (!owned.ok) return notBuilt(gitFailed(owned.error));
  const run = await runById(engine.store.db, input.runId);
  const forge = input.isPullRequest === true ? resolveRunSettings(engine, run).forge : null;
  const found =
    forge === null
      ? await mergeTargetForLanding(engine, input.target)
      : await forgeHead(engine, forge.base ?? input.target);
  if (!found.ok) return notBuilt(found.error);
  const { tip, head, includes } = found.value;
  if (forge !== null && (await chooseShape(engine, input.epicId, forge.shape)) === 'stack')
    return await buildLevels(
      engine,
      input,
      { base: head, baseName: forge.base ?? input.target },
      signal,
    );
  const epic = await epicById(engine.store.db, input.epicId);
  const base = await ownBaseOfLine(engine, input.line, { head, commit: input.tip });
  const merged = await engine.git.merge({
    tip: head,
    commit: input.tip,
    base,
    subject: `drover: ${input.epicId} ${firstLineOf(epic?.title ?? '')}`,
    trailers: [
      trailer('epic', input.epicId),
      ...(base === null ? [] : [trailer('tip', input.tip)]),
    ],
  });
  if (!merged.ok) return notBuilt(gitFailed(merged.error));
  if (merged.value.kind === 'conflict') {
    const files = merged.value.files.join(', ');
    const target = { branch: input.target, tip: head };
    const line = { branch: input.line, tip: input.tip };
    // A line must not be merged if users removed commits that it is based on.
    const advice =
      (base === null ? null : await handPick(engine, line, target)) ??
      (await handMerge(engine, target, line));
    return {
      kind: 'conflict',
      failure: failure(
        'conflict',
        `epic ${input.epicId} conflicts with ${input.target} in ${files}; ${advice} and run again`,
      ),
    };
  }
  return {
    kind: 'built',
    candidate: { tip, includes, commit: merged.value.commit, tree: merged.value.tree },
  };
}

async function buildLevels(
  engine: Gating,
  input: LandEpicInput,
  { base, baseName }: { readonly base: Sha; readonly baseName: string },
  signal: AbortSignal,
): Promise<BuiltEpic> {
  const { epicId, tip } = input;
  const built = await buildStack(engine, {
    epicId,
    tip,
    base,
    baseName,
    test: (commit, tree) => testEpic(engine, input, { tip: base, commit, tree }, signal),
  });
  if (!built.ok) return notBuilt(built.error);
  const levels = built.value;
  const top = levels.at(-1);
  if (top === undefined)
    return notBuilt(failure('conflict', `${epicId} has no commit that ${baseName} does not have`));
  return { kind: 'built', candidate: { tip: base, commit: top.head, tree: top.tree, levels } };
}

async function testEpic(
  engine: Gating,
  input: LandEpicInput,
  merge: LineMerge,
  signal: AbortSignal,
): Promise<Failure | null> {
  const command = gateOfRun(engine, await flagsOfRun(engine.store.db, input.runId));
  if (command === null) return null;
  const { commit, tree } = merge;
  const question = { commit, tree, command, taskIds: [], redSinceMs: engine.clock.now() };
  const failed = await gateFailure(engine, question, signal);
  return failed && { ...failed, message: `epic ${input.epicId}: ${failed.message}` };
}

async function recordLanded(
  engine: Uses<'store'>,
  tx: Tx,
  input: LandEpicInput,
  merge: LineMerge,
): Promise<void> {
  await markEpicLanded(tx, input.epicId, merge.commit);
  await landOnLine(tx, input.target, merge.commit);
  await engine.store.append(tx, {
    type: 'epic.landed',
    epicId: input.epicId,
    runId: input.runId,
    data: { sha: merge.commit, branch: input.target },
  });
}

interface EpicEnd {
  readonly state: 'conflict' | 'gate_failed' | 'needs_review' | 'pull_request';
  readonly reason: string;
  readonly round: number;
  /** The merge that waits for an approval. */
  readonly merge?: LineMerge;
}

async function endEpic(
  engine: Uses<'clock' | 'settings' | 'store'>,
  run: DurableRun<Tx>,
  input: LandEpicInput,
  { state, reason, round, merge }: EpicEnd,
): Promise<string> {
  const tree = merge?.tree;
  await run.commit(`ended:${round}`, async (tx) => {
    const end = { state, note: reason, reviewTree: tree ?? null };
    await endEpicLanding(tx, input.epicId, end);
    if (state === 'pull_request' && merge !== undefined)
      await planPullRequest(engine, tx, { ...merge, ...input, testedBase: merge.tip });
    await engine.store.append(tx, {
      type: `epic.${state}`,
      epicId: input.epicId,
      runId: input.runId,
      data: { reason, ...(tree === undefined ? {} : { tree }) },
    });
  });
  return state;
}
