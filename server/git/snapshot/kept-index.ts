// The state of a slot for a periodic snapshot. Most of them find nothing new. So Drover keeps a
// copy of the slot's index between them, in which git notes what is untracked in each folder: then
// git reads only folders that have changed since (`core.untrackedCache`).
//
// Git compares times by the second. The copy gets a time from before git started: what changed
// later than that, or shortly before, is read again.
//
// The last snapshot of an attempt asks git without any of this.

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MadeOnce } from '../../core/made-once.ts';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { absoluteBytes, foldersAbove, type PathBytes } from '../files/paths.ts';
import { factsOf } from '../files/small-files.ts';
import type { LinkedWorktree } from '../files/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { settings } from '../process/environment.ts';
import {
  isNestedRepository,
  parseStatus,
  statusArguments,
  type ParsedStatus,
} from '../read/status-format.ts';
import { slotStatus } from '../work/lost-head.ts';
import { ignoreSetupFiles } from '../work/setup-note.ts';
import { copyIndex, ownIndexFile } from './own-index.ts';

interface KeptIndex {
  readonly file: string;
  /** The slot's own index when it was copied. */
  readonly ownIndex: string;
  /** The copy as it was left. */
  readonly copy: string;
  readonly startMs: number;
  readonly writtenMs: number;
}

/** The slot's own index, of which there is no copy. */
interface SeenIndex {
  readonly file: null;
  readonly ownIndex: string;
  /** False: the slot can't be read through a copy of it. */
  readonly isFit: boolean;
}

/** By slot. */
const kept = new MadeOnce<
  RepositoryContext['snapshotStates'],
  Map<string, KeptIndex | SeenIndex>
>();

function keptIn(context: RepositoryContext): Map<string, KeptIndex | SeenIndex> {
  return kept.of(context.snapshotStates, () => new Map());
}

/** Writing costs more than what it saves the next time if little has changed. */
const renewMs = 60_000;
const keptMs = 60 * 60_000;
/** Clocks of files tick coarsely: by two seconds on some file systems. */
const clockMs = 2_000;
const foldersMax = 1_000;

const keptSettings = settings({
  'core.untrackedCache': 'true',
  'status.showUntrackedFiles': 'all',
  // Its shared part would be in the slot's private folder.
  'core.splitIndex': 'false',
});

export async function periodicStatus(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<GitResult<ParsedStatus>> {
  const status = await throughCopy(context, worktree);
  if (status === null) return slotStatus(context, worktree);
  return ok(await ignoreSetupFiles(worktree, status));
}

/** The slot's attempt has stopped. */
export async function dropKeptIndex(
  context: RepositoryContext,
  { path }: LinkedWorktree,
): Promise<void> {
  const known = keptIn(context).get(path);
  keptIn(context).delete(path);
  if (typeof known?.file === 'string') await removeIndex(known.file);
}

/** Null: ask git in the ordinary way. */
async function throughCopy(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<ParsedStatus | null> {
  const ownIndex = identityOf(join(worktree.gitDir, 'index'), context.idBytes);
  if (ownIndex === null || !foldersTellChanges(worktree.path)) return null;
  const known = keptIn(context).get(worktree.path);
  if (known?.ownIndex !== ownIndex) {
    // The first read through a copy costs more than an ordinary one: it is for an index that stays.
    await dropKeptIndex(context, worktree);
    keptIn(context).set(worktree.path, { file: null, ownIndex, isFit: true });
    return null;
  }
  if (known.file === null && !known.isFit) return null;
  // A snapshot of the slot at the same time asks git in the ordinary way.
  const inUse: SeenIndex = { file: null, ownIndex, isFit: false };
  keptIn(context).set(worktree.path, inUse);
  const index = await indexToUse(context, worktree, known);
  if (index === null) return null;
  const { status, next } = await ask(context, worktree, index);
  const isStillKept = keptIn(context).get(worktree.path) === inUse;
  if (isStillKept && next !== null) keptIn(context).set(worktree.path, next);
  else await removeIndex(index.file);
  if (isStillKept && status === null) keptIn(context).delete(worktree.path);
  return next === null ? null : status;
}

async function indexToUse(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  known: KeptIndex | SeenIndex,
): Promise<KeptIndex | null> {
  if (known.file !== null) {
    const isSame = known.copy === identityOf(known.file, context.idBytes);
    const ageMs = Date.now() - known.startMs;
    if (isSame && ageMs >= 0 && ageMs < keptMs) return known;
    await removeIndex(known.file);
  }
  const file = await ownIndexFile(context, worktree);
  if (!(await copyIndex(join(worktree.gitDir, 'index'), file))) return null;
  const copy = identityOf(file, context.idBytes);
  const { ownIndex } = known;
  if (copy !== null) return { file, ownIndex, copy, startMs: Date.now(), writtenMs: 0 };
  await removeIndex(file);
  return null;
}

interface Answer {
  /** Null: git failed, or something else wrote one of the two indexes meanwhile. */
  readonly status: ParsedStatus | null;
  /** Null: the copy is of no more use. */
  readonly next: KeptIndex | null;
}

async function ask(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  index: KeptIndex,
): Promise<Answer> {
  const { file, ownIndex, copy } = index;
  const startedMs = Date.now();
  const isDue = Math.abs(startedMs - index.writtenMs) > renewMs;
  const output = await context.git([...keptSettings, ...statusArguments], {
    at: worktree.path,
    env: { GIT_INDEX_FILE: file, ...(isDue ? { GIT_OPTIONAL_LOCKS: '1' } : {}) },
  });
  const now = identityOf(file, context.idBytes);
  const isAsBefore = identityOf(join(worktree.gitDir, 'index'), context.idBytes) === ownIndex;
  if (output.code !== 0 || now === null || !isAsBefore || (now !== copy && !isDue))
    return { status: null, next: null };
  const status = parseStatus(output.stdout);
  if (!isFit(worktree.path, status)) return { status, next: null };
  if (!isDue) return { status, next: index };
  if (now !== copy) setTime(file, startedMs - clockMs);
  const written = identityOf(file, context.idBytes);
  const next = written === null ? null : { ...index, copy: written, writtenMs: startedMs };
  return { status, next };
}

/**
 * What git notes of a folder does not show whether it became a repository, or is none any more. And
 * what counts as unchanged under rules for contents that the slot does not keep may be changed
 * under others.
 */
function isFit(root: string, { entries }: ParsedStatus): boolean {
  const folders = new Set<PathBytes>();
  for (const entry of entries) {
    if (isNestedRepository(entry) || /(?:^|\/)\.gitattributes$/i.test(entry.path)) return false;
    if (entry.kind !== 'untracked') continue;
    for (const folder of foldersAbove(entry.path)) {
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    if (folders.size > foldersMax) return false;
  }
  return [...folders].every((folder) => factsOf(absoluteBytes(root, `${folder}/.git`)) === null);
}

/**
 * A text that is the same for the same index, by its place and by the sum at its end. Null: it is
 * no plain file, or has no sum.
 */
function identityOf(file: string, idBytes: number): string | null {
  let opened: number;
  try {
    opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const facts = fstatSync(opened, { bigint: true });
    const sum = Buffer.alloc(idBytes);
    const end = Number(facts.size) - idBytes;
    if (!facts.isFile() || end < 0 || readSync(opened, sum, 0, idBytes, end) < idBytes) return null;
    if (sum.every((byte) => byte === 0)) return null;
    const { dev, ino, size, mtimeNs, ctimeNs } = facts;
    return [dev, ino, size, mtimeNs, ctimeNs, sum.toString('hex')].join(' ');
  } catch {
    return null;
  } finally {
    closeSync(opened);
  }
}

function setTime(file: string, timeMs: number): void {
  try {
    utimesSync(file, timeMs / 1000, timeMs / 1000);
  } catch {
    // A copy with a later time would hide changes.
    rmSync(file, { force: true });
  }
}

async function removeIndex(file: string): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}.lock`, { force: true });
}

/** By the file system of a slot. */
const tells = new Map<number, boolean>();

/** Whether a folder has another time after a file was made in it: not so on every file system. */
function foldersTellChanges(slot: string): boolean {
  const device = factsOf(slot)?.dev;
  const beside = dirname(slot);
  if (device === undefined || factsOf(beside)?.dev !== device) return false;
  const known = tells.get(device);
  if (known !== undefined) return known;
  const answer = provesChanges(join(beside, `.drover-times-${randomUUID()}`));
  tells.set(device, answer);
  return answer;
}

const longAgoS = 1_000_000_000;

function provesChanges(folder: string): boolean {
  const timeOf = (): number => lstatSync(folder).mtimeMs;
  const changes = (change: () => void): boolean => {
    utimesSync(folder, longAgoS, longAgoS);
    const before = timeOf();
    change();
    return before === longAgoS * 1000 && Math.abs(timeOf() - Date.now()) < clockMs;
  };
  try {
    mkdirSync(folder);
    const file = join(folder, 'file');
    return changes(() => writeFileSync(file, '')) && changes(() => rmSync(file));
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
