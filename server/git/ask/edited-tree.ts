// Creates a tree that differs from another in a few entries, in a separate index and without
// touching a checkout.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, printedId } from '../failures.ts';
import { type PathBytes, zeroEnded } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import type { Sha } from '../sha.ts';

export interface TreeEdits {
  readonly remove: readonly PathBytes[];
  /**
   * In the format of `ls-tree -r -z` (mode, kind, id, a tab and the path) or of `ls-files --stage
   * -z` (mode, id, stage, a tab and the path).
   */
  readonly entries: readonly string[];
}

/** `from` is a commit or a tree. */
export async function editedTree(
  context: RepositoryContext,
  from: Sha,
  { remove, entries }: TreeEdits,
): Promise<GitResult<Sha>> {
  const folder = await mkdtemp(join(tmpdir(), 'drover-tree-'));
  try {
    const env = { GIT_INDEX_FILE: join(folder, 'index') };
    const steps: readonly { readonly args: readonly string[]; readonly input?: Buffer }[] = [
      { args: ['read-tree', from] },
      { args: ['update-index', '-z', '--force-remove', '--stdin'], input: zeroEnded(remove) },
      { args: ['update-index', '-z', '--index-info'], input: zeroEnded(entries) },
    ];
    for (const { args, input } of steps) {
      if (input?.length === 0) continue;
      const done = await context.git([...args], { env, ...(input === undefined ? {} : { input }) });
      if (done.code !== 0) return err(failureOf(done, `make a tree like that of ${from}`));
    }
    return printedId(await context.git(['write-tree'], { env }), 'write the tree');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
