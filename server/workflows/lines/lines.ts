// Landing lines: the ref `refs/drover/land/<branch>` is the tip that every base is taken from. This
// file keeps it in step with what people do to the branch itself, and lets the branch follow it.

import { err, failure, type Failure, ok, type Result } from '../../core/failure.ts';
import { type LineRow, noteDropped, noteTaken, readLine, writeLine } from '../../store/port.ts';
import { followLine } from './follow-line.ts';
import { gitFailed, orElse } from '../kit/git-trouble.ts';
import { branchRef, landingRef, resultBranch } from '../../core/work/ref-names.ts';
import {
  held,
  isNewer,
  moveLine,
  moveLineAlone,
  remakeLost,
  tellHold,
  whyGone,
  whyLost,
  whyNotOurs,
} from './line-holds.ts';
import { replayOnto } from './replay.ts';
import { rewrittenTo, takeInSubject } from './waiting-work.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { whyUngated } from './ungated-work.ts';
import { noteMovedBack } from './wrong-states.ts';
import type { Sha } from '../../git/sha.ts';

const casTriesMax = 5;

/**
 * The tip of the line, synchronized with the branch. If no landed work waits, the branch is the
 * truth, wherever people have moved it; if some waits, the tip stays, and the next merge includes
 * their commits (`headOn`).
 */
export async function syncLine(
  engine: Uses<'git' | 'machineId' | 'store'>,
  branch: string,
): Promise<Result<Sha>> {
  return orElse(async () => {
    const known = await readLine(engine.store.db, branch);
    return tellHold(engine, branch, await syncLineNow(engine, branch, known), known);
  }, err);
}

async function syncLineNow(
  engine: Uses<'git' | 'machineId' | 'store'>,
  branch: string,
  first: LineRow | null,
): Promise<Result<Sha>> {
  for (let tries = 0; tries < casTriesMax; tries += 1) {
    // In this order: the state that was known before the branch is read distinguishes a rewind from
    // a branch that is just following.
    const known = tries === 0 ? first : await readLine(engine.store.db, branch);
    const found = await engine.git.readRef(landingRef(branch));
    const remade = found === null ? await remakeLost(engine, branch, known) : ok(found);
    if (!remade.ok) return remade;
    const landed = remade.value;
    const target = await engine.git.readRef(branchRef(branch));
    if (target === null && landed === null) {
      if (known !== null) return held(whyLost(branch, known));
      return err(
        failure(
          'git_failed',
          `branch ${branch} does not exist; create it or name another with --target`,
        ),
      );
    }
    const foreign = landed === null ? null : await whyNotOurs(engine, branch, landed, known);
    if (foreign !== null) return held(foreign);
    if (target === landed && landed !== null) {
      // Nothing to write down, as nearly always: the database can be far away.
      if (known?.followed_sha === landed) return ok(landed);
      return ok(await rememberFollowed(engine, branch, landed));
    }
    if (target === null) {
      const gone = whyGone(branch, known);
      return gone === null ? ok(landed as Sha) : held(gone);
    }
    const ungated = landed === null ? null : await whyUngated(engine, branch, landed, target);
    if (ungated !== null) return held(ungated);
    const next = landed === null ? target : await inStep(engine, branch, target, landed, known);
    if (next === null) continue;
    if (next === landed) return ok(next);
    await engine.store.transaction((tx) => noteTaken(tx, engine.store.sources, branch, next));
    const moved = await moveLine(engine, branch, {
      next,
      old: landed,
      reason: `drover: take in ${branch}`,
    });
    if (moved.ok) {
      await rememberLine(engine, branch, next, target);
      return ok(next);
    }
    if (moved.error.kind !== 'stale') return err(gitFailed(moved.error));
  }
  return err(
    failure(
      'git_failed',
      `the landing ref of ${branch} keeps moving; is another Drover running here?`,
    ),
  );
}

/** Null: the branch is elsewhere by now. */
async function inStep(
  engine: Uses<'git' | 'store'>,
  branch: string,
  target: Sha,
  landed: Sha,
  known: LineRow | null,
): Promise<Sha | null> {
  const nothingWaits = known !== null && known.followed_sha === landed;
  if (await engine.git.isAncestor(landed, target)) return target;
  if (nothingWaits) {
    // Another machine may have moved the branch, and recorded it, after we read the database: that
    // is no rewind.
    if ((await engine.git.readRef(branchRef(branch), 'now')) !== target) return null;
    // People have rewound or rewritten the branch, and all our work had arrived there: their state
    // wins.
    await engine.store.transaction((tx) => noteDropped(tx, branch, landed));
    await noteMovedBack(engine, branch, landed, target);
    return target;
  }
  const rewritten = await rewrittenTo(engine, branch, landed);
  if (rewritten === null) return landed;
  // People have brought all that waited into the branch themselves, or a process moved the line to
  // a state of the branch and died before it recorded that.
  const again = await replayOnto(engine, branch, rewritten, landed);
  if (!again.ok || again.value !== rewritten) return landed;
  return rewritten === target ? target : null;
}

/**
 * The base of a merge under test: the tip with the commits that people made on the branch while
 * landed work waits for it. The merge of both enters the line only together with the work, and is
 * tested as a whole. If they conflict, the work lands without theirs and waits with the rest: a
 * person must merge both.
 */
export async function headOn(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<Result<Sha>> {
  return orElse(() => headOnNow(engine, branch, tip), err);
}

async function headOnNow(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<Result<Sha>> {
  const target = await engine.git.readRef(branchRef(branch));
  if (target === null || target === tip) return ok(tip);
  const rewritten = await rewrittenTo(engine, branch, tip);
  if (rewritten !== null) {
    await engine.store.transaction((tx) => noteTaken(tx, engine.store.sources, branch, rewritten));
    const replayed = await replayOnto(engine, branch, rewritten, tip);
    return replayed.ok || replayed.error.kind !== 'conflict' ? replayed : ok(tip);
  }
  if (await engine.git.isAncestor(target, tip)) return ok(tip);
  if (await engine.git.isAncestor(tip, target)) return ok(tip); // they moved since: the next check includes them
  const subject = takeInSubject(branch);
  await engine.store.transaction((tx) => noteTaken(tx, engine.store.sources, branch, target));
  const merged = await engine.git.merge({ tip, commit: target, subject, trailers: [] });
  if (!merged.ok) return err(gitFailed(merged.error));
  return ok(merged.value.kind === 'merged' ? merged.value.commit : tip);
}

export function takeInConflict(branch: string, files: readonly string[]): Failure {
  return failure(
    'conflict',
    `commits on ${branch} conflict with landed work that waits for it (${files.join(', ')}); merge ${resultBranch(branch)} into ${branch} by hand, then run again`,
  );
}

/**
 * In either case, the branch now contains all our work, which decides what a later rewind of it
 * means.
 */
async function rememberFollowed(
  engine: Uses<'machineId' | 'store'>,
  branch: string,
  landed: Sha,
): Promise<Sha> {
  const known = await readLine(engine.store.db, branch);
  if (known !== null && known.followed_sha !== landed && !isNewer(engine, known, landed))
    await rememberLine(engine, branch, landed, landed, known);
  return landed;
}

/**
 * `before`: the state that was known when the line was checked; a tip that another process has
 * written since is kept.
 */
async function rememberLine(
  engine: Uses<'store'>,
  branch: string,
  landed: Sha,
  followed: Sha | null,
  before: LineRow | null = null,
): Promise<void> {
  await engine.store.transaction(async (tx) => {
    const known = await readLine(tx, branch);
    if (before !== null && known !== null && known.landed_sha !== before.landed_sha) return;
    await writeLine(tx, {
      branch,
      landed_sha: landed,
      followed_sha: followed,
      pending: known?.pending ?? 0,
      pending_reason: known?.pending_reason ?? null,
      parent_branch: known?.parent_branch ?? null,
    });
  });
}

/**
 * A base on the line that contains all the given commits. An epic's line merges its parent branch
 * if a blocker has landed there in the meantime. Null: a commit is on neither; the task cannot
 * start from this line yet.
 */
export async function baseContaining(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  branch: string,
  commits: readonly Sha[],
): Promise<Result<Sha | null>> {
  return orElse(() => baseContainingNow(engine, branch, commits), err);
}

async function baseContainingNow(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  branch: string,
  commits: readonly Sha[],
): Promise<Result<Sha | null>> {
  const tip = await tipForBase(engine, branch, commits);
  if (!tip.ok) return tip;
  if (await containsAll(engine, tip.value, commits)) return tip;
  const line = await readLine(engine.store.db, branch);
  if (line?.parent_branch === null || line?.parent_branch === undefined) return ok(null);
  const parent = await tipForBase(engine, line.parent_branch, commits);
  if (!parent.ok) return parent;
  if (!(await containsAll(engine, parent.value, commits))) return ok(null);
  const merged = await engine.git.merge({
    tip: tip.value,
    commit: parent.value,
    subject: `drover: take in ${line.parent_branch}`,
    trailers: [],
  });
  if (!merged.ok) return err(gitFailed(merged.error));
  if (merged.value.kind === 'conflict') return ok(null);
  const { commit } = merged.value;
  const moved = await moveLineAlone(engine, branch, commit, tip.value, 'drover: take in');
  if (!moved.ok) return err(gitFailed(moved.error));
  await followLine(engine, branch);
  return ok(commit);
}

/**
 * A recent landing of another machine is in the database before this one's fetched refs contain it.
 */
async function tipForBase(
  engine: Uses<'git' | 'machineId' | 'store'>,
  branch: string,
  commits: readonly Sha[],
): Promise<Result<Sha>> {
  const tip = await syncLine(engine, branch);
  if (!tip.ok || engine.machineId === '') return tip;
  if (await containsAll(engine, tip.value, commits)) return tip;
  await engine.git.readRef(landingRef(branch), 'now');
  return syncLine(engine, branch);
}

export async function containsAll(
  engine: Uses<'git'>,
  tip: Sha,
  commits: readonly Sha[],
): Promise<boolean> {
  for (const commit of commits) {
    if (commit !== tip && !(await engine.git.isAncestor(commit, tip))) return false;
  }
  return true;
}
