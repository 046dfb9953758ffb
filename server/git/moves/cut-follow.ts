// A follow that was interrupted: its git was killed together with the backend, in a checkout of the
// user. Its locks still exist, and files that it had started to write. Drover clears only what
// appeared after the mark of that follow, only when no git process runs there any more, and a file
// only if its content is (the start of) what was landing.

import { rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { isSha } from '../files/loose-objects.ts';
import { absoluteBytes, bytesOf, type PathBytes, splitZero } from '../files/paths.ts';
import { factsOf, readPlain, readText } from '../files/small-files.ts';
import type { Sha } from '../sha.ts';
import { gitProcesses, isBelow } from './git-processes.ts';

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

/** Clears what an earlier follow of this branch has left behind when its process was killed. */
export async function clearCutFollow(
  context: RepositoryContext,
  ref: string,
  current: Sha | null,
  owner: Owner | null,
): Promise<void> {
  const mark = followMark(context.commonDir, ref);
  const begun = factsOf(mark);
  if (begun === null) return;
  const places = owner === null ? [context.commonDir] : [owner.path, context.commonDir];
  if (isGitAtWork(places, begun.mtimeMs)) return;
  const isOurs = (file: string | Buffer): boolean => {
    const afterMs = (factsOf(file)?.mtimeMs ?? Number.NaN) - begun.mtimeMs;
    return afterMs >= -coarseMs && afterMs <= followMaxMs;
  };
  const names = ['index.lock', 'index.lock.lock', 'HEAD.lock', 'ORIG_HEAD.lock'];
  const locks = owner === null ? [] : names.map((name) => join(owner.gitDir, name));
  for (const lock of [...locks, join(context.commonDir, `${ref}.lock`)]) {
    if (isOurs(lock)) await rm(lock, { force: true });
  }
  const [from = '', to = ''] = (readText(mark) ?? '').trim().split(' ');
  if (owner !== null && from === current && isSha(from) && isSha(to)) {
    await undoFiles(context, owner.path, { from, to }, isOurs);
  }
  await rm(mark, { force: true });
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

function isGitAtWork(places: readonly string[], sinceMs: number): boolean {
  const running = gitProcesses();
  if (running === null) return Date.now() - sinceMs < restMs;
  return running.some(({ folder }) => places.some((place) => isBelow(folder, place)));
}
