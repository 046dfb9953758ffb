// Applies a person's resolution of conflicts: the merged tree with the person's contents.

import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { type PathBytes, shown } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { editedTree } from './edited-tree.ts';
import type { Sha } from '../sha.ts';
import { writeBlob } from './beads-files.ts';
import type { MergeAnswer } from './merge-answer.ts';

const fileMode = '100644';

/** Returns null if the user did not resolve every conflicting file. */
export async function settleByPerson(
  context: RepositoryContext,
  { tree, conflicts }: MergeAnswer,
  settled: ReadonlyMap<string, string | null>,
): Promise<GitResult<Sha | null>> {
  if (!conflicts.every(({ path }) => settled.has(shown(path)))) return ok(null);
  const remove: PathBytes[] = [];
  const entries: string[] = [];
  for (const { path, mode } of conflicts) {
    const text = settled.get(shown(path)) ?? null;
    if (text === null) {
      remove.push(path);
      continue;
    }
    const blob = await writeBlob(context, text);
    if (!blob.ok) return blob;
    entries.push(`${mode === '' ? fileMode : mode} blob ${blob.value}\t${path}`);
  }
  return editedTree(context, tree, { remove, entries });
}
