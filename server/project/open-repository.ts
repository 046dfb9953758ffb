// Opens a repository, or throws a refusal with git's reason.

import { Refusal } from '../core/failure.ts';
import { openGitAdapter, type GitAdapterOptions } from '../git/repository/adapter.ts';
import type { LocalRepository } from '../git/local-port.ts';

export async function openLocalRepository(
  root: string,
  options: GitAdapterOptions,
): Promise<LocalRepository> {
  const opened = await openGitAdapter(options).open(root);
  if (!opened.ok) throw new Refusal(opened.error.kind, opened.error.message);
  return opened.value;
}
