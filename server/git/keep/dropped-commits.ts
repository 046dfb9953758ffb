// Finds commits that an agent made in its slot and then dropped by a reset, an amend or a rebase.
// Only the log of the slot's HEAD leads to them, and it is deleted with the slot. They may contain
// a person's work, so they become snapshots of the attempt.

import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { lstatOrNull, readPlain, readText } from '../../files/small-files.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';
import { isOnFirstParentLine } from '../ask/ancestry.ts';
import { isSha, type Sha } from '../sha.ts';
import { chainCommit } from './work-chain.ts';

/** Maximum number of log entries read, latest first. */
const looksMax = 200;
/** A slot's log grows with each of its users. */
const logBytesMax = 16 * 1024 * 1024;
/** Maximum number of snapshots made by one call. */
const keptMax = 20;

export function lengthOfLog({ gitDir }: LinkedWorktree): number {
  return lstatOrNull(join(gitDir, 'logs', 'HEAD'))?.size ?? 0;
}

/** A separate chain, whose end is never a state from which an attempt continues. */
function droppedLabel(label: string): string {
  return label.endsWith('/dropped') ? label : `${label}/dropped`;
}

/**
 * Keeps commits of a slot's current user that no ref contains. `head`: the slot's HEAD. Needs no
 * process if the user only added commits.
 */
export async function keepDropped(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  head: Sha | null,
  label: string,
): Promise<GitResult<void>> {
  const made: Sha[] = [];
  for (const sha of commitsInLog(worktree)) {
    const isHeld =
      head !== null && (sha === head || (await isOnFirstParentLine(context, sha, head)));
    if (!isHeld) made.push(sha);
  }
  if (made.length === 0) return ok(undefined);
  const held = ['--not', ...(head === null ? [] : [head]), '--all'];
  const output = await context.git([
    'rev-list',
    '--topo-order',
    '--parents',
    '--ignore-missing',
    ...made,
    ...held,
  ]);
  // A pruned commit cannot be kept, but the existing work can.
  if (output.problem !== null) return err(failureOf(output, `read the log of ${worktree.path}`));
  if (output.code !== 0) return ok(undefined);
  const lines = output.stdout.toString('utf8').split('\n');
  const below = new Set(lines.flatMap((line) => line.split(' ').slice(1)));
  const listed = new Set(lines.map((line) => line.split(' ', 1)[0]));
  const tips = made.filter((sha) => listed.has(sha) && !below.has(sha)).slice(0, keptMax);
  for (const tip of tips.toReversed()) {
    const kept = await chainCommit(context, tip, droppedLabel(label), 'agent', 'dropped');
    if (!kept.ok) return kept;
  }
  return ok(undefined);
}

/** The values of HEAD since the slot got its current user, latest first. */
function commitsInLog(worktree: LinkedWorktree): readonly Sha[] {
  const log = readPlain(join(worktree.gitDir, 'logs', 'HEAD'), logBytesMax);
  if (log === null) return [];
  const noted = Number(readText(join(worktree.gitDir, slotNotes.log)) ?? 0);
  // A shorter log was truncated by a gc.
  const since = noted > 0 && noted <= log.length ? log.subarray(noted) : log;
  const found = since
    .toString('latin1')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ', 2)[1] ?? '')
    .filter((sha) => isSha(sha) && !/^0+$/.test(sha));
  return [...new Set(found.reverse())].slice(0, looksMax);
}
