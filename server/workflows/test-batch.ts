// The gate of a landing batch: every distinct command of its tasks has to be green on the last merged tree.

import { runGate } from './gate.ts';
import type { Candidate, Merged } from './landing-candidate.ts';
import type { Engine } from './parts.ts';

/** `redSinceMs`: a red verdict from before (Unix ms) is not believed. */
export async function testBatch(
  engine: Engine,
  merged: readonly Merged[],
  redSinceMs: number,
  stop: AbortSignal,
): Promise<Candidate['verdict']> {
  const last = merged.at(-1);
  if (last === undefined) return { kind: 'none' };
  const { commit, tree } = last;
  const taskIds = merged.map((item) => item.row.task_id);
  const commands = new Set(
    merged.map((item) => item.row.gate_command).filter((command) => command !== null),
  );
  let verdict: Candidate['verdict'] = { kind: 'none' };
  for (const command of commands) {
    verdict = await runGate(engine, { commit, tree, command, taskIds, redSinceMs }, stop);
    if (verdict.kind !== 'green') return verdict;
  }
  return verdict;
}
