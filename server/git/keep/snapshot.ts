// Takes a snapshot of a worktree: HEAD, index and every file that git does not ignore, without
// changing any of them.

import { droverHeadRoot } from '../../core/work/ref-names.ts';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext, RunOptions } from '../context.ts';
import { failureOf, printedId } from '../failures.ts';
import { intoIndex } from '../ask/into-index.ts';
import { ownWorktree } from './own-worktree.ts';
import { shown, type PathBytes } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import type {
  Snapshot,
  SnapshotAuthor,
  SnapshotReason,
  SnapshotRequest,
} from '../snapshot-port.ts';
import { branchRef } from '../refs/refs.ts';
import { keepStashes, listedStashes } from './shared-leavings.ts';
import { waitForStaleLocks } from '../refs/stale-locks.ts';
import { factsOfAll, readText } from '../../files/small-files.ts';
import { keepDropped } from './dropped-commits.ts';
import { copyIndex, ownIndexFile } from '../ask/own-index.ts';
import { slotStatus } from './setup-note.ts';
import { hasStarted, ignoredByAttempt } from './work-start.ts';
import { isNestedRepository, type ParsedStatus, type StatusEntry } from '../ask/status-format.ts';
import { appendSnapshot, type WorkState } from './work-chain.ts';
import { stampOfIndex, type LinkedWorktree } from '../refs/worktree-link.ts';
import { isSha, type Sha } from '../sha.ts';

/** The work of a running confined program in its own git folder. */
export interface LentWork {
  /** Imports the work. */
  readonly take: (context: RepositoryContext, worktree: LinkedWorktree) => Promise<GitResult<void>>;
  /** Commits that only the program's own folder contains. */
  readonly commits: (
    context: RepositoryContext,
    worktree: LinkedWorktree,
    head: Sha | null,
  ) => Promise<readonly Sha[]>;
}

export interface StateRequest {
  readonly worktree: LinkedWorktree;
  readonly status: ParsedStatus;
  readonly label: string;
  /** Absent = the ref of the label. */
  readonly ref?: string;
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  /** Ignored files to keep as well. */
  readonly ignored?: readonly PathBytes[];
  /** Further commits to keep with the snapshot. */
  readonly beside?: readonly Sha[];
  /** Returns the index of the kept files to the caller, who must remove its file. */
  readonly holdIndex?: boolean;
}

/**
 * An index with exactly a snapshot's content and the times at which each file was read, so that it
 * reveals later changes.
 */
export interface HeldIndex {
  readonly file: string;
  readonly tree: Sha;
  /** Identifies the worktree's own index when it was copied. The same for the same file. */
  readonly ownIndex: string;
}

export interface KeptState {
  readonly snapshot: Snapshot;
  /** Files that are too large or unreadable, and nested repositories, which the commit omits. */
  readonly skipped: readonly string[];
  /** Null if it was not requested, or if only a commit existed. */
  readonly index: HeldIndex | null;
}

const maxFileBytes = 256 * 1024 * 1024;

/**
 * Takes a snapshot of an attempt's worktree, as the port says. Returns null if it contains only the
 * base or, for a periodic snapshot of a permanent clone, only the attempt's own branch.
 */
export async function takeSnapshot(
  context: RepositoryContext,
  request: SnapshotRequest,
  lent: LentWork,
): Promise<GitResult<Snapshot | null>> {
  const worktree = await ownWorktree(context, request.path);
  if (!worktree.ok) return worktree;
  // The agent is dead, and its attempt may be resumed in the same worktree.
  if (request.reason === 'death') await waitForStaleLocks(worktree.value, context.staleLockMs);
  if (request.reason !== 'interval' && request.author === 'agent') {
    const stashes = await keepStashes(context, `drover/${request.label}`);
    if (!stashes.ok) return stashes;
  }
  const imported = await lent.take(context, worktree.value);
  if (!imported.ok) return imported;
  const isPeriodic = request.reason === 'interval';
  const ignoredToo = !isPeriodic && hasStarted(worktree.value);
  const status = await slotStatus(context, worktree.value, { ignored: ignoredToo });
  if (!status.ok) return status;
  const written = isPeriodic
    ? ok({ paths: [], beyond: null })
    : await ignoredByAttempt(context, worktree.value, status.value, request.base);
  if (!written.ok) return written;
  const ignored = written.value.beyond === null ? written.value.paths : [];
  const { head, branch } = status.value;
  if (!isPeriodic) {
    const dropped = await keepDropped(context, worktree.value, head, request.label);
    if (!dropped.ok) return dropped;
  }
  const forOthers = request.forOthers === true;
  const beside = [
    ...(await lent.commits(context, worktree.value, head)),
    ...(forOthers ? listedStashes(context, `drover/${request.label}`) : []),
  ];
  const others = alongside(worktree.value).length + beside.length + ignored.length;
  if (!isDirty(status.value) && others === 0) {
    const isBase = head === null || head === request.base;
    const isOnBranch = branch !== null && branchRef(branch) === `${droverHeadRoot}${request.label}`;
    if (isBase || (isOnBranch && isPeriodic && !forOthers)) return ok(null);
  }
  const kept = await keepState(context, {
    worktree: worktree.value,
    status: status.value,
    label: request.label,
    reason: request.reason,
    author: request.author,
    beside,
    ignored,
  });
  return kept.ok ? ok(kept.value.snapshot) : kept;
}

export function isDirty(status: ParsedStatus): boolean {
  return status.unreadable.length > 0 || status.entries.some((entry) => entry.kind !== 'ignored');
}

/** Stores any state as a snapshot. */
export async function keepState(
  context: RepositoryContext,
  request: StateRequest,
): Promise<GitResult<KeptState>> {
  const { worktree, status } = request;
  const entries = status.entries.filter((entry) => entry.kind !== 'ignored');
  const nested = entries.filter(isNestedRepository).map((entry) => entry.path);
  const candidates = entries.filter((entry) => !isNestedRepository(entry));
  const paths = [...candidates.map((entry) => entry.path), ...(request.ignored ?? [])];
  const measured = await measure(worktree.path, paths);
  const skipped = [...[...nested, ...measured.tooLarge].map(shown), ...status.unreadable];
  const state = await storeState(context, request, candidates, measured.paths);
  if (!state.ok) return state;
  const { index, ...work } = state.value;
  const appended = await appendSnapshot(context, work, {
    label: request.label,
    ref: request.ref,
    reason: request.reason,
    author: request.author,
    worktree: worktree.path,
    skipped,
    alongside: [...new Set([...alongside(worktree), ...(request.beside ?? [])])],
  });
  if (appended.ok) return ok({ snapshot: appended.value, skipped, index });
  if (index !== null) await dropIndex(index);
  return appended;
}

interface Measured {
  readonly paths: readonly PathBytes[];
  readonly tooLarge: readonly PathBytes[];
}

async function measure(root: string, paths: readonly PathBytes[]): Promise<Measured> {
  const facts = await factsOfAll(root, paths);
  const tooLarge = facts.filter(({ stats }) => stats !== null && stats.size > maxFileBytes);
  return {
    paths: facts.filter((fact) => !tooLarge.includes(fact)).map(({ path }) => path),
    tooLarge: tooLarge.map(({ path }) => path),
  };
}

/** Commits that only an unfinished operation refers to: its other side, and its automatic stash. */
function alongside(worktree: LinkedWorktree): Sha[] {
  const found: Sha[] = [];
  for (const name of [
    'MERGE_HEAD',
    'CHERRY_PICK_HEAD',
    'MERGE_AUTOSTASH',
    'rebase-merge/autostash',
    'rebase-apply/autostash',
    'rebase-merge/orig-head',
    'rebase-apply/orig-head',
  ]) {
    const lines = readText(join(worktree.gitDir, name))?.split('\n') ?? [];
    found.push(...lines.map((line) => line.trim()).filter(isSha));
  }
  return [...new Set(found)];
}

/** Writes the state's trees through a separate index. */
async function storeState(
  context: RepositoryContext,
  { worktree, status, holdIndex = false }: StateRequest,
  entries: readonly StatusEntry[],
  paths: readonly PathBytes[],
): Promise<GitResult<WorkState & { readonly index: HeldIndex | null }>> {
  const head = status.head;
  const branch = status.branch === null ? null : branchRef(status.branch);
  if (paths.length === 0 && entries.length === 0 && head !== null) {
    const tree = (await context.objects.commit(head))?.tree;
    if (tree !== undefined) return ok({ tree, head, branch, indexTree: null, index: null });
  }
  const isUnmerged = entries.some((entry) => entry.kind === 'unmerged');
  const isStaged = entries.some((entry) => entry.kind === 'changed' && entry.index !== '.');
  const index = await ownIndexFile(context, worktree);
  const inIndex: RunOptions = {
    at: worktree.path,
    // Objects that only a confined program's folder contains are written here too, or refused.
    env: { GIT_INDEX_FILE: index, GIT_ALTERNATE_OBJECT_DIRECTORIES: '' },
  };
  const ownIndex = stampOfIndex(worktree);
  let isHeld = false;
  try {
    const copied = await beginIndex(context, worktree, head, index, inIndex);
    if (!copied.ok) return copied;
    let indexTree: Sha | null = null;
    if (isStaged && !isUnmerged) {
      const staged = await writeTree(context, inIndex);
      if (!staged.ok) return staged;
      indexTree = staged.value;
    }
    const added = await intoIndex(context, worktree.path, paths, {
      ...inIndex,
      // Without a refresh, a file that was rewritten with the same content would count as changed.
      flags: holdIndex ? ['-q', '--unmerged', '--refresh'] : [],
    });
    if (added.code !== 0) return err(failureOf(added, `keep the files of ${worktree.path}`));
    const tree = await writeTree(context, inIndex);
    if (!tree.ok) return tree;
    isHeld = holdIndex;
    const held = isHeld ? { file: index, tree: tree.value, ownIndex } : null;
    return ok({ tree: tree.value, head, branch, indexTree, index: held });
  } finally {
    if (!isHeld) await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

export async function dropIndex({ file }: HeldIndex): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}.lock`, { force: true });
}

async function beginIndex(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  head: Sha | null,
  index: string,
  inIndex: RunOptions,
): Promise<GitResult<void>> {
  if (await copyIndex(join(worktree.gitDir, 'index'), index)) return ok(undefined);
  if (head !== null) {
    const read = await context.git(['read-tree', head], inIndex);
    if (read.code !== 0) return err(failureOf(read, `read the last commit of ${worktree.path}`));
  }
  return ok(undefined);
}

async function writeTree(context: RepositoryContext, inIndex: RunOptions): Promise<GitResult<Sha>> {
  return printedId(await context.git(['write-tree'], inIndex), 'make a snapshot');
}
