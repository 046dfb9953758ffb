// Combines users' commits on a branch with the landings that wait for it: either by a merge, or by
// repeating each landing on a branch from which users removed commits.

import { type LineStep } from '../../core/line/decide.ts';
import { repeatedTrailers, takeInSubject } from '../../core/line/waiting.ts';
import { err, ok, type Result } from '../../core/failure.ts';
import { resultBranch } from '../../core/work/ref-names.ts';
import { GitRefusal, type LineCommit } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import { noteDropped, noteTried, type TriedMerge, triedMerge } from '../../store/port.ts';
import { gitFailed } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { handMerge } from './advice.ts';
import type { Gathered } from './facts.ts';
import { keepTip } from './move.ts';
import { recordRewind } from './wrong-states.ts';

export type Together = Extract<LineStep, { kind: 'merge' | 'replay' }>;

/**
 * Built once for a pair of tips, so that further checks create no new commits while neither moves.
 */
export async function mergeTogether(
  engine: Uses<'git' | 'store'>,
  { facts: { branch }, row, work }: Gathered,
  step: Together,
): Promise<Result<TriedMerge>> {
  const { kind, target, tip } = step;
  const before = triedMerge(row);
  const isSame = before?.kind === kind && before.target === target && before.tip === tip;
  if (isSame && (await isFound(engine, before))) return ok(before);
  const made =
    step.kind === 'merge'
      ? await mergeTheirs(engine, branch, step)
      : await repeatOurs(engine, branch, step, work);
  if (!made.ok) return made;
  const tried = { kind, target, tip, ...made.value };
  await engine.store.transaction((tx) => noteTried(tx, branch, tried));
  const followed = row?.followed_sha ?? null;
  if (step.kind === 'replay' && followed !== null)
    await noteRemoved(engine, branch, followed, target);
  return ok(tried);
}

/** Records the removed state, so that unfinished work which contains it does not restore it. */
async function noteRemoved(
  engine: Uses<'git' | 'store'>,
  branch: string,
  followed: Sha,
  target: Sha,
): Promise<void> {
  await keepTip(engine, branch, followed, 'drover: rewritten');
  await engine.store.transaction((tx) => noteDropped(tx, branch, followed));
  await recordRewind(engine, branch, followed, target);
}

/** Returns false if a user pruned the commits. */
async function isFound({ git }: Uses<'git'>, { commit, shown }: TriedMerge): Promise<boolean> {
  for (const sha of [commit, shown]) if (sha !== null && !(await git.treeOf(sha)).ok) return false;
  return true;
}

type Made = Omit<TriedMerge, 'kind' | 'target' | 'tip'>;

async function mergeTheirs(
  engine: Uses<'git'>,
  branch: string,
  { target, tip }: Together,
): Promise<Result<Made>> {
  const { git } = engine;
  const subject = takeInSubject(branch);
  const merged = await git.merge({ tip, commit: target, subject, trailers: [] });
  const impossible = (reason: string): Result<Made> =>
    ok({ commit: null, tree: null, shown: tip, reason });
  if (!merged.ok) {
    if ((await git.mergeBase(target, tip)) !== null) return err(gitFailed(merged.error));
    const from = { branch: resultBranch(branch), tip };
    const advice = await handMerge(engine, from, { branch, tip: target });
    return impossible(
      `the landed work that waits for ${branch} is on another history; ${advice}, then run again`,
    );
  }
  if (merged.value.kind === 'conflict')
    return impossible(
      `commits on ${branch} conflict with landed work that waits for it (${merged.value.files.join(', ')}); merge ${resultBranch(branch)} into ${branch} by hand, then run again`,
    );
  const { commit, tree } = merged.value;
  return ok({ commit, tree, shown: tip, reason: null });
}

interface Repeated {
  readonly head: Sha;
  readonly tree: Sha | null;
  /** The first landing that conflicts and all later ones, oldest first. */
  readonly left: readonly Sha[];
  /** The conflicting files. */
  readonly files: readonly string[];
}

async function repeatOurs(
  engine: Uses<'git'>,
  branch: string,
  { target, tip }: Together,
  work: readonly LineCommit[],
): Promise<Result<Made>> {
  const whole = await repeatOn(engine, work, target);
  if (!whole.ok) return whole;
  const { head, tree, left, files } = whole.value;
  if (left.length === 0) return ok({ commit: head, tree, shown: head, reason: null });
  // Users' newer commits conflict with the work, so the user merges it by hand: as a branch on the
  // last common commit.
  const shared = await engine.git.mergeBase(target, tip);
  const beside = await repeatOn(engine, work, shared ?? target);
  const remedy = beside.ok ? remedyFor(branch, target, beside.value) : pickAll(branch, left);
  return ok({
    commit: null,
    tree: null,
    shown: beside.ok ? beside.value.head : null,
    reason: `${branch} was rewritten while landed work waits for it, and both change ${files.join(', ')}; ${remedy}, then run again`,
  });
}

/** Repeats each landing with its own parent as the base, so that only its own change is applied. */
async function repeatOn(
  { git }: Uses<'git'>,
  work: readonly LineCommit[],
  start: Sha,
): Promise<Result<Repeated>> {
  const begun = await git.treeOf(start);
  if (!begun.ok) throw new GitRefusal(begun.error);
  let [head, tree] = [start, begun.value];
  for (const [at, commit] of work.entries()) {
    const { sha, parents, subject } = commit;
    const base = parents[0] ?? null;
    const trailers = repeatedTrailers(commit);
    const merged = await git.merge({ tip: head, commit: sha, base, subject, trailers });
    if (!merged.ok) return err(gitFailed(merged.error));
    if (merged.value.kind === 'conflict') {
      const left = work.slice(at).map((each) => each.sha);
      return ok({ head, tree, left, files: merged.value.files });
    }
    // The branch already has the same change.
    if (merged.value.tree === tree) continue;
    ({ commit: head, tree } = merged.value);
  }
  return ok({ head, tree, left: [], files: [] });
}

function remedyFor(branch: string, target: Sha, { head, left }: Repeated): string {
  const result = resultBranch(branch);
  const merge = `merge ${result} into ${branch} by hand`;
  if (left.length === 0) return `${merge} (it is without what was removed)`;
  return head === target ? pickAll(branch, left) : `${merge}, and ${pickAll(branch, left)}`;
}

const shortLength = 12;

function pickAll(branch: string, commits: readonly Sha[]): string {
  const picks = commits.map((sha) => sha.slice(0, shortLength)).join(' ');
  return `run git cherry-pick -m 1 ${picks} on ${branch} (a merge of them brings back what was removed)`;
}
