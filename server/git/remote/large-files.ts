// Uploads files that Git LFS stores outside of git before the commits that refer to them, as the
// LFS hook would.

import { err, ok } from '../../core/failure.ts';
import type { GitResult, RepositoryFacts } from '../port.ts';
import type { Remote } from './remote.ts';
import { remoteFailure } from './remote-failures.ts';
import type { Sha } from '../sha.ts';

/** If LFS is not installed, git itself stores the files and no upload is needed. */
export async function uploadLargeFiles(
  remote: Remote,
  facts: RepositoryFacts,
  ref: string,
  commit: Sha,
): Promise<GitResult<void>> {
  if (!facts.usesLfs) return ok(undefined);
  const { name } = remote;
  const input = `${ref} ${commit} ${ref} ${'0'.repeat(commit.length)}\n`;
  const output = await remote.run(['lfs', 'pre-push', name, name], input);
  if (output.code === 0 || /is not a git command/u.test(output.stderr)) return ok(undefined);
  return err(remoteFailure(output, name, `upload the large files of ${ref}`));
}
