// Moves the branch on the remote to its landing line and then, if possible, this clone's own
// branch.

import { err, ok } from '../../core/failure.ts';
import { firstParentCount, isAncestor } from '../ask/ancestry.ts';
import type { FollowOutcome, GitRepository, GitResult } from '../port.ts';
import { refuse } from '../failures.ts';
import { branchName, branchRef } from '../refs/refs.ts';
import type { Presence } from './presence.ts';
import { pushChanges, type PushDeps, staleFailure } from './pushes.ts';
import type { Sha } from '../sha.ts';

export interface FollowDeps extends PushDeps {
  readonly presence: Presence;
  readonly local: GitRepository;
  readonly report: (error: unknown, doing: string) => void;
}

const triesMax = 5;

export async function followShared(
  deps: FollowDeps,
  target: string,
  tip: Sha,
  {
    mode,
    seen,
  }: {
    readonly mode: 'fast-forward' | 'never';
    /** The expected value of the branch on the remote. Absent = any. */
    readonly seen: Sha | null | undefined;
  },
): Promise<GitResult<FollowOutcome>> {
  const ref = branchRef(target);
  return deps.remote.context.inTurn(`follow ${deps.remote.name} ${ref}`, async () => {
    const outcome = await followRemote(deps, ref, tip, seen);
    if (outcome.ok && outcome.value.kind === 'followed') {
      await followHere(deps, ref, outcome.value.sha, mode);
    }
    return outcome;
  });
}

async function followRemote(
  deps: FollowDeps,
  ref: string,
  tip: Sha,
  seen: Sha | null | undefined,
): Promise<GitResult<FollowOutcome>> {
  const { remote, remoteRefs, presence } = deps;
  const { context } = remote;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const present = await remoteRefs.read(ref);
    if (!present.ok) return present;
    const theirs = present.value;
    if (theirs === tip) return ok({ kind: 'followed', sha: tip });
    if (seen !== undefined && seen !== theirs)
      return refuse('stale', `Someone else moved ${branchName(ref)} on ${remote.name} meanwhile.`);
    const fetched = await presence.ensure([tip, ...(theirs === null ? [] : [theirs])]);
    if (!fetched.ok) return fetched;
    const pending = async (reason: string): Promise<GitResult<FollowOutcome>> => {
      const commits = theirs === null ? 1 : await firstParentCount(context, theirs, tip);
      return ok({ kind: 'pending', commits, reason });
    };
    if (theirs !== null && !(await isAncestor(context, theirs, tip))) {
      if (await isAncestor(context, tip, theirs)) return ok({ kind: 'followed', sha: theirs });
      return pending(
        `${branchName(ref)} on ${remote.name} has commits that are not part of the landed work yet.`,
      );
    }
    const pushed = await pushChanges(deps, [{ ref, next: tip, old: theirs }], true);
    switch (pushed.kind) {
      case 'moved':
        return ok({ kind: 'followed', sha: tip });
      case 'trouble':
        return pushed.failure.retryable ? err(pushed.failure) : pending(pushed.failure.message);
      case 'stale':
        // The value that was found is newer than the one that `read` may return.
        continue;
    }
  }
  return err(staleFailure(ref));
}

/** A clone without the branch does not get it. Problems in a checkout do not affect the fleet. */
async function followHere(
  { local, presence, report }: FollowDeps,
  ref: string,
  tip: Sha,
  mode: 'fast-forward' | 'never',
): Promise<void> {
  if ((await local.readRef(ref)) === null) return;
  const present = await presence.ensure([tip]);
  const followed = present.ok ? await local.follow(ref, tip, mode) : present;
  if (!followed.ok) report(followed.error, `following ${branchName(ref)} in this clone`);
}
