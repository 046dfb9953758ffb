// Moves the checkout that holds a branch forward with it, or says why that cannot be. Drover holds
// its index meanwhile; where it cannot, git's own merge does.

import { join } from 'node:path';
import { isAncestor } from '../read/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { lockFileOf } from '../process/failures.ts';
import { movedFrom, putBackReason } from './branch-log.ts';
import { isBeadsAlone, pastBeads } from './beads-checkout.ts';
import type { FollowStep } from './cut-follow.ts';
import { type HeldMoveEnd, moveHeld, moveSettings } from './held-index.ts';
import { takeBackFiles } from './late-checkouts.ts';
import { noteRefused, refusedBefore } from './refused-follows.ts';
import type { Sha } from '../sha.ts';
import { readRef, updateRefs } from '../refs/refs.ts';
import { headOf, unfinishedOperation, type WorktreeHead } from '../refs/worktree-heads.ts';

/** Something has changed since it was read: it must be read again. */
export interface Changed {
  /** The move came after a command that took something out, and was taken back. */
  readonly isTakenBack: boolean;
}

/**
 * Null when the checkout has moved; else why git refused, having touched nothing but files of
 * Beads.
 */
export async function fastForward(
  context: RepositoryContext,
  ref: string,
  owner: WorktreeHead,
  step: FollowStep,
): Promise<string | Changed | null> {
  const before = await refusedBefore(context, owner, step);
  if (before !== null) return before;
  const end = await moveForward(context, ref, owner, step);
  if (end.kind !== 'refused') return outcomeOf(end, owner);
  const inTheWay = filesInTheWay(end.said);
  if (isBeadsAlone(inTheWay)) {
    let next: HeldMoveEnd = end;
    await pastBeads(context, owner.path, step, inTheWay, async () => {
      next = await moveForward(context, ref, owner, step);
      return next.kind === 'moved';
    });
    if (next.kind !== 'refused') return outcomeOf(next, owner);
  }
  const reason = refusalReason(end.said, owner.path);
  await noteRefused(context, owner, step, { files: inTheWay, reason });
  return reason;
}

function outcomeOf(
  end: Exclude<HeldMoveEnd, { kind: 'refused' }>,
  owner: WorktreeHead,
): string | Changed | null {
  switch (end.kind) {
    case 'moved':
      return null;
    case 'in use':
      return { isTakenBack: false };
    case 'overtaken':
      return { isTakenBack: true };
    case 'locked':
      return atWork(owner.path, join(owner.gitDir, 'index.lock'));
  }
}

async function moveForward(
  context: RepositoryContext,
  ref: string,
  owner: WorktreeHead,
  step: FollowStep,
): Promise<HeldMoveEnd> {
  const end =
    step.from === null ? null : await heldForward(context, ref, owner, step.from, step.to);
  if (end !== null) return end;
  const said = await mergeForward(context, ref, owner, step);
  if (said !== null) return { kind: 'refused', said };
  return { kind: (await takesBack(context, ref, owner, step)) ? 'overtaken' : 'moved' };
}

function heldForward(
  context: RepositoryContext,
  ref: string,
  owner: WorktreeHead,
  from: Sha,
  to: Sha,
): Promise<HeldMoveEnd | null> {
  return moveHeld(
    context,
    owner,
    { from, to, ref },
    {
      isAsFound: async () => {
        const operation = unfinishedOperation(owner.gitDir)?.kind;
        if (operation !== owner.operation?.kind) return false;
        const { branch: name } = await headOf(context, owner);
        return name === owner.branch && (await readRef(context, ref)) === from;
      },
      overtakenAt: async () => {
        // A switch to a new branch, which took along what was meant for the old one.
        if ((await readRef(context, ref)) !== to) return from;
        return overtakenAt(context, ref, { from, to });
      },
    },
  );
}

/** Null if the checkout has moved; otherwise git's message. */
async function mergeForward(
  context: RepositoryContext,
  ref: string,
  owner: WorktreeHead,
  { from, to }: FollowStep,
): Promise<string | null> {
  const output = await context.git(
    [
      ...moveSettings,
      'merge',
      '-q',
      '--no-stat',
      '--ff-only',
      // Without it git overwrites ignored files, such as the user's `.env`.
      '--no-overwrite-ignore',
      to,
    ],
    { at: owner.path, waitForLocks: false },
  );
  if (output.code === 0 && (await readRef(context, ref)) === to) return null;
  if (/cannot lock ref/i.test(output.stderr)) {
    // Git updates the files first and the branch last: what it started must be finished, or the
    // user sees reverted changes.
    const finished = await updateRefs(context, [{ ref, next: to, old: from }], 'drover: land');
    if (finished.ok) return null;
    await takeBackFiles(context, owner, to);
  }
  return output.stderr;
}

/**
 * Where a command of a person had put the branch when git moved it, if that had taken something out
 * since the last check: git merges into what the branch is by then. Else null.
 */
async function overtakenAt(
  context: RepositoryContext,
  ref: string,
  { from, to }: FollowStep,
): Promise<Sha | null> {
  const old = movedFrom(context, ref, to);
  if (old === null || from === null || old === from) return null;
  return (await isAncestor(context, from, old)) ? null : old;
}

/** Whether a merge that brought back what a person had taken out is taken back. */
async function takesBack(
  context: RepositoryContext,
  ref: string,
  owner: WorktreeHead,
  step: FollowStep,
): Promise<boolean> {
  const old = await overtakenAt(context, ref, step);
  if (old === null) return false;
  const files = await context.git(['read-tree', '-m', '-u', step.to, old], { at: owner.path });
  if (files.code !== 0) return false;
  const moved = await updateRefs(context, [{ ref, next: old, old: step.to }], putBackReason);
  return moved.ok;
}

/** These are the lines that start with a tab. */
function filesInTheWay(stderr: string): readonly string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('\t'))
    .map((line) => line.trim());
}

const maxNamedFiles = 5;

/** Reads the answer of `git merge --ff-only`. */
export function refusalReason(stderr: string, checkout: string): string {
  const lock = lockFileOf(stderr);
  if (lock !== null) return atWork(checkout, lock);
  const files = filesInTheWay(stderr);
  if (files.length > 0) {
    const more = files.length > maxNamedFiles ? ` and ${files.length - maxNamedFiles} more` : '';
    const untracked = /untracked working tree/i.test(stderr);
    const what = untracked ? 'Files that are not in git' : 'Local changes';
    return `${what} in ${checkout} are in the way: ${files.slice(0, maxNamedFiles).join(', ')}${more}.`;
  }
  const line = stderr.split('\n').find((each) => /^(?:fatal|error):/.test(each));
  return `Git refused to update ${checkout}: ${line?.replace(/^(?:fatal|error): /, '') ?? 'it gave no reason'}`;
}

export function atWork(checkout: string, lock: string): string {
  return `Git is running in ${checkout} (${lock} exists). Remove the file if no git process is running.`;
}
