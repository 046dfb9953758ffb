// A follow that was interrupted: its git was killed together with the backend, in a checkout of the
// user. Its locks still exist, and files that it had started to write. Drover clears only what
// appeared after the mark of that follow, only when no git process runs there any more, and a file
// only if its content is (the start of) what was landing. A branch that has moved already gets the
// index that was finished for it.

import { rmSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { absoluteBytes, bytesOf, type PathBytes, splitZero } from '../files/paths.ts';
import { factsOf, readPlain, readText } from '../files/small-files.ts';
import { isSha, type Sha } from '../sha.ts';
import { isAncestor } from '../read/ancestry.ts';
import { branchHolders } from '../refs/worktree-heads.ts';
import { gitProcesses, isBelow, isInside } from './git-processes.ts';

export interface FollowStep {
  readonly from: Sha | null;
  readonly to: Sha;
}

interface Owner {
  readonly path: string;
  readonly gitDir: string;
}

/**
 * Records on disk that the branch is about to follow; the record is left behind if this process
 * dies during it.
 */
export function followMark(commonDir: string, ref: string): string {
  return join(commonDir, `drover-following-${encodeURIComponent(ref)}`);
}

/** Where a finished index is for a moment, before it takes the old one's place. */
export function placedIndex(index: string): string {
  return `${index}.drover`;
}

/**
 * Runs the body with the mark in place. Without one (a full disk), a person must clean up an
 * interrupted follow.
 */
export async function markingFollow<T>(
  context: RepositoryContext,
  ref: string,
  step: FollowStep,
  body: () => Promise<T>,
): Promise<T> {
  const mark = followMark(context.commonDir, ref);
  try {
    writeFileSync(mark, `${step.from ?? ''} ${step.to}\n`);
  } catch {
    return body();
  }
  try {
    return await body();
  } finally {
    rmSync(mark, { force: true });
  }
}

/**
 * Longest duration of one follow, and how long to wait after an interrupted one if it is unknown
 * whether its git still runs.
 */
const followMaxMs = 10 * 60_000;
const restMs = 2 * 60_000;
/**
 * File times are coarse: a lock may seem to be a little older than the mark that came before it.
 */
const coarseMs = 20;

/**
 * Clears what an earlier follow of this branch has left behind when its process was killed. The
 * path of a checkout where a git still runs, and nothing is cleared; else null.
 */
export async function clearCutFollow(
  context: RepositoryContext,
  ref: string,
  current: Sha | null,
): Promise<string | null> {
  const mark = followMark(context.commonDir, ref);
  const begun = factsOf(mark);
  if (begun === null) return null;
  const owner = (await branchHolders(context, ref)).owners[0] ?? null;
  if (isGitAtWork(context, owner, begun.mtimeMs)) return owner?.path ?? context.root;
  const isDuring = (timeMs = Number.NaN): boolean =>
    timeMs - begun.mtimeMs >= -coarseMs && timeMs - begun.mtimeMs <= followMaxMs;
  const isOurs = (file: string | Buffer): boolean => isDuring(factsOf(file)?.mtimeMs);
  const [from = '', to = ''] = (readText(mark) ?? '').trim().split(' ');
  const step = isSha(from) && isSha(to) ? { from, to } : null;
  const hasMoved =
    step !== null && current !== null && (await isAncestor(context, step.to, current));
  const isFinished =
    owner !== null && hasMoved && (await finishIndex(context, owner, step, isOurs));
  const names = [
    placedIndex('index'),
    'index.lock',
    'index.lock.lock',
    'HEAD.lock',
    'ORIG_HEAD.lock',
  ];
  const locks = owner === null ? [] : names.map((name) => join(owner.gitDir, name));
  for (const lock of [...locks, join(context.commonDir, `${ref}.lock`)]) {
    if (isOurs(lock)) await rm(lock, { force: true });
  }
  if (owner !== null && isDuring(copiedAtMs(owner)))
    await rm(join(owner.gitDir, 'index.lock'), { force: true });
  if (owner !== null && step !== null && !isFinished) {
    await undoFiles(context, owner.path, step, isOurs);
    if (hasMoved) await redoFiles(context, owner.path, step.from, current);
  }
  await rm(mark, { force: true });
  return null;
}

/** When a lock was made that is a copy of the index: Drover gives it the index's time. */
function copiedAtMs({ gitDir }: Owner): number | undefined {
  const [index, lock] = ['index', 'index.lock'].map((name) => factsOf(join(gitDir, name)));
  return index?.mtimeMs === lock?.mtimeMs ? lock?.ctimeMs : undefined;
}

/** Git writes the new index before it moves the branch, and Drover had it do that in the lock. */
async function finishIndex(
  context: RepositoryContext,
  owner: Owner,
  { from, to }: { readonly from: Sha; readonly to: Sha },
  isOurs: (file: string) => boolean,
): Promise<boolean> {
  const lock = join(owner.gitDir, 'index.lock');
  if (!isOurs(lock)) return false;
  const named = ['-z', '--name-only', '--no-renames'];
  const changed = await context.git(['diff-tree', '-r', ...named, from, to]);
  const differing = await context.git(['diff-index', '--cached', ...named, to], {
    at: owner.path,
    env: { GIT_INDEX_FILE: lock },
  });
  if (changed.code !== 0 || differing.code !== 0) return false;
  const lacking = new Set(splitZero(differing.stdout));
  if (splitZero(changed.stdout).some((path) => lacking.has(path))) return false;
  await rename(lock, join(owner.gitDir, 'index'));
  // Where both are one file, the lock stays, and goes with the others.
  return true;
}

/** Maximum number of half-written files to check; more are left to a person. */
const filesMax = 2_000;

/**
 * Reverts files that were written before the index recorded them: the next follow writes them
 * again.
 */
async function undoFiles(
  context: RepositoryContext,
  at: string,
  step: { readonly from: Sha; readonly to: Sha },
  isOurs: (file: Buffer) => boolean,
): Promise<void> {
  const begun = (await changesOf(context, step)).filter(({ path }) =>
    isOurs(absoluteBytes(at, path)),
  );
  if (begun.length > filesMax) return;
  const known = await entriesOf(context, at);
  for (const { path, before, after } of begun) {
    const file = absoluteBytes(at, path);
    if ((known.get(path) ?? null) !== before || !(await isBeginningOf(context, at, path, after))) {
      continue;
    }
    await rm(file, { force: true });
    if (before !== null) {
      const input = Buffer.concat([bytesOf(path), Buffer.from([0])]);
      await context.git(['checkout-index', '-f', '-z', '--stdin'], { at, input });
    }
  }
}

/** Changes nothing where the index is as it should be. */
async function redoFiles(
  context: RepositoryContext,
  at: string,
  from: Sha,
  to: Sha,
): Promise<void> {
  // The other command goes by the times of files, which have been written again.
  await context.git(['update-index', '-q', '--refresh'], { at });
  await context.git(['read-tree', '-m', '-u', from, to], { at });
}

interface Change {
  readonly path: PathBytes;
  /** Blob before the follow; null = there was none. */
  readonly before: Sha | null;
  readonly after: Sha;
}

/** Plain files that the follow adds or changes. */
async function changesOf(
  context: RepositoryContext,
  { from, to }: { readonly from: Sha; readonly to: Sha },
): Promise<Change[]> {
  const output = await context.git(['diff-tree', '-r', '-z', '--no-renames', from, to]);
  if (output.code !== 0) return [];
  const parts = splitZero(output.stdout);
  const changes: Change[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [oldMode = '', newMode = '', before = '', after = ''] = (parts[at] ?? '').split(' ');
    const isFile =
      newMode.startsWith('100') && (oldMode === ':000000' || oldMode.startsWith(':100'));
    if (!isFile) continue;
    const isNew = oldMode === ':000000';
    changes.push({ path: parts[at + 1] ?? '', before: isNew ? null : before, after });
  }
  return changes;
}

async function entriesOf(
  context: RepositoryContext,
  at: string,
): Promise<ReadonlyMap<PathBytes, Sha>> {
  const output = await context.git(['ls-files', '-s', '-z'], { at });
  const entries = new Map<PathBytes, Sha>();
  for (const line of splitZero(output.stdout)) {
    const tab = line.indexOf('\t');
    entries.set(line.slice(tab + 1), line.slice(0, tab).split(' ')[1] ?? '');
  }
  return entries;
}

async function isBeginningOf(
  context: RepositoryContext,
  at: string,
  path: PathBytes,
  blob: Sha,
): Promise<boolean> {
  const name = bytesOf(path).toString('utf8');
  const output = await context.git(['cat-file', '--filters', `--path=${name}`, blob], { at });
  if (output.code !== 0) return false;
  const there = readPlain(absoluteBytes(at, path));
  return there !== null && output.stdout.subarray(0, there.length).equals(there);
}

function isGitAtWork(context: RepositoryContext, owner: Owner | null, sinceMs: number): boolean {
  const running = gitProcesses();
  if (running === null) return Date.now() - sinceMs < restMs;
  return running.some(
    ({ folder }) =>
      isBelow(folder, context.commonDir) ||
      (owner !== null && isInside(context, [owner.path], folder)),
  );
}
