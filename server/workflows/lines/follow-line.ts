// Lets the branch follow its landing line, and keeps `drover/results/<branch>` where it can't.

import { MadeOnce } from '../../core/made-once.ts';
import { err, type Failure, ok } from '../../core/failure.ts';
import type { FollowOutcome } from '../../git/port.ts';
import { type LineRow, readLine, writeLine, type Reads } from '../../store/port.ts';
import { orElse } from '../kit/git-trouble.ts';
import { isNewer, whyGone, whyNotOurs } from './line-holds.ts';
import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import { replayOnto, resultTip } from './replay.ts';
import { countWaiting, rewrittenTo } from './waiting-work.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { keepResultBranch } from './result-branch.ts';
import { noteMoved } from './wrong-states.ts';
import type { Sha } from '../../git/sha.ts';

const casTriesMax = 5;

/**
 * Moves the branch to its landing line, and keeps `drover/results/<branch>` if that is impossible.
 * `obstacle`: the known reason.
 */
export async function followLine(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  branch: string,
  obstacle: string | null = null,
): Promise<Followed> {
  const turns = turnsOf.of(engine.store.db, () => new Map());
  const follow = (): Promise<Followed> => followNow(engine, branch, obstacle);
  const mine = (turns.get(branch) ?? Promise.resolve()).then(follow, follow);
  turns.set(branch, mine);
  return mine;
}

/**
 * For callers that have not moved the line themselves: another machine may have moved it since this
 * one checked.
 */
export async function followAsOfNow(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  branch: string,
  obstacle: string | null = null,
): Promise<Followed> {
  if (engine.machineId !== '') {
    await orElse(
      () => engine.git.readRef(landingRef(branch), 'now'),
      () => null,
    );
  }
  return followLine(engine, branch, obstacle);
}

interface Followed {
  readonly pending: number;
  readonly reason: string | null;
}

/**
 * One at a time for each branch: two at once would write down what the slower one saw, which is
 * older.
 */
const turnsOf = new MadeOnce<Reads, Map<string, Promise<unknown>>>();

async function followNow(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  branch: string,
  obstacle: string | null,
): Promise<Followed> {
  for (let tries = 1; ; tries += 1) {
    const known = await readLine(engine.store.db, branch);
    const { tip, trouble } = await tipToFollow(engine, branch, known);
    if (tip === null) return { pending: 0, reason: null };
    // Before the search for removed commits: git detects a move of the branch after that.
    const seen = trouble === null ? await targetOf(engine, branch) : undefined;
    const stopped = trouble === null ? await whyStopped(engine, branch, tip, known) : null;
    if (stopped !== null) return { pending: known?.pending ?? 0, reason: stopped };
    // All of it had arrived: wherever people have moved the branch since, it stays. In a fleet,
    // this machine may not have fetched the branch yet.
    const isTheirs =
      engine.machineId === '' &&
      known?.followed_sha === tip &&
      typeof seen === 'string' &&
      seen !== tip;
    const rewritten = trouble === null ? await whyRewritten(engine, branch, tip) : null;
    const shown = trouble !== null ? null : rewritten === null ? tip : rewritten.shown;
    const followed =
      trouble !== null
        ? err<Failure>(trouble)
        : rewritten !== null
          ? ok(rewritten.outcome)
          : isTheirs
            ? ok<FollowOutcome>({ kind: 'followed', sha: seen })
            : await engine.git.follow(branchRef(branch), tip, engine.settings().follow, seen);
    if (!followed.ok && followed.error.kind === 'stale' && tries < casTriesMax) continue;
    const outcome = followed.ok
      ? followed.value
      : ({ kind: 'pending', commits: 1, reason: followed.error.message } satisfies FollowOutcome);
    const pending = outcome.kind === 'pending' ? outcome.commits : 0;
    const reason = outcome.kind === 'pending' ? (obstacle ?? outcome.reason) : null;
    const isWritten = await writeFollowed(engine, { branch, tip, pending, reason }, known);
    if (!isWritten && tries < casTriesMax) continue;
    if (outcome.kind === 'followed' && typeof seen === 'string' && seen !== outcome.sha)
      await noteMoved(engine, branch, { from: seen, to: outcome.sha }, outcome.wrong ?? null);
    if (pending === 0) await keepResultBranch(engine, branch, null);
    else if (shown !== null) await keepResultBranch(engine, branch, shown);
    return { pending, reason };
  }
}

/** Undefined: unknown now. */
async function targetOf(engine: Uses<'git'>, branch: string): Promise<Sha | null | undefined> {
  return orElse<Sha | null | undefined>(
    () => engine.git.readRef(branchRef(branch)),
    () => undefined,
  );
}

/**
 * No branch follows a tip that something else has written, and a branch that a person deleted is
 * not recreated.
 */
async function whyStopped(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
  known: LineRow | null,
): Promise<string | null> {
  return orElse(
    async () => {
      const foreign = await whyNotOurs(engine, branch, tip, known);
      if (foreign !== null) return foreign;
      const target = await engine.git.readRef(branchRef(branch));
      return target === null ? whyGone(branch, known) : null;
    },
    () => null,
  );
}

interface Rewritten {
  readonly outcome: FollowOutcome;
  /** For the result branch; null: unknown now, so it stays where it is. */
  readonly shown: Sha | null;
}

/**
 * People removed something from the branch that the line at `tip` still holds: following now would
 * bring it back. The landed work counts as waiting instead, so that `LineFollowing` replays it onto
 * the branch. Null: nothing was removed.
 */
async function whyRewritten(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<Rewritten | null> {
  const waits = (commits: number, reason: string, shown: Sha | null): Rewritten => ({
    outcome: { kind: 'pending', commits, reason },
    shown,
  });
  return orElse<Rewritten | null>(
    async () => {
      const target = await rewrittenTo(engine, branch, tip);
      if (target === null) return null;
      const replayed = await replayOnto(engine, branch, target, tip);
      // People removed it all, or have brought in themselves what waited.
      if (replayed.ok && replayed.value === target)
        return { outcome: { kind: 'followed', sha: target }, shown: null };
      const commits = Math.max(1, await countWaiting(engine, branch, tip));
      const reason = replayed.ok
        ? `${branch} was rewritten while landed work waits for it; that work is moved over without what was removed.`
        : replayed.error.message;
      return waits(commits, reason, await resultTip(engine, branch, target, tip));
    },
    // Whether anything was removed is unknown.
    (trouble) => waits(1, trouble.message, null),
  );
}

interface TipToFollow {
  readonly tip: Sha | null;
  /** The line could not be read: use the tip in the database. */
  readonly trouble: Failure | null;
}

/**
 * `known` was read before: if another machine has recorded more than this one knew, it reads again.
 */
async function tipToFollow(
  engine: Uses<'git' | 'machineId'>,
  branch: string,
  known: LineRow | null,
): Promise<TipToFollow> {
  const look = async (): Promise<Sha | null> => {
    const heard = await engine.git.readRef(landingRef(branch));
    const isBehind =
      heard !== null &&
      known !== null &&
      isNewer(engine, known, heard) &&
      !(await engine.git.isAncestor(known.landed_sha, heard));
    return isBehind ? engine.git.readRef(landingRef(branch), 'now') : heard;
  };
  return orElse<TipToFollow>(
    async () => ({ tip: await look(), trouble: null }),
    (trouble) => ({ tip: known?.landed_sha ?? null, trouble }),
  );
}

/**
 * False, and nothing is written, if another process has recorded another tip in the meantime, or is
 * about to: that one is newer. In a fleet it is another machine; on one machine a backend that hung
 * and the one that took over, or a run that starts during a landing.
 */
async function writeFollowed(
  engine: Uses<'machineId' | 'store'>,
  { branch, tip, pending, reason }: Followed & { readonly branch: string; readonly tip: Sha },
  before: LineRow | null,
): Promise<boolean> {
  return await engine.store.transaction(async (tx) => {
    const known = await readLine(tx, branch);
    const isOvertaken = known !== null && known.landed_sha !== before?.landed_sha;
    if (isOvertaken && known.landed_sha !== tip) return false;
    // A process that moves only the line has announced it, and may die before the branch follows.
    if (pending === 0 && before?.pending === 0 && (known?.pending ?? 0) > 0) return false;
    await writeLine(tx, {
      branch,
      landed_sha: tip,
      followed_sha: pending === 0 ? tip : (known?.followed_sha ?? null),
      pending,
      pending_reason: reason,
      parent_branch: known?.parent_branch ?? null,
    });
    if (known !== null && known.pending === pending && known.pending_reason === reason) return true;
    if (pending > 0) {
      await engine.store.append(tx, {
        type: 'target.pending',
        data: { branch, sha: tip, commits: pending, reason },
      });
    } else if ((known?.pending ?? 0) > 0) {
      await engine.store.append(tx, { type: 'target.followed', data: { branch, sha: tip } });
    }
    return true;
  });
}
