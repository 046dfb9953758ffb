// The gate of a landing batch: each distinct command of its tasks must pass on the final merged
// tree.

import { type GateStage, hasPaths, neededStages } from '../../core/settings/gate-stages.ts';
import { runInPlace, type Gating } from './gate.ts';
import type { LandingBatch } from './landing-batch.ts';

import { readRedBase, redBaseFailure, redBaseWords } from './red-base.ts';
import type { Sha } from '../../git/sha.ts';
import { type LandingRow, tasksWithGate } from '../../store/port.ts';
import { pathsChanged } from '../kit/compared-commits.ts';
import type { Uses } from '../kit/engine-ports.ts';

export type TestingBatch = Gating & Uses<'settings' | 'store'>;

/** The merge of some tasks, and the commit it is based on. */
export interface TestedMerge {
  readonly line: string;
  readonly commit: Sha;
  readonly tree: Sha;
  readonly base: Sha;
  readonly rows: readonly LandingRow[];
  /** The gates that the change needs, without those that have no stage to run. */
  readonly needed: readonly string[];
  /** Stages that the change does not need. */
  readonly skipped: readonly GateStage[];
  /** Older red verdicts (Unix ms) are ignored. */
  readonly redSinceMs: number;
}

/** The distinct commands of the rows, in order. */
export function commandsOf(rows: readonly LandingRow[]): readonly string[] {
  const commands = rows.flatMap(({ gate_command: command }) => (command === null ? [] : [command]));
  return [...new Set(commands)];
}

/**
 * Returns the gates of the rows, without the stages that the change since the tip does not need. If
 * git cannot determine the change, all stages are needed.
 */
export async function gatesNeeded(
  engine: Uses<'git' | 'store'>,
  rows: readonly LandingRow[],
  { tip, commit }: { readonly tip: Sha; readonly commit: Sha },
): Promise<Pick<TestedMerge, 'needed' | 'skipped'>> {
  const gates = commandsOf(rows);
  const changed = gates.some(hasPaths) ? await pathsChanged(engine, tip, commit) : null;
  if (changed === null) return { needed: gates, skipped: [] };
  const parts = gates.map((gate) => neededStages(gate, changed));
  return {
    needed: parts.flatMap(({ gate }) => gate ?? []),
    skipped: parts.flatMap(({ skipped }) => skipped),
  };
}

/** `first`: a single try. `again`: the second try for one task's work that was red. */
export async function testMerge(
  engine: TestingBatch,
  { line, commit, tree, base, rows, needed, redSinceMs }: TestedMerge,
  look: 'first' | 'again',
  stop: AbortSignal,
): Promise<LandingBatch['verdict']> {
  const taskIds = rows.map((row) => row.task_id);
  let isFlaky = false;
  for (const command of needed) {
    const question = { commit, tree, command, taskIds, redSinceMs, look };
    const verdict = await runInPlace(engine, question, stop);
    if (verdict.kind === 'green') {
      isFlaky ||= verdict.flaky;
      continue;
    }
    const isOver = look === 'again' || (verdict.kind === 'red' && verdict.isFinal === true);
    if (verdict.kind !== 'red' || rows.length > 1 || !isOver) return verdict;
    return (await redOfBase(engine, { line, commit: base, command, redSinceMs }, stop)) ?? verdict;
  }
  return { kind: 'green', flaky: isFlaky };
}

/**
 * If a single task is red, tests whether its base is red too. Returns null if the task is to blame.
 */
export async function redOfBase(
  engine: TestingBatch,
  question: BaseQuestion,
  stop: AbortSignal,
): Promise<LandingBatch['verdict'] | null> {
  if (await isGoalOfOneTask(engine, question.command)) return null;
  return testBase(engine, question, stop);
}

/**
 * Whether the command was given to this task only. It then checks what the task must achieve and
 * always fails on the base, so that result would mean nothing.
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

/** Returns null if the base is green or cannot be tested. */
async function testBase(
  engine: Gating,
  { line, ...question }: BaseQuestion,
  stop: AbortSignal,
): Promise<LandingBatch['verdict'] | null> {
  const tree = await engine.git.treeOf(question.commit);
  if (!tree.ok) return null;
  const red = await readRedBase(engine, line);
  const about = redBaseWords(red);
  const verdict = await runInPlace(
    engine,
    { ...question, tree: tree.value, taskIds: [], about },
    stop,
  );
  if (verdict.kind === 'aborted') return verdict;
  if (verdict.kind !== 'red') return null;
  return { kind: 'red_base', failure: redBaseFailure(verdict.failure), red };
}
