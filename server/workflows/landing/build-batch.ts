// Merges the work of a batch onto its line, one task after the other, and tests the tree of all of
// them. Nothing moves.

import type { LandingRow } from '../../store/port.ts';
import type { Sha } from '../../git/sha.ts';
import { gitFailed } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { landingHead } from '../line/line.ts';
import type { Gating } from './gate.ts';
import {
  type HeldWork,
  type LandingBatch,
  type Merged,
  nothingBuilt,
  type Unmergeable,
} from './landing-batch.ts';
import { landedBefore, mergeRow, namesRefused, whyHeld, whyUnmergeable } from './landing-rows.ts';
import { testBatch } from './test-batch.ts';

type Building = Gating & Uses<'earlierUntilMs' | 'settings' | 'store'>;

interface Place {
  readonly line: string;
  /** A red verdict from before (Unix ms) is not believed. */
  readonly redSinceMs: number;
}

export async function buildBatch(
  engine: Building,
  rows: readonly LandingRow[],
  { line, redSinceMs }: Place,
  stop: AbortSignal,
): Promise<LandingBatch> {
  const found = await landingHead(engine, line);
  if (!found.ok) return { ...nothingBuilt, problem: found.error };
  const { tip } = found.value;
  // If this batch has no gate, people's new commits are left to landings that test them.
  const isGated = rows.some((row) => row.gate_command !== null);
  const { head: start, includes } = isGated ? found.value : { head: tip, includes: null };
  const merged: Merged[] = [];
  const conflicts: { row: LandingRow; files: readonly string[] }[] = [];
  const deferred: LandingRow[] = [];
  const unmergeable: Unmergeable[] = [];
  const held: HeldWork[] = [];
  let head: Sha = start;
  for (const row of rows) {
    const there = await landedBefore(engine, row, head);
    if (there !== null) {
      merged.push({ row, ...there });
      continue;
    }
    const reason = await whyHeld(engine, row, line, head);
    if (reason !== null) {
      held.push({ row, reason });
      continue;
    }
    const result = await mergeRow(engine, row, head);
    if (!result.ok) {
      const alone = await whyUnmergeable(engine, row, head);
      if (alone === null) return { ...nothingBuilt, problem: gitFailed(result.error) };
      unmergeable.push({ row, failure: alone });
      continue;
    }
    const refused = result.value.kind === 'merged' ? namesRefused(result.value) : null;
    if (refused !== null) {
      unmergeable.push({ row, failure: refused });
    } else if (result.value.kind === 'merged') {
      merged.push({ row, commit: result.value.commit, tree: result.value.tree });
      head = result.value.commit;
    } else if (head === start) {
      conflicts.push({ row, files: result.value.files });
    } else {
      deferred.push(row);
    }
  }
  const verdict = await testBatch(engine, merged, { line, commit: start }, redSinceMs, stop);
  const left = { conflicts, deferred, unmergeable, held };
  return { tip, includes, merged, ...left, verdict, problem: null };
}
