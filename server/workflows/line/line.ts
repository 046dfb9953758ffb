// Runs a landing line and its branch: reads the facts, takes one step and repeats, until the next
// step is one that the caller must take. `core/line/decide.ts` decides the steps.

import { decide, type LineStep } from '../../core/line/decide.ts';
import { describeHold } from '../../core/line/holds.ts';
import { err, failure, type Failure, ok, type Result } from '../../core/failure.ts';
import { takeInSubject } from '../../core/line/waiting.ts';
import type { Sha } from '../../git/sha.ts';
import { holdLine, type LineRow, readLine, recordLine } from '../../store/port.ts';
import { gitFailed, withGitFallback } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { gather, type Gathered } from './facts.ts';
import { moveLine } from './move.ts';
import { mergeTogether } from './together.ts';
import { recordRewind } from './wrong-states.ts';

const looksMax = 8;

/** Steps that move no branch and need no gate. They are taken before every use of a line. */
type OwnStep = Extract<LineStep, { kind: 'note' | 'make' | 'adopt' | 'look' }>;
export type OpenStep = Exclude<LineStep, OwnStep>;

export interface Settled extends Gathered {
  readonly step: OpenStep;
}

/** `asOf`: fetch from the remote of a fleet instead of using the last fetch. */
export async function settleLine(
  engine: Uses<'git' | 'machineId' | 'store'>,
  branch: string,
  asOf?: 'now',
): Promise<Result<Settled>> {
  let freshness = asOf;
  for (let looks = 0; looks < looksMax; looks += 1) {
    const gathered = await gather(engine, branch, freshness);
    const step = decide(gathered.facts);
    switch (step.kind) {
      case 'look':
        freshness = 'now';
        continue;
      case 'note':
        await noteArrived(engine, branch, step.tip, gathered.row);
        return ok({ ...gathered, step: { kind: 'rest', tip: step.tip } });
      case 'make':
      case 'adopt': {
        const taken = await takeOwnStep(engine, branch, gathered, step);
        if (!taken.ok) return taken;
        continue;
      }
      case 'rest':
      case 'follow':
      case 'merge':
      case 'replay':
      case 'hold':
      case 'absent':
        await tellHold(engine, branch, step, gathered.row);
        return ok({ ...gathered, step });
    }
  }
  return failed(`the landing ref of ${branch} keeps moving; is another Drover running here?`);
}

/** Records the tip, unless another process has recorded a newer one since the facts were read. */
async function noteArrived(
  { store }: Uses<'store'>,
  branch: string,
  tip: Sha,
  before: LineRow | null,
): Promise<void> {
  await store.transaction(async (tx) => {
    const known = await readLine(tx, branch);
    if (known === null ? before !== null : known.landed_sha !== (before?.landed_sha ?? tip)) return;
    await recordLine(tx, branch, { landed: tip, followed: tip });
  });
}

async function takeOwnStep(
  engine: Uses<'git' | 'store'>,
  branch: string,
  { facts: { line } }: Gathered,
  step: Extract<OwnStep, { kind: 'make' | 'adopt' }>,
): Promise<Result<void>> {
  const next = step.kind === 'make' ? step.tip : step.target;
  const isLost = step.kind === 'make' && step.from === 'store';
  const left = step.kind === 'adopt' ? step.leaves : null;
  const moved = await moveLine(engine, branch, {
    next,
    old: line,
    reason: isLost ? 'drover: the landing ref was gone' : takeInSubject(branch),
    includes: isLost ? null : next,
    isLeft: left !== null,
    isAlone: true,
  });
  if (moved.ok) {
    if (left !== null) await recordRewind(engine, branch, left, next);
    return ok(undefined);
  }
  if (moved.error.kind === 'stale') return ok(undefined);
  if (!isLost) return err(gitFailed(moved.error));
  return held(describeHold(branch, { kind: 'pruned', landed: next, words: moved.error.message }));
}

/** Records why the line is held, or clears the reason. */
async function tellHold(
  { store }: Uses<'store'>,
  branch: string,
  step: OpenStep,
  row: LineRow | null,
): Promise<void> {
  const reason = step.kind === 'hold' ? describeHold(branch, step.hold) : null;
  if (step.kind === 'absent' || row === null || row.held_reason === reason) return;
  await store.transaction((tx) => holdLine(tx, store.sources, branch, reason));
}

function held(reason: string): { readonly ok: false; readonly error: Failure } {
  return err(failure('line_held', reason));
}

function failed(reason: string): { readonly ok: false; readonly error: Failure } {
  return err(failure('git_failed', reason));
}

/**
 * The line's tip after synchronization with the branch, from which bases are taken. While landed
 * work waits for the branch, the tip lacks commits that users have made since (see `landingHead`).
 */
export async function syncLine(
  engine: Uses<'git' | 'machineId' | 'store'>,
  branch: string,
  asOf?: 'now',
): Promise<Result<Sha>> {
  return withGitFallback(async () => {
    const settled = await settleLine(engine, branch, asOf);
    return settled.ok ? tipOf(branch, settled.value.step) : settled;
  }, err);
}

function tipOf(branch: string, step: OpenStep): Result<Sha> {
  switch (step.kind) {
    case 'hold':
      return held(describeHold(branch, step.hold));
    case 'absent':
      return failed(`branch ${branch} does not exist; create it or name another with --target`);
    case 'rest':
    case 'follow':
    case 'merge':
    case 'replay':
      return ok(step.tip);
  }
}

/** The commit onto which a landing is merged. */
export interface LandingHead {
  /** The tip of the line. */
  readonly tip: Sha;
  /** The tip merged with users' commits on the branch, if landed work waits for the branch. */
  readonly head: Sha;
  /** The state of the branch that only `head` includes. */
  readonly includes: Sha | null;
}

/**
 * The merge of the tip and users' commits enters the line only together with the landing, and is
 * tested with it. If they conflict, the landing omits users' commits and waits for the branch as
 * well.
 */
export async function mergeTargetForLanding(
  engine: Uses<'git' | 'machineId' | 'store'>,
  branch: string,
): Promise<Result<LandingHead>> {
  return withGitFallback(async () => {
    const settled = await settleLine(engine, branch);
    if (!settled.ok) return settled;
    const { step } = settled.value;
    const tip = tipOf(branch, step);
    if (!tip.ok) return tip;
    const alone = { tip: tip.value, head: tip.value, includes: null };
    if (step.kind !== 'merge' && step.kind !== 'replay') return ok(alone);
    const both = await mergeTogether(engine, settled.value, step);
    if (!both.ok) return both;
    const { commit: head, target: includes } = both.value;
    return ok(head === null ? alone : { tip: tip.value, head, includes });
  }, err);
}
