// Contents of commits: the files that differ between two commits, and one file's bytes in a commit.

import { makeCommit } from './make-commit.ts';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, refuse } from '../failures.ts';
import { readTree } from './ancestry.ts';
import { commitMessage } from '../refs/messages.ts';
import { shown, splitZero } from '../../files/path-bytes.ts';
import type { ChangedFile, FileAtCommit, GitResult } from '../port.ts';
import { isSha, type Sha } from '../sha.ts';

const statusOf: { readonly [letter: string]: ChangedFile['status'] } = {
  A: 'added',
  C: 'copied',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  T: 'type_changed',
};

/**
 * Parses `diff-tree -z --name-status`: a letter, then one path, or two for a renamed or copied
 * file.
 */
export function parseNameStatus(output: Buffer): ChangedFile[] {
  const parts = splitZero(output);
  const files: ChangedFile[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const status = statusOf[parts[at]?.[0] ?? ''];
    const first = shown(parts[at + 1] ?? '');
    if (status === undefined) continue;
    if (status !== 'renamed' && status !== 'copied') {
      files.push({ status, path: first, oldPath: null });
      continue;
    }
    at += 1;
    files.push({ status, path: shown(parts[at + 1] ?? ''), oldPath: first });
  }
  return files;
}

export async function changedFiles(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
): Promise<GitResult<readonly ChangedFile[]>> {
  for (const sha of [from, to]) {
    if (!isSha(sha)) return refuse('unknown_ref', `"${sha}" must be a full commit id.`);
  }
  const args = ['diff-tree', '-r', '-z', '-M', '--name-status', '--no-ext-diff', from, to];
  const output = await context.git(args);
  if (output.code !== 0) return err(failureOf(output, `compare ${from} with ${to}`));
  return ok(parseNameStatus(output.stdout));
}

export async function namesAtRoot(
  context: RepositoryContext,
  commit: Sha,
): Promise<GitResult<readonly string[]>> {
  if (!isSha(commit)) return refuse('unknown_ref', `"${commit}" must be a full commit id.`);
  const listed = await context.git(['ls-tree', '-z', '--name-only', '--full-tree', commit]);
  if (listed.code !== 0) return err(failureOf(listed, `list the files of ${commit}`));
  return ok(splitZero(listed.stdout));
}

/** Returns null if no file has this name. Folders and submodules do not count. */
export async function fileAt(
  context: RepositoryContext,
  commit: Sha,
  path: string,
  bytesMax: number,
): Promise<GitResult<FileAtCommit | null>> {
  if (!isSha(commit)) return refuse('unknown_ref', `"${commit}" must be a full commit id.`);
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '-l', commit, '--', path];
  const listed = await context.git(args);
  if (listed.code !== 0) return err(failureOf(listed, `look for ${path} in ${commit}`));
  const found = /^\d+ blob ([0-9a-f]+) +(\d+)\t/u.exec(splitZero(listed.stdout)[0] ?? '');
  const blob = found?.[1];
  if (blob === undefined) return ok(null);
  const size = Number(found?.[2]);
  if (size > bytesMax) return ok({ size, bytes: null });
  const output = await context.git(['cat-file', 'blob', blob]);
  if (output.code !== 0) return err(failureOf(output, `read ${path} at ${commit}`));
  return ok({ size, bytes: output.stdout });
}

/** A commit on top of the given one with the tree of its first parent, on no branch. */
export async function makeRevert(
  context: RepositoryContext,
  request: { readonly commit: Sha; readonly subject: string; readonly trailers: readonly string[] },
): Promise<GitResult<Sha>> {
  const { commit, subject, trailers } = request;
  if (!isSha(commit)) return refuse('unknown_ref', `"${commit}" must be a full commit id.`);
  const [before] = (await context.objects.commit(commit))?.parents ?? [];
  if (before === undefined) return refuse('unknown_ref', `Commit ${commit} has no parent here.`);
  const found = await readTree(context, before);
  if (!found.ok) return found;
  const message = commitMessage(subject, trailers);
  const reverted = { tree: found.value, parents: [commit], message };
  return makeCommit(context, reverted, `take back ${commit}`);
}
