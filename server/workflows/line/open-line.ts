// Lines of epics: how a line starts at its target and merges it again, and how to remove refs of
// deleted branches that prevent a new line.

import { describeHold } from '../../core/line/holds.ts';
import { err, ok, Refusal, type Result } from '../../core/failure.ts';
import { branchRef, landingRef, resultBranch } from '../../core/work/ref-names.ts';
import { type GitFailure, type GitResult } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import { allLines, readLine, recordLine, setPending } from '../../store/port.ts';
import { gitFailed, withGitFallback } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { followLine } from './follow.ts';
import { settleLine, syncLine } from './line.ts';
import { keepTip, moveLine } from './move.ts';

type Opening = Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>;

/** Starts the epic's own line at the target's tip, as a branch that users can see. */
export async function openLine(
  engine: Opening,
  line: string,
  target: string,
  base: Sha,
): Promise<void> {
  const { git, store } = engine;
  const before = await readLine(store.db, line);
  const present = await git.readRef(landingRef(line));
  const isNew = present === null && (await git.readRef(branchRef(line))) === null;
  if (isNew && before !== null) await refuseLostLine(engine, line, before.landed_sha, base);
  const reason = 'drover: epic';
  if (isNew)
    refuseFailed(await moveLine(engine, line, { next: base, old: null, reason, isAlone: true }));
  const settled = await settleLine(engine, line);
  // A hold that a person has just resolved must not end the new run.
  if (!settled.ok) throw new Refusal('git', settled.error.message);
  const { step } = settled.value;
  if (step.kind === 'hold') throw new Refusal('line_held', describeHold(line, step.hold));
  const tip = settled.value.facts.line ?? base;
  // All of the epic's work has landed, so it continues from the current target.
  if (tip !== base && (await git.isAncestor(tip, base)))
    refuseFailed(await moveLine(engine, line, { next: base, old: tip, reason, isAlone: true }));
  await store.transaction(async (tx) => {
    const known = await readLine(tx, line);
    await recordLine(tx, line, { landed: known?.landed_sha ?? tip, parent: target });
  });
  // Never moves a branch under a worktree that has it checked out, as for a target.
  await followLine(engine, line);
}

function refuseFailed(moved: GitResult<void>): void {
  if (!moved.ok && moved.error.kind !== 'stale')
    throw new Refusal(moved.error.kind, moved.error.message);
}

/** If the epic restarted from the target, landings that are only on its own line would be lost. */
async function refuseLostLine(
  { git }: Uses<'git'>,
  line: string,
  landed: Sha,
  base: Sha,
): Promise<void> {
  const found = await git.resolve(landed);
  if (!found.ok || (await git.isAncestor(found.value, base))) return;
  throw new Refusal('line_held', describeHold(line, { kind: 'lost', landed }));
}

/**
 * A base on the line that contains all given commits. An epic's line merges its target if one of
 * them has landed there since. Returns null if any commit is on neither.
 */
export async function baseContaining(
  engine: Opening,
  branch: string,
  commits: readonly Sha[],
): Promise<Result<Sha | null>> {
  return withGitFallback(() => baseWith(engine, branch, commits), err);
}

async function baseWith(
  engine: Opening,
  branch: string,
  commits: readonly Sha[],
): Promise<Result<Sha | null>> {
  const tip = await tipWith(engine, branch, commits);
  if (!tip.ok || (await containsAll(engine, tip.value, commits))) return tip;
  const target = (await readLine(engine.store.db, branch))?.parent_branch ?? null;
  if (target === null) return ok(null);
  const parent = await tipWith(engine, target, commits);
  if (!parent.ok) return parent;
  if (!(await containsAll(engine, parent.value, commits))) return ok(null);
  const subject = `drover: take in ${target}`;
  const request = { tip: tip.value, commit: parent.value, subject, trailers: [] };
  const merged = await engine.git.merge(request);
  if (!merged.ok) return err(gitFailed(merged.error));
  if (merged.value.kind === 'conflict') return ok(null);
  const { commit: next } = merged.value;
  const move = { next, old: tip.value, reason: 'drover: take in', isAlone: true };
  const moved = await moveLine(engine, branch, move);
  if (!moved.ok) return err(gitFailed(moved.error));
  await followLine(engine, branch);
  return ok(next);
}

/** Another machine's landing is in the database before the refs fetched here contain it. */
async function tipWith(
  engine: Opening,
  branch: string,
  commits: readonly Sha[],
): Promise<Result<Sha>> {
  const tip = await syncLine(engine, branch);
  if (!tip.ok || engine.machineId === '') return tip;
  return (await containsAll(engine, tip.value, commits)) ? tip : syncLine(engine, branch, 'now');
}

/**
 * Whether a task of this line can start from the commit. A line merges its target if a task needs
 * that.
 */
export async function isInReach(
  engine: Uses<'git' | 'store'>,
  line: string,
  sha: Sha,
): Promise<boolean> {
  for (const tip of await tipsAround(engine, line))
    if (tip !== null && (tip === sha || (await engine.git.isAncestor(sha, tip)))) return true;
  return false;
}

/** The tips that bases of the line are made of, as one text. */
export async function tipsOfLine(engine: Uses<'git' | 'store'>, line: string): Promise<string> {
  return (await tipsAround(engine, line)).join(' ');
}

async function tipsAround(
  { git, store }: Uses<'git' | 'store'>,
  line: string,
): Promise<readonly (Sha | null)[]> {
  const target = (await readLine(store.db, line))?.parent_branch ?? null;
  const branches = target === null ? [line] : [line, target];
  return Promise.all(branches.map((branch) => git.readRef(landingRef(branch))));
}

export async function containsAll(
  { git }: Uses<'git'>,
  tip: Sha,
  commits: readonly Sha[],
): Promise<boolean> {
  for (const commit of commits)
    if (commit !== tip && !(await git.isAncestor(commit, tip))) return false;
  return true;
}

/**
 * Removes stale lines, because git cannot have a branch below the name of another one. The tips of
 * lines whose branches were deleted are kept under `refs/drover/rescue/lines/`, and their refs are
 * deleted.
 */
export async function clearStaleLines(
  engine: Uses<'git' | 'store'>,
  branch: string,
): Promise<void> {
  const { git, store } = engine;
  const refuse = (error: GitFailure): never => {
    throw new Refusal(error.kind, error.message);
  };
  for (const { branch: stale, landed_sha: known } of await allLines(store.db)) {
    if (!stale.startsWith(`${branch}/`) && !branch.startsWith(`${stale}/`)) continue;
    if ((await git.readRef(branchRef(stale))) !== null) continue;
    const landed = await git.readRef(landingRef(stale));
    const reason = 'drover: branch is gone';
    if (landed !== null) {
      const kept = await keepTip(engine, stale, landed, reason);
      if (!kept.ok) refuse(kept.error);
      const change = { ref: landingRef(stale), next: null, old: landed };
      const gone = await git.updateRefs([change], reason);
      if (!gone.ok) refuse(gone.error);
      // A new branch with the same name starts without the work that waited here.
      await store.transaction(async (tx) => {
        await recordLine(tx, stale, { landed: known, followed: known });
        await setPending(tx, store.sources, stale, { tip: known, commits: 0, reason: null });
      });
    }
    const result = resultBranch(stale);
    const present = await git.readRef(branchRef(result));
    if (present === null) continue;
    const moved = await git.moveBranch(result, null, present);
    if (!moved.ok) refuse(moved.error);
  }
}
