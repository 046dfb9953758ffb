// Merges Beads files issue by issue. Every agent that adds a note changes the same file, so it
// would conflict at each landing if git has no merge driver for it.

import { isBeadsFile, mergeBeadsLines } from '../../core/exchange/beads-merge.ts';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { editedTree } from './edited-tree.ts';
import { failureOf, printedId } from '../failures.ts';
import { shown } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import type { Sha } from '../sha.ts';
import type { MergeAnswer, MergeStages } from './merge-answer.ts';

/**
 * Returns the answer without conflicts that only Beads files had, with their merged lines in the
 * tree.
 */
export async function settleBeads(
  context: RepositoryContext,
  answer: MergeAnswer,
): Promise<GitResult<MergeAnswer>> {
  const entries: string[] = [];
  const settled = new Set<MergeStages>();
  for (const stages of answer.conflicts) {
    if (!isBeadsFile(shown(stages.path))) continue;
    const merged = await mergedBlob(context, stages);
    if (!merged.ok) return merged;
    if (merged.value === null) continue;
    entries.push(`${stages.mode} blob ${merged.value}\t${stages.path}`);
    settled.add(stages);
  }
  if (settled.size === 0) return ok(answer);
  const tree = await editedTree(context, answer.tree, { remove: [], entries });
  if (!tree.ok) return tree;
  const conflicts = answer.conflicts.filter((stages) => !settled.has(stages));
  return ok({ tree: tree.value, conflicts });
}

/** Returns null if the file cannot be merged by its lines either. */
async function mergedBlob(
  context: RepositoryContext,
  { base, ours, theirs }: MergeStages,
): Promise<GitResult<Sha | null>> {
  // One side deleted the file, so merging lines does not help.
  if (ours === null || theirs === null) return ok(null);
  const texts: string[] = [];
  for (const blob of [base, ours, theirs]) {
    const text = blob === null ? ok('') : await blobText(context, blob);
    if (!text.ok) return text;
    texts.push(text.value);
  }
  const [before = '', left = '', right = ''] = texts;
  const merged = mergeBeads(before, left, right);
  return merged === null ? ok(null) : writeBlob(context, merged);
}

export function mergeBeads(base: string, ours: string, theirs: string): string | null {
  return mergeBeadsLines({ base, ours, theirs }, (text) => {
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? null : ms;
  });
}

export async function blobText(context: RepositoryContext, blob: Sha): Promise<GitResult<string>> {
  const output = await context.git(['cat-file', 'blob', blob]);
  return output.code === 0 && output.problem === null
    ? ok(output.stdout.toString('utf8'))
    : err(failureOf(output, `read ${blob}`));
}

export async function writeBlob(context: RepositoryContext, text: string): Promise<GitResult<Sha>> {
  const output = await context.git(['hash-object', '-w', '--stdin', '--no-filters'], {
    input: text,
  });
  return printedId(output, 'write a file');
}
