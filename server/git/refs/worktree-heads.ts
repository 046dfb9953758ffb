// Reads from git's files which branch each worktree has checked out, and which operation is in
// progress.

import { headRoot } from '../../core/work/ref-names.ts';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { finalRef } from './refs.ts';
import { parseWorktreeList } from './worktree-list-format.ts';
import { listNames, readText } from '../../files/small-files.ts';
import { isSha } from '../sha.ts';
import { type LinkedWorktree, listWorktrees } from './worktree-link.ts';

export type Operation = 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect';

export interface UnfinishedOperation {
  readonly kind: Operation;
  /** Full ref of the branch that the operation will move when it ends, or null. */
  readonly branch: string | null;
}

export interface WorktreeHead extends LinkedWorktree {
  /** Full ref; null if HEAD is detached. */
  readonly branch: string | null;
  readonly detachedAt: string | null;
  readonly operation: UnfinishedOperation | null;
}

const operationFiles: readonly (readonly [string, Operation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

export function unfinishedOperation(gitDir: string): UnfinishedOperation | null {
  const names = new Set(listNames(gitDir));
  for (const [name, kind] of operationFiles) {
    if (!names.has(name)) continue;
    return { kind, branch: branchOfOperation(gitDir, name) };
  }
  return null;
}

/**
 * During a rebase or a bisect HEAD is detached, and only the operation's own files name its branch.
 */
function branchOfOperation(gitDir: string, name: string): string | null {
  if (name === 'rebase-merge' || name === 'rebase-apply') {
    const head = readText(join(gitDir, name, 'head-name'))?.trim();
    return head?.startsWith('refs/') ? head : null;
  }
  if (name === 'BISECT_LOG') {
    const start = readText(join(gitDir, 'BISECT_START'))?.trim();
    return start && !isSha(start) ? `${headRoot}${start}` : null;
  }
  return null;
}

export function readHead(gitDir: string): Pick<WorktreeHead, 'branch' | 'detachedAt'> {
  const content = readText(join(gitDir, 'HEAD'))?.trim() ?? '';
  if (content.startsWith('ref: ')) return { branch: content.slice(5).trim(), detachedAt: null };
  return { branch: null, detachedAt: isSha(content) ? content : null };
}

/**
 * HEAD of one worktree, whose folder may not exist. If refs are stored in tables, its file is a
 * placeholder.
 */
export async function readWorktreeHead(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<Pick<WorktreeHead, 'branch' | 'detachedAt'>> {
  if (context.refsAreFiles) return readHead(worktree.gitDir);
  const inside = [`--git-dir=${worktree.gitDir}`];
  const branch = await context.git([...inside, 'symbolic-ref', '-q', 'HEAD']);
  if (branch.code === 0) return { branch: branch.stdout.toString('utf8').trim(), detachedAt: null };
  const head = await context.git([...inside, 'rev-parse', '--verify', '-q', 'HEAD']);
  const sha = head.stdout.toString('utf8').trim();
  return { branch: null, detachedAt: isSha(sha) ? sha : null };
}

/** The main checkout first, then all linked worktrees. */
export async function worktreeHeads(context: RepositoryContext): Promise<WorktreeHead[]> {
  const listed = context.refsAreFiles ? null : await listedHeads(context);
  return listWorktrees(context).map((worktree) => {
    const head = listed?.get(worktree.path) ?? readHead(worktree.gitDir);
    return { ...worktree, ...head, operation: unfinishedOperation(worktree.gitDir) };
  });
}

/** The worktrees that a move of the branch `ref` (after following symbolic refs) would affect. */
export interface BranchHolders {
  /** Worktrees that have it checked out, under any name. */
  readonly owners: readonly WorktreeHead[];
  /** A worktree whose rebase or bisect will move it at its end. */
  readonly busy: WorktreeHead | null;
}

export async function branchHolders(
  context: RepositoryContext,
  ref: string,
): Promise<BranchHolders> {
  const owners: WorktreeHead[] = [];
  let busy: WorktreeHead | null = null;
  const leadsHere = async (name: string | null | undefined): Promise<boolean> =>
    typeof name === 'string' && (name === ref || (await finalRef(context, name)) === ref);
  for (const head of await worktreeHeads(context)) {
    if (await leadsHere(head.branch)) owners.push(head);
    if (busy === null && (await leadsHere(head.operation?.branch))) busy = head;
  }
  return { owners, busy };
}

/** If refs are stored in tables, HEAD files are placeholders, so git is asked. */
async function listedHeads(
  context: RepositoryContext,
): Promise<Map<string, Pick<WorktreeHead, 'branch' | 'detachedAt'>>> {
  const output = await context.git(['worktree', 'list', '--porcelain', '-z']);
  return new Map(
    parseWorktreeList(output.stdout).map((entry) => [
      entry.path,
      { branch: entry.branch, detachedAt: entry.branch === null ? entry.head : null },
    ]),
  );
}
