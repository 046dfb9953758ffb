// Git commands that other programs are running, as the system lists them. A merge, a switch or a
// rebase reads the branch first and writes index and files at its end: a branch that moves in
// between leaves old files under the new commit, and a merge that fails then drops what was staged.
// So a move of a branch waits until such a command has ended. Only Linux tells them.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RepositoryContext } from '../context.ts';
import { exists } from '../files/small-files.ts';
import { slotNotes } from '../files/slot-notes.ts';
import { type LinkedWorktree, worktreesOf } from '../files/worktree-link.ts';
import { readHead } from '../refs/worktree-heads.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

interface GitProcess {
  readonly pid: number;
  /** Its working directory: the top of the worktree, once it has found that. */
  readonly folder: string;
}

/** Null: the system does not tell. */
export function gitProcesses(): readonly GitProcess[] | null {
  if (!thisPlatform.hasProcFiles) return null;
  const found: GitProcess[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // As utf8, which Node reads in one call: half the time of other encodings.
      if (!readFileSync(`/proc/${name}/comm`, 'utf8').startsWith('git')) continue;
      found.push({ pid: Number(name), folder: readlinkSync(`/proc/${name}/cwd`) });
    } catch {
      // It has ended meanwhile, or belongs to another user.
    }
  }
  return found;
}

export function isBelow(folder: string, place: string): boolean {
  return folder === place || folder.startsWith(`${place}${sep}`);
}

/**
 * Commands that write what they have read of the branch earlier, and the one that removes what the
 * index did not have then.
 */
const movers: ReadonlySet<string> = new Set([
  'am',
  'bisect',
  'checkout',
  'cherry-pick',
  'clean',
  'commit',
  'merge',
  'pull',
  'rebase',
  'reset',
  'revert',
  'stash',
  'switch',
]);

/** Options before the command that take the next word. */
const withValue: ReadonlySet<string> = new Set(['-C', '-c', '--git-dir', '--work-tree']);

/** `merge` of `git -c a=b merge x`; null where it is no such command. */
export function moverOf(args: readonly string[]): string | null {
  for (let at = 1; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (withValue.has(word)) at += 1;
    else if (!word.startsWith('-')) return movers.has(word) ? word : null;
  }
  return null;
}

/** Where people work: everything but Drover's slots. */
export function checkoutsOf(context: RepositoryContext): readonly string[] {
  return checkoutsAmong(worktreesOf(context));
}

function checkoutsAmong(worktrees: readonly LinkedWorktree[]): readonly string[] {
  return worktrees
    .filter(({ gitDir }) => !exists(join(gitDir, slotNotes.owner)))
    .map(({ path }) => path);
}

const noCommands: ReadonlySet<string> = new Set();

type WorktreePlaces = Parameters<typeof worktreesOf>[0];

/** Commands that only start others, perhaps after a long time in the net. */
export const starters: ReadonlySet<string> = new Set(['bisect', 'pull']);

/** A moving command in one of the checkouts, by name and number, or null. */
function moverIn(
  context: WorktreePlaces,
  checkouts: readonly string[],
  except: ReadonlySet<string> = noCommands,
): string | null {
  for (const { pid, folder } of gitProcesses() ?? []) {
    if (!isInside(context, checkouts, folder)) continue;
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const command = moverOf(args);
      if (command !== null && !except.has(command)) return `git ${command}, process ${pid}`;
    } catch {
      // It has ended meanwhile.
    }
  }
  return null;
}

/** Slots may lie inside of a checkout, and are no part of it. */
export function isInside(
  context: WorktreePlaces,
  checkouts: readonly string[],
  folder: string,
): boolean {
  if (!checkouts.some((checkout) => isBelow(folder, checkout))) return false;
  return checkouts.includes(worktreeAround(context, folder) ?? folder);
}

function worktreeAround(context: WorktreePlaces, folder: string): string | null {
  const around = worktreesOf(context).filter(({ path }) => isBelow(folder, path));
  return around.reduce<string | null>(
    (inner, { path }) => (inner === null || path.length > inner.length ? path : inner),
    null,
  );
}

const pollMs = 20;
const waitMaxMs = 1_500;

/**
 * `free`: no such command runs there. `waited`: one has just ended, so everything must be read
 * again. Else the one that is still running.
 */
export async function commandsEnd(
  context: WorktreePlaces,
  checkouts: readonly string[],
  { maxMs = waitMaxMs, except = noCommands }: WaitOptions = {},
): Promise<'free' | 'waited' | { readonly running: string }> {
  let running = moverIn(context, checkouts, except);
  if (running === null) return 'free';
  for (const endMs = Date.now() + maxMs; Date.now() < endMs;) {
    await delay(pollMs);
    running = moverIn(context, checkouts, except);
    if (running === null) return 'waited';
  }
  return running === null ? 'waited' : { running };
}

interface WaitOptions {
  readonly maxMs?: number;
  /** Commands that are not waited for. */
  readonly except?: ReadonlySet<string>;
}

/** Whether such a command runs in one of them now. */
export function isCommandRunning(context: WorktreePlaces, checkouts: readonly string[]): boolean {
  return moverIn(context, checkouts) !== null;
}

/** No worktree has the branch checked out, and no such command runs in a checkout. */
export function isLeftAlone(context: RepositoryContext, ref: string): boolean {
  const worktrees = worktreesOf(context);
  const isHeld = worktrees.some(({ gitDir }) => readHead(gitDir).branch === ref);
  return !isHeld && !isCommandRunning(context, checkoutsAmong(worktrees));
}
