// Handles files that already match a commit although the index is older, after a power failure or a
// kill during a fast-forward. Git considers them the user's changes.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { type PathBytes, splitZero, zeroEnded } from '../../files/path-bytes.ts';
import { type FollowStep, listPaths } from './names.ts';

/** Gives files that match `to` their entries in the index. Returns their names. */
export async function takeOnWritten(
  context: RepositoryContext,
  at: string,
  { from, to }: FollowStep,
): Promise<ReadonlySet<PathBytes>> {
  const raw = await context.git(['diff-tree', '-r', '-z', '--no-renames', from, to]);
  const parts = splitZero(raw.stdout);
  const entries = new Map<PathBytes, string>();
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [, mode = '', , blob = ''] = (parts[index] ?? '').split(' ');
    const path = parts[index + 1] ?? '';
    if (mode !== '000000') entries.set(path, `${mode} blob ${blob}\t${path}`);
  }
  const file = join(context.commonDir, `drover-cure-${process.pid}`);
  const own = { at, env: { GIT_INDEX_FILE: file } };
  const take = ['update-index', '-z', '--index-info'];
  await context.git(take, { ...own, input: zeroEnded([...entries.values()]) });
  await context.git(['update-index', '-q', '--refresh'], own);
  const differing = await listPaths(context, ['diff-files'], at, own.env);
  rmSync(file, { force: true });
  const written = [...entries].filter(([path]) => differing?.has(path) === false);
  const input = zeroEnded(written.map(([, entry]) => entry));
  await context.git(take, { at, input, waitForLocks: false });
  await context.git(['update-index', '-q', '--refresh'], { at, waitForLocks: false });
  return new Set(written.map(([path]) => path));
}
