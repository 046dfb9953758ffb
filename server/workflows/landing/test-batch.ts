// The gate of a landing batch: every distinct command of its tasks must pass on the final merged
// tree.

import { runGate, type Gating } from './gate.ts';
import type { LandingBatch, Merged } from './landing-batch.ts';

import { readRedBase, redBaseFailure, redBaseWords } from './red-base.ts';
import type { Sha } from '../../git/sha.ts';
import { tasksWithGate } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

type TestingBatch = Gating & Uses<'settings' | 'store'>;

/** `redSinceMs`: a red verdict from before (Unix ms) is not believed. */
export async function testBatch(
  engine: TestingBatch,
  merged: readonly Merged[],
  base: { readonly line: string; readonly commit: Sha },
  redSinceMs: number,
  stop: AbortSignal,
): Promise<LandingBatch['verdict']> {
  const last = merged.at(-1);
  if (last === undefined) return { kind: 'none' };
  const { commit, tree } = last;
  const taskIds = merged.map((item) => item.row.task_id);
  const commands = new Set(
    merged.map((item) => item.row.gate_command).filter((command) => command !== null),
  );
  let verdict: LandingBatch['verdict'] = { kind: 'none' };
  for (const command of commands) {
    verdict = await runGate(engine, { commit, tree, command, taskIds, redSinceMs }, stop);
    if (verdict.kind === 'green') continue;
    if (verdict.kind !== 'red' || merged.length > 1) return verdict;
    if (await isGoalOfOneTask(engine, command)) return verdict;
    // If one task alone is red, checks whether the base was red before.
    return (await testBase(engine, { ...base, command, redSinceMs }, stop)) ?? verdict;
  }
  return verdict;
}

/**
 * A command that belongs to one task describes that task's goal. It fails on the base because the
 * work is not done yet, so the base tells nothing.
 */
async function isGoalOfOneTask(
  engine: Uses<'settings' | 'store'>,
  command: string,
): Promise<boolean> {
  if (command === engine.settings().gateCommand) return false;
  return (await tasksWithGate(engine.store.db, command, 2)).length === 1;
}

interface BaseQuestion {
  readonly line: string;
  readonly commit: Sha;
  readonly command: string;
  readonly redSinceMs: number;
}

/** Returns null if the base is green, or cannot be tested. */
async function testBase(
  engine: Gating,
  { line, ...question }: BaseQuestion,
  stop: AbortSignal,
): Promise<LandingBatch['verdict'] | null> {
  const tree = await engine.git.treeOf(question.commit);
  if (!tree.ok) return null;
  const red = await readRedBase(engine, line);
  const about = redBaseWords(red);
  const verdict = await runGate(
    engine,
    { ...question, tree: tree.value, taskIds: [], about },
    stop,
  );
  if (verdict.kind === 'aborted') return verdict;
  if (verdict.kind !== 'red') return null;
  return { kind: 'red_base', failure: redBaseFailure(verdict.failure), red };
}
