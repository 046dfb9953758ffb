// A slot in a fresh repository, for a part of the benchmark that runs in its own process.

import { join } from 'node:path';
import { openGitAdapter } from '../server/git/repository/adapter.ts';
import type { GitResult } from '../server/git/port.ts';
import type { LocalRepository } from '../server/git/local-port.ts';
import { GitShells } from '../server/git/process/shells.ts';
import { copyOf, git, repositoryOf, type RunFolder } from './repositories.ts';

export interface Slot {
  readonly copy: RunFolder;
  readonly repository: LocalRepository;
  readonly path: string;
  readonly sha: string;
}

/**
 * `folder` contains the repositories and runs; `files` is the number of files in the repository.
 */
export async function openSlot(folder: string, files: number, use: 'task' | 'gate'): Promise<Slot> {
  const copy = copyOf(folder, repositoryOf(folder, files));
  git(copy.repository, 'checkout', '-q', 'main');
  const environment = { PATH: process.env['PATH'] ?? '', HOME: copy.home };
  // Starts git the same way as a backend.
  const { run } = new GitShells();
  const repository = valueOf(
    await openGitAdapter({ environment, elsewhere: run }).open(copy.repository),
  );
  const sha = git(copy.repository, 'rev-parse', 'main');
  const slot = { copy, repository, path: join(copy.folder, 'slot'), sha };
  await prepare(slot, use);
  return slot;
}

export async function prepare(
  { repository, path, sha }: Slot,
  use: 'task' | 'gate',
): Promise<void> {
  const branch = use === 'task' ? 'drover/t/1' : null;
  const emptied = { keepBranch: false, dropIgnored: false, sparse: null };
  valueOf(await repository.prepareSlot({ path, branch, sha, ...emptied, use }));
}

export function valueOf<T>(result: GitResult<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

export async function elapsedMs(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}
