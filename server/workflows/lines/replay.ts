// Landed work that waits for a branch which people have rewritten: each landing's own change again,
// on a history without what they removed. Only Drover's commits are repeated.

import { MadeOnce } from '../../core/made-once.ts';
import { attemptMark, trailer, type TrailerKind, trailerValue } from '../../core/work/trailers.ts';
import { err, failure, ok, type Result } from '../../core/failure.ts';
import { resultBranch } from '../../core/work/ref-names.ts';
import type { LineCommit } from '../../git/port.ts';
import { readLine, type Reads } from '../../store/port.ts';
import { gitFailed } from '../kit/git-trouble.ts';
import { lineMax, ownBase } from './own-range.ts';
import { waitingOn } from './waiting-work.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

/** The line at `tip` waits for the branch, which is at `target`. */
interface Tips {
  readonly target: Sha;
  readonly tip: Sha;
}

interface Replay {
  readonly head: Sha;
  /** What could not be repeated because it conflicts, and what landed after it; oldest first. */
  readonly left: readonly Sha[];
  /** In conflict. */
  readonly files: readonly string[];
}

/**
 * The landed work that waits, on top of what people have made of the branch; a conflict with the
 * remedy as its sentence.
 */
export async function replayOnto(
  engine: Uses<'git' | 'store'>,
  branch: string,
  target: Sha,
  tip: Sha,
): Promise<Result<Sha>> {
  const whole = await replayed(engine, branch, { target, tip }, target);
  if (!whole.ok) return whole;
  const { head, left, files } = whole.value;
  if (left.length === 0) return ok(head);
  const beside = await besideTarget(engine, branch, { target, tip });
  const remedy = beside.ok ? remedyOf(branch, target, beside.value) : null;
  return err(
    failure(
      'conflict',
      `${branch} was rewritten while landed work waits for it, and both change ${files.join(', ')}; ${remedy ?? pickAll(branch, left)}, then run again`,
    ),
  );
}

function remedyOf(branch: string, target: Sha, { head, left }: Replay): string {
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

/**
 * What `drover/results/<branch>` shows of a line whose branch was rewritten: people may merge it,
 * so it is without what they removed. Null: that is unknown now.
 */
export async function resultTip(
  engine: Uses<'git' | 'store'>,
  branch: string,
  target: Sha,
  tip: Sha,
): Promise<Sha | null> {
  const whole = await replayed(engine, branch, { target, tip }, target);
  if (!whole.ok) return null;
  if (whole.value.left.length === 0) return whole.value.head;
  const beside = await besideTarget(engine, branch, { target, tip });
  return beside.ok ? beside.value.head : null;
}

/**
 * On the last commit that the branch and the line have in common: where people's newer commits
 * conflict with the work, a merge of it is theirs to settle.
 */
async function besideTarget(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tips: Tips,
): Promise<Result<Replay>> {
  const shared = await engine.git.mergeBase(tips.target, tips.tip);
  return replayed(engine, branch, tips, shared ?? tips.target);
}

/**
 * The last replays of each line, so that a further check makes no new commits while neither tip has
 * moved.
 */
const madeOf = new MadeOnce<Reads, Map<string, { readonly key: string; readonly made: Replay }>>();

/** For when git does not accept one of them any more: a person may have pruned it. */
export function forgetReplays(engine: Uses<'store'>): void {
  madeOf.of(engine.store.db, () => new Map()).clear();
}

async function replayed(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tips: Tips,
  start: Sha,
): Promise<Result<Replay>> {
  const followed = (await readLine(engine.store.db, branch))?.followed_sha ?? null;
  const known = madeOf.of(engine.store.db, () => new Map());
  const name = `${branch} ${start === tips.target}`;
  const key = [tips.target, tips.tip, start, followed].join(' ');
  const before = known.get(name);
  if (before?.key === key) return ok(before.made);
  const made = await replay(engine, branch, tips, { start, followed });
  if (made.ok) known.set(name, { key, made: made.value });
  return made;
}

async function replay(
  engine: Uses<'git' | 'store'>,
  branch: string,
  { target, tip }: Tips,
  { start, followed }: { readonly start: Sha; readonly followed: Sha | null },
): Promise<Result<Replay>> {
  const { git } = engine;
  const waiting = await waitingOn(engine, branch, { followed, tip });
  if (!waiting.ok) return err(gitFailed(waiting.error));
  const isThere = await brought(engine, target, tip);
  const work: LineCommit[] = [];
  for (const commit of waiting.value.work.toReversed()) {
    if (!isThere(commit) && !(await git.isAncestor(commit.sha, target))) work.push(commit);
  }
  let head = start;
  for (const [at, commit] of work.entries()) {
    const { sha, parents, subject } = commit;
    const before = parents[0] ?? null;
    const base = (await ownBase(engine, branch, { head, commit: sha, base: before })) ?? before;
    const trailers = trailersAgain(commit, head === start ? start : null);
    const merged = await git.merge({ tip: head, commit: sha, base, subject, trailers });
    if (!merged.ok) return err(gitFailed(merged.error));
    if (merged.value.kind === 'conflict') {
      const left = work.slice(at).map((each) => each.sha);
      return ok({ head, left, files: merged.value.files });
    }
    const tree = await git.treeOf(head);
    if (!tree.ok || tree.value !== merged.value.tree) head = merged.value.commit;
  }
  return ok({ head, left: [], files: [] });
}

function trailersAgain(commit: LineCommit, onto: Sha | null): readonly string[] {
  const kept = commit.trailers.filter(
    (each) => trailerValue('onto', each) === null && trailerValue('was', each) === null,
  );
  // The merge of an epic names the line that it holds: by its parent, which it has no longer.
  const [, line] = commit.parents;
  const isEpic = valueIn('epic', kept) !== null && valueIn('tip', kept) === null;
  return [
    ...kept,
    ...(isEpic && line !== undefined ? [trailer('tip', line)] : []),
    trailer('was', originOf(commit)),
    ...(onto === null ? [] : [trailer('onto', onto)]),
  ];
}

/** The landing that the commit repeats, or is. */
function originOf({ sha, trailers }: LineCommit): string {
  return valueIn('was', trailers) ?? sha;
}

function valueIn(kind: TrailerKind, trailers: readonly string[]): string | null {
  for (const each of trailers) {
    const value = trailerValue(kind, each);
    if (value !== null) return value;
  }
  return null;
}

/**
 * Which landings people have brought into the branch by another commit, with conflicts that they
 * settled: repeating them would conflict once more. A picked landing is on the branch's own line;
 * elsewhere, the same trailers may be those of a part of an attempt.
 */
async function brought(
  { git }: Uses<'git'>,
  target: Sha,
  tip: Sha,
): Promise<(commit: LineCommit) => boolean> {
  const all = await git.lineCommits(tip, target, lineMax, 'all');
  const line = await git.lineCommits(tip, target, lineMax);
  const origins = new Set(
    (all.ok ? all.value : []).map(({ trailers }) => valueIn('was', trailers)),
  );
  const picked = new Set((line.ok ? line.value : []).map(({ trailers }) => attemptMark(trailers)));
  return (commit) => {
    const mark = attemptMark(commit.trailers);
    return origins.has(originOf(commit)) || (mark !== null && picked.has(mark));
  };
}
