// Gathers the facts about a line, once for each decision.

import { type LineFacts, type Relation } from '../../core/line/decide.ts';
import { bearOurHand, waitingLandings, withoutBrought } from '../../core/line/waiting.ts';
import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import { type GitResult, GitRefusal, type LineCommit } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import {
  attemptsOfAgents,
  droppedTips,
  isNotedTip,
  type LineRow,
  readLine,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** Maximum number of commits read for one question. */
export const lineMax = 5_000;

export interface Gathered {
  readonly facts: LineFacts;
  readonly row: LineRow | null;
  /** W, oldest first. */
  readonly work: readonly LineCommit[];
}

/** `asOf`: fetch from the remote of a fleet instead of using the last fetch. */
export async function gather(
  engine: Uses<'git' | 'machineId' | 'store'>,
  branch: string,
  asOf?: 'now',
): Promise<Gathered> {
  const { git, store } = engine;
  // Read before the refs: a row older than the refs distinguishes a rewind from a branch that
  // merely follows.
  const row = await readLine(store.db, branch);
  const line = await git.readRef(landingRef(branch), asOf);
  const target = await git.readRef(branchRef(branch), asOf);
  const known = row === null ? null : { landed: row.landed_sha, followed: row.followed_sha };
  const facts: LineFacts = {
    branch,
    line,
    target,
    known,
    isOurs: line === null || (await isOurs(engine, branch, line, row)),
    relation: line === target && line !== null ? 'same' : null,
    holdsFollowed: true,
    waiting: 0,
    ungated: null,
    isRemembered: engine.machineId !== '' && asOf === undefined,
  };
  if (line === null || target === null || line === target) return { facts, row, work: [] };
  const relation = await relate(engine, line, target);
  const followed = known?.followed ?? null;
  const holdsFollowed = followed === null || (await git.isAncestor(followed, target));
  const work =
    relation === 'target_ahead' ? [] : await waitingWork(engine, branch, { line, target, row });
  const ungated = relation === 'line_ahead' ? null : await ungatedTask(engine, { line, target });
  return {
    facts: { ...facts, relation, holdsFollowed, waiting: work.length, ungated },
    row,
    work,
  };
}

interface Tips {
  readonly line: Sha;
  readonly target: Sha;
}

async function relate({ git }: Uses<'git'>, line: Sha, target: Sha): Promise<Relation> {
  if (await git.isAncestor(line, target)) return 'target_ahead';
  return (await git.isAncestor(target, line)) ? 'line_ahead' : 'apart';
}

async function waitingWork(
  { git }: Uses<'git'>,
  branch: string,
  { line, target, row }: Tips & { readonly row: LineRow | null },
): Promise<readonly LineCommit[]> {
  // Users removed all of L from the branch, and a process died before L moved.
  if (droppedTips(row).includes(line)) return [];
  // A process that died had recorded a state of the branch that users have removed and pruned
  // since.
  const followed = row?.followed_sha ?? null;
  const since = followed !== null && (await git.treeOf(followed)).ok ? followed : target;
  const work = waitingLandings(branch, listed(await git.lineCommits(since, line, lineMax)));
  if (work.length === 0) return work;
  return withoutBrought(work, {
    line: listed(await git.lineCommits(line, target, lineMax)),
    all: listed(await git.lineCommits(line, target, lineMax, 'all')),
  });
}

function listed(commits: GitResult<readonly LineCommit[]>): readonly LineCommit[] {
  if (!commits.ok) throw new GitRefusal(commits.error);
  return commits.value;
}

/** Maximum number of commits checked for being written by Drover. */
const unknownMax = 500;

async function isOurs(
  { git, store }: Uses<'git' | 'store'>,
  branch: string,
  found: Sha,
  row: LineRow | null,
): Promise<boolean> {
  if (row === null || found === row.landed_sha) return true;
  if (await isNotedTip(store.db, branch, found)) return true;
  if (!(await git.isAncestor(row.landed_sha, found))) return false;
  const commits = await git.lineCommits(row.landed_sha, found, unknownMax);
  return commits.ok && commits.value.length < unknownMax && bearOurHand(commits.value);
}

/**
 * The task whose work is on the branch without having passed the gate. Returns null if users made
 * all other commits.
 */
async function ungatedTask(
  { git, store }: Uses<'git' | 'store'>,
  { line, target }: Tips,
): Promise<string | null> {
  for (const attempt of await attemptsOfAgents(store.db)) {
    const tip = (await git.readRef(branchRef(attempt.branch))) ?? attempt.commit_sha;
    if (tip === null || tip === attempt.base_sha) continue;
    const shared = await git.mergeBase(tip, target);
    if (shared === null || (await git.isAncestor(shared, line))) continue;
    if (await git.isAncestor(shared, attempt.base_sha ?? shared)) continue;
    return attempt.task_id;
  }
  return null;
}
