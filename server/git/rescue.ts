// Keeps what would otherwise be lost: a worktree's uncommitted state as a commit, and commits no branch holds, under a ref.

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../core/failure.ts';
import type { RepositoryContext, RunOptions } from './context.ts';
import { failureOf } from './failures.ts';
import { isSha } from './loose-objects.ts';
import { shown, zeroEnded, type PathBytes } from './paths.ts';
import type { GitResult, Sha } from './port.ts';
import { updateRefs } from './refs.ts';
import { isNestedRepository, type ParsedStatus } from './status-format.ts';
import { exists, factsOfAll } from './small-files.ts';
import { type LinkedWorktree } from './worktree-link.ts';

export interface RescueRequest {
  readonly worktree: LinkedWorktree;
  readonly status: ParsedStatus;
  readonly label: string;
  /** Ignored files to be kept as well. */
  readonly ignored?: readonly PathBytes[];
}

export interface Rescued {
  /** Null: there was nothing to keep. */
  readonly ref: string | null;
  /** Too large, or repositories of their own: not in the commit. */
  readonly skipped: readonly string[];
}

const maxFileBytes = 256 * 1024 * 1024;
const maxNamedSkips = 100;
const rescueRoot = 'refs/drover/rescue';

/** The ref under which a commit is kept; the same commit always gets the same one. */
export function rescueRefFor(label: string, sha: Sha): string {
  const parts = label
    .split('/')
    .map((part) => part.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/\.\.+|^\.+|\.+$|\.lock$/g, '-'))
    .filter((part) => part !== '');
  return [rescueRoot, ...(parts.length > 0 ? parts : ['unnamed']), sha.slice(0, 12)].join('/');
}

/** The task and attempt in the name of one of our branches, else the name itself. */
export function labelOfBranch(branch: string): string {
  return branch.replace(/^refs\/heads\//, '').replace(/^drover\//, '');
}

/** Keeps a commit that may be on no branch. Nothing happens when some ref holds it already. */
export async function keepCommit(
  context: RepositoryContext,
  sha: Sha,
  label: string,
): Promise<GitResult<string | null>> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${sha}`];
  const holders = await context.git(args);
  if (holders.code === 0 && holders.stdout.length > 0) return ok(null);
  const ref = rescueRefFor(label, sha);
  const kept = await updateRefs(context, [{ ref, next: sha, old: null }], 'drover: rescue');
  return kept.ok ? ok(ref) : kept;
}

/** Keeps the state of a worktree: HEAD, index, changed and untracked files. Neither worktree nor index is touched. */
export async function rescueState(
  context: RepositoryContext,
  request: RescueRequest,
): Promise<GitResult<Rescued>> {
  const { worktree, status, label } = request;
  const entries = status.entries.filter((entry) => entry.kind !== 'ignored');
  if (entries.length === 0 && (request.ignored ?? []).length === 0) {
    if (status.branch !== null || status.head === null) return ok({ ref: null, skipped: [] });
    const kept = await keepCommit(context, status.head, label);
    return kept.ok ? ok({ ref: kept.value, skipped: [] }) : kept;
  }
  const nested = entries.filter(isNestedRepository).map((entry) => entry.path);
  const candidates = entries
    .filter((entry) => !isNestedRepository(entry))
    .map((entry) => entry.path);
  const measured = await measure(worktree.path, [...candidates, ...(request.ignored ?? [])]);
  const skipped = [...nested, ...measured.tooLarge].map(shown);
  if (measured.paths.length === 0) return ok({ ref: null, skipped });
  const staged = entries.some(
    (entry) => entry.kind === 'changed' && entry.index !== '.' && entry.worktree !== '.',
  );
  const unmerged = entries.some((entry) => entry.kind === 'unmerged');
  const index = join(worktree.gitDir, `drover-rescue-${randomUUID()}.index`);
  try {
    const commit = await commitState(context, {
      worktree,
      status,
      index,
      paths: measured.paths,
      withIndex: staged && !unmerged,
      newestMs: measured.newestMs,
      message: messageFor(worktree, status, label, skipped),
    });
    if (!commit.ok) return commit;
    const ref = rescueRefFor(label, commit.value);
    const kept = await updateRefs(
      context,
      [{ ref, next: commit.value, old: null }],
      'drover: rescue',
    );
    return kept.ok ? ok({ ref, skipped }) : kept;
  } finally {
    await rm(index, { force: true });
  }
}

interface Measured {
  readonly paths: readonly PathBytes[];
  readonly tooLarge: readonly PathBytes[];
  readonly newestMs: number;
}

async function measure(root: string, paths: readonly PathBytes[]): Promise<Measured> {
  const facts = await factsOfAll(root, paths);
  const tooLarge = facts.filter(({ stats }) => stats !== null && stats.size > maxFileBytes);
  const times = facts.map(({ stats }) => stats?.mtimeMs ?? 0);
  return {
    paths: facts.filter((fact) => !tooLarge.includes(fact)).map(({ path }) => path),
    tooLarge: tooLarge.map(({ path }) => path),
    newestMs: times.reduce((newest, time) => Math.max(newest, time), 0),
  };
}

interface StateCommit {
  readonly worktree: LinkedWorktree;
  readonly status: ParsedStatus;
  /** A private index file. */
  readonly index: string;
  readonly paths: readonly PathBytes[];
  /** What is staged differs from what is in the files: it becomes a second parent. */
  readonly withIndex: boolean;
  readonly newestMs: number;
  readonly message: string;
}

async function commitState(
  context: RepositoryContext,
  request: StateCommit,
): Promise<GitResult<Sha>> {
  const { worktree, status, index } = request;
  const inIndex: RunOptions = { at: worktree.path, env: { GIT_INDEX_FILE: index } };
  const ownIndex = join(worktree.gitDir, 'index');
  if (exists(ownIndex)) {
    await copyIndex(ownIndex, index);
  } else if (status.head !== null) {
    const read = await context.git(['read-tree', status.head], inIndex);
    if (read.code !== 0) return err(failureOf(read, `read the last commit of ${worktree.path}`));
  }
  // The time of the newest change, so that rescuing the same state twice makes the same commit.
  const seconds = Math.floor((request.newestMs || Date.now()) / 1000);
  const dates = { GIT_AUTHOR_DATE: `${seconds} +0000`, GIT_COMMITTER_DATE: `${seconds} +0000` };
  const parents = status.head === null ? [] : [status.head];
  const commitIndex = async (message: string): Promise<GitResult<Sha>> => {
    const tree = await readSha(context, ['write-tree'], inIndex);
    if (!tree.ok) return tree;
    const parentArguments = parents.flatMap((parent) => ['-p', parent]);
    return readSha(context, ['commit-tree', tree.value, ...parentArguments, '-F', '-'], {
      input: message,
      env: { ...context.identity(), ...dates },
    });
  };
  if (request.withIndex) {
    const stagedCommit = await commitIndex('drover: what was staged\n');
    if (!stagedCommit.ok) return stagedCommit;
    parents.push(stagedCommit.value);
  }
  const added = await context.git(
    ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'],
    { ...inIndex, input: zeroEnded(request.paths) },
  );
  if (added.code !== 0) return err(failureOf(added, `keep the files of ${worktree.path}`));
  return commitIndex(request.message);
}

/**
 * With its time: git compares it with the times of files to tell which of them may have changed unseen, within one
 * tick of the clock. A copy of later time would hide such a change, an earlier one only costs a closer look.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const { atimeMs, mtimeMs } = await stat(from);
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await utimes(to, atimeMs / 1000, Math.floor(mtimeMs) / 1000);
}

async function readSha(
  context: RepositoryContext,
  args: readonly string[],
  options: RunOptions,
): Promise<GitResult<Sha>> {
  const output = await context.git(args, options);
  const sha = output.stdout.toString('utf8').trim();
  return output.code === 0 && isSha(sha)
    ? ok(sha)
    : err(failureOf(output, 'rescue uncommitted work'));
}

function messageFor(
  worktree: LinkedWorktree,
  status: ParsedStatus,
  label: string,
  skipped: readonly string[],
): string {
  const lines = [
    `drover: uncommitted work of ${label}`,
    '',
    `Worktree: ${worktree.path}`,
    `Branch: ${status.branch ?? '(detached)'}`,
  ];
  if (skipped.length > 0) {
    lines.push('', 'Not in this commit (too large, or repositories of their own):');
    lines.push(...skipped.slice(0, maxNamedSkips).map((path) => `  ${path}`));
  }
  return `${lines.join('\n')}\n`;
}
