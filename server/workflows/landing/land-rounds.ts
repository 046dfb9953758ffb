// Builds one merge onto a line, tests it and moves the line, in steps of one workflow. Starts again
// if the line has moved. The tree that lands is always the one that was tested.

import type { Failure, Result } from '../../core/failure.ts';
import type { DurableRun } from '../../durable/port.ts';
import type { Sha } from '../../git/sha.ts';
import type { Tx } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { withGitFallback } from '../kit/git-trouble.ts';
import type { BuiltLevel } from './build-stack.ts';
import { followLine } from '../line/follow.ts';
import { isOnLine, moveLine } from '../line/move.ts';
import { isWithinReach } from './landing-rows.ts';

/** A merge on top of the line's tip. */
export interface LineMerge {
  readonly tip: Sha;
  readonly commit: Sha;
  readonly tree: Sha;
  /** The state of the branch that the merge includes, if the tip does not include it. */
  readonly includes?: Sha | null;
  /** The stack that this level is the top of, from the bottom. */
  readonly levels?: readonly BuiltLevel[];
}

export interface LineWork<Built> {
  readonly line: string;
  /** The message for the reflog of the line's ref. */
  readonly reason: string;
  build(signal: AbortSignal): Promise<Built>;
  mergeOf(built: Built): Result<LineMerge, Failure>;
  test(merge: LineMerge, signal: AbortSignal): Promise<Failure | null>;
  /**
   * Called after the test. Returns true if the merge must wait for a person. Absent if nothing
   * waits.
   */
  isHeld?(merge: LineMerge): Promise<boolean>;
  record(tx: Tx, merge: LineMerge): Promise<void>;
}

export type RoundsEnd =
  | { readonly kind: 'landed'; readonly round: number }
  | { readonly kind: 'not_built' | 'red'; readonly failure: Failure; readonly round: number }
  | {
      readonly kind: 'held';
      readonly merge: LineMerge;
      readonly round: number;
    }
  /** The line moved during every round. */
  | { readonly kind: 'moving'; readonly round: number };

const roundsMax = 5;

export async function landInRounds<Built>(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  run: DurableRun<Tx>,
  work: LineWork<Built>,
): Promise<RoundsEnd> {
  for (let round = 0; round < roundsMax; round += 1) {
    const built = await run.step(`built:${round}`, (signal) => work.build(signal));
    const made = work.mergeOf(built);
    if (!made.ok) return { kind: 'not_built', failure: made.error, round };
    const merge = made.value;
    if (!(await isWithinReach(engine, merge.commit))) continue;
    const red = await run.step(`verified:${round}`, (signal) => work.test(merge, signal));
    if (red !== null) return { kind: 'red', failure: red, round };
    if ((await work.isHeld?.(merge)) === true) return { kind: 'held', merge, round };
    const moved = await run.step(`merged:${round}`, () =>
      withGitFallback(
        () => moveOnto(engine, work, merge),
        () => false,
      ),
    );
    if (!moved) continue;
    await run.commit(`completed:${round}`, (tx) => work.record(tx, merge));
    await followLine(engine, work.line);
    return { kind: 'landed', round };
  }
  return { kind: 'moving', round: roundsMax };
}

/** Moves the line to the merge, once. Returns false if the line has moved elsewhere. */
async function moveOnto(
  engine: Uses<'git' | 'store'>,
  { line, reason }: Pick<LineWork<unknown>, 'line' | 'reason'>,
  { tip: old, commit: next, includes = null }: LineMerge,
): Promise<boolean> {
  if (await isOnLine(engine, line, { tip: old, commit: next })) return true;
  return (await moveLine(engine, line, { next, old, reason, as: 'owner', includes })).ok;
}
