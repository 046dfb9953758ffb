// Merges the work that waits for a line, one task after another, without moving or testing
// anything.

import type { GitResult, Merge, MergeConflict } from '../../git/port.ts';
import type { LandingRow } from '../../store/port.ts';
import type { Sha } from '../../git/sha.ts';
import { gitFailed } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Failure } from '../../core/failure.ts';
import type { HeldWork, Merged, Unmergeable } from './landing-batch.ts';
import {
  landedBefore,
  mergeRow,
  namesRefused,
  type QueuedWork,
  readQueuedWork,
  whyHeld,
  whyUnmergeable,
} from './landing-rows.ts';

type Building = Uses<'earlierUntilMs' | 'git' | 'settings' | 'store'>;

/** A task's work, merged onto the line together with all work before it. */
export interface Link extends Merged {
  /** The line's tip if everything up to here lands. */
  readonly head: Sha;
}

export interface Chain {
  readonly links: readonly Link[];
  readonly conflicts: readonly { readonly row: LandingRow; readonly files: readonly string[] }[];
  readonly unmergeable: readonly Unmergeable[];
  readonly held: readonly HeldWork[];
  readonly problem: Failure | null;
}

/** Merges that were already made. Repeating a merge returns the same commit. */
export class KnownMerges {
  readonly #made = new Map<string, Merge | MergeConflict>();

  async merge(
    engine: Building,
    work: QueuedWork,
    head: Sha,
  ): Promise<GitResult<Merge | MergeConflict>> {
    const key = `${head} ${work.row.task_id} ${work.row.commit_sha}`;
    const known = this.#made.get(key);
    if (known !== undefined) return { ok: true, value: known };
    const made = await mergeRow(engine, work, head);
    if (made.ok) this.#made.set(key, made.value);
    return made;
  }
}

export async function buildChain(
  engine: Building,
  rows: readonly LandingRow[],
  { line, start }: { readonly line: string; readonly start: Sha },
  merges: KnownMerges,
): Promise<Chain> {
  const links: Link[] = [];
  const conflicts: { row: LandingRow; files: readonly string[] }[] = [];
  const unmergeable: Unmergeable[] = [];
  const held: HeldWork[] = [];
  const left = { links, conflicts, unmergeable, held };
  let head = start;
  for (const row of rows) {
    const work = await readQueuedWork(engine, row);
    const there = await landedBefore(engine, work, head);
    if (there !== null) {
      links.push({ row, ...there, head });
      continue;
    }
    const reason = await whyHeld(engine, work, line, head);
    if (reason !== null) {
      held.push({ row, reason });
      continue;
    }
    const result = await merges.merge(engine, work, head);
    if (!result.ok) {
      const alone = await whyUnmergeable(engine, work, head);
      if (alone === null) return { ...left, problem: gitFailed(result.error) };
      unmergeable.push({ row, failure: alone });
      continue;
    }
    const refused = result.value.kind === 'merged' ? namesRefused(result.value) : null;
    if (refused !== null) {
      unmergeable.push({ row, failure: refused });
    } else if (result.value.kind === 'merged') {
      head = result.value.commit;
      links.push({ row, commit: head, tree: result.value.tree, head });
    } else if (head === start) {
      // Work that conflicts only with other work of the chain waits until that has landed.
      conflicts.push({ row, files: result.value.files });
    }
  }
  return { ...left, problem: null };
}
