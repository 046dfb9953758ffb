// Keeps ignored files that an attempt wrote in a snapshot beside its commit, because they may be
// its result.

import { makeCommit } from '../ask/make-commit.ts';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { type PathBytes, shown, splitZero } from '../../files/path-bytes.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { failureOf, refuse } from '../failures.ts';
import { editedTree } from '../ask/edited-tree.ts';
import type { ParsedStatus } from '../ask/status-format.ts';
import { commitMessage } from '../refs/messages.ts';
import type { Sha } from '../sha.ts';
import type { IgnoredResults, WithIgnoredRequest } from '../slot-port.ts';
import { keepState } from './snapshot.ts';
import { secretsAmong } from './held-contents.ts';
import { ignoredByAttempt } from './work-start.ts';
import { labelOfBranch } from './work-chain.ts';

/** Returns null if the attempt wrote none. `tip`: the commit that they belong to. */
export async function keepIgnored(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  status: ParsedStatus,
  { branch, base, tip }: { readonly branch: string; readonly base: Sha; readonly tip: Sha },
): Promise<GitResult<IgnoredResults | null>> {
  const written = await ignoredByAttempt(context, worktree, status, base);
  if (!written.ok) return written;
  const { paths, beyond } = written.value;
  if (paths.length === 0) return ok(null);
  const files = paths.map(shown);
  if (beyond !== null) return ok({ files, ref: null, commit: null, unkept: beyond });
  const kept = await keepState(context, {
    worktree,
    status: { ...status, head: tip, branch, entries: [], unreadable: [] },
    label: `${labelOfBranch(branch)}/ignored`,
    reason: 'ignored',
    author: 'agent',
    ignored: paths,
  });
  if (!kept.ok) return kept;
  const { ref, commit } = kept.value.snapshot;
  return ok({ files, ref, commit, unkept: null });
}

/** A commit on `commit` that adds the ignored files of a snapshot which a person wants to land. */
export async function withIgnored(
  context: RepositoryContext,
  request: WithIgnoredRequest,
): Promise<GitResult<Sha>> {
  const { commit, snapshot, maxFileSize, subject, trailers } = request;
  const files = await filesOf(context, request);
  if (!files.ok) return files;
  const unfit = await unfitFor(context, commit, files.value, snapshot, maxFileSize);
  if (!unfit.ok) return unfit;
  if (unfit.value.length > 0) {
    const message = `${unfit.value.join(', ')} must not land: a secret, or larger than max_commit_file_size. Approve without the ignored files, or send the work back.`;
    return refuse('failed', message);
  }
  const entries = files.value.map(({ mode, sha, path }) => `${mode} blob ${sha}\t${path}`);
  const edited = await editedTree(context, commit, { remove: [], entries });
  if (!edited.ok) return edited;
  const message = commitMessage(subject, trailers);
  const added = { tree: edited.value, parents: [commit], message };
  return makeCommit(context, added, 'commit the ignored files');
}

interface KeptFile {
  readonly mode: string;
  readonly sha: Sha;
  readonly size: number;
  readonly path: PathBytes;
}

async function filesOf(
  context: RepositoryContext,
  { snapshot, paths }: WithIgnoredRequest,
): Promise<GitResult<readonly KeptFile[]>> {
  const listed = await context.git(['ls-tree', '-r', '-l', '-z', snapshot]);
  if (listed.code !== 0) return err(failureOf(listed, `list the files of ${snapshot}`));
  const wanted = new Set(paths);
  const files = splitZero(listed.stdout).flatMap((line) => {
    const tab = line.indexOf('\t');
    const path = line.slice(tab + 1);
    const [mode = '', kind, sha = '', size] = line.slice(0, tab).split(/ +/u);
    const isWanted = kind === 'blob' && wanted.has(shown(path));
    return isWanted ? [{ mode, sha, size: Number(size), path }] : [];
  });
  if (files.length === wanted.size) return ok(files);
  return refuse('unknown_ref', `Not all of ${paths.join(', ')} are in the snapshot ${snapshot}.`);
}

async function unfitFor(
  context: RepositoryContext,
  base: Sha,
  files: readonly KeptFile[],
  snapshot: Sha,
  maxFileSize: number,
): Promise<GitResult<readonly string[]>> {
  const contents = new Map(files.map(({ path }) => [path, `${snapshot}:${path}`]));
  const secrets = await secretsAmong(context, base, contents, []);
  if (!secrets.ok) return secrets;
  const unfit = files.filter(
    ({ path, size }) =>
      size > maxFileSize || context.isHeldName(shown(path)) || secrets.value.found.has(path),
  );
  return ok(unfit.map(({ path }) => shown(path)));
}
