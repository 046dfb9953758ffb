// The outcome of an epic whose pull request was merged, closed or changed by someone else, and the
// run that continues its work.

import { branchRef, landingRef } from '../core/work/ref-names.ts';
import type { Reaction } from '../core/forge/decide.ts';
import type { GitRemote } from '../forge/git-remote.ts';
import {
  addReaction,
  epicsAfterMerges,
  moveLandedWork,
  type PullRow,
  setEpicWaiting,
  setPull,
} from '../store/forge/pull-requests.ts';
import {
  activeRunsIn,
  epicById,
  markEpicLanded,
  movingInScope,
  newestRun,
  runById,
  type RunRow,
} from '../store/port.ts';
import { followLine } from '../workflows/line/follow.ts';
import { moveLine } from '../workflows/line/move.ts';
import { startRun } from '../workflows/run/start-run.ts';
import { shownReaction } from './give-facts.ts';
import type { SendDeps } from './sent.ts';

type Engine = SendDeps['engine'];
const filesShownMax = 5;

/** The merge commit decides: either its tree is the tested one, or the difference is described. */
export async function endMerged(
  engine: Engine,
  remote: GitRemote,
  pull: PullRow,
  commit: string | null,
): Promise<void> {
  const fetched = await remote.fetch(pull.base);
  const run = await runById(engine.store.db, pull.run_id);
  if (!fetched.ok || commit === null || run === null) return;
  const isThere = await engine.git.isAncestor(commit, fetched.value);
  // The response may be newer than the fetched commits.
  if (!isThere) return;
  const name = `PR #${pull.number}`;
  const { words, isTested } = await namedDifference(engine, name, pull.tested_tree, commit);
  const holdsLine = await engine.git.isAncestor(pull.head_sha, commit);
  // This runs before the end is recorded, so that it is repeated after a crash in between.
  await bringHome(engine, run.target_branch, fetched.value);
  await engine.store.transaction(async (tx) => {
    await setPull(tx, pull, { state: 'merged', note: words });
    if (!holdsLine) await moveLandedWork(tx, run.line, { branch: run.target_branch, sha: commit });
    await markEpicLanded(tx, pull.epic_id, commit);
    await engine.store.append(tx, {
      type: 'epic.landed',
      epicId: pull.epic_id,
      runId: pull.run_id,
      data: {
        sha: commit,
        branch: run.target_branch,
        pull_request: pull.number,
        as_tested: isTested,
        reason: words,
      },
    });
  });
  engine.switchboard.wake();
}

/** Moves the local target too, unless it has commits that the forge does not have. */
export async function bringHome(engine: Engine, target: string, tip: string): Promise<void> {
  const landed = await engine.git.readRef(landingRef(target));
  const branch = await engine.git.readRef(branchRef(target));
  for (const present of [landed, branch]) {
    if (present !== null && !(await engine.git.isAncestor(present, tip))) return;
  }
  if (landed === null || landed === tip) return;
  const reason = 'drover: merged on the forge';
  const moved = await moveLine(engine, target, { next: tip, old: landed, reason, isAlone: true });
  if (!moved.ok) return;
  await followLine(engine, target);
}

/** Describes how the merge differs from the tested tree. */
export async function namedDifference(
  engine: Engine,
  name: string,
  tree: string,
  commit: string,
): Promise<{ readonly words: string; readonly isTested: boolean }> {
  const difference = await differenceTo(engine, tree, commit);
  if (difference === null) return { words: `${name} was merged as tested`, isTested: true };
  const words = `${name} was merged with a result that the gate has not tested: ${difference}`;
  return { words, isTested: false };
}

async function differenceTo(engine: Engine, tree: string, commit: string): Promise<string | null> {
  const merged = await engine.git.treeOf(commit);
  if (merged.ok && merged.value === tree) return null;
  const paths = await engine.git.changedPaths(tree, commit);
  if (!paths.ok) return `the tested tree ${tree} is not found here any more`;
  const shown = paths.value.slice(0, filesShownMax).join(', ');
  const more = paths.value.length - filesShownMax;
  return `${shown}${more > 0 ? ` and ${more} more` : ''} differ`;
}

export async function giveBackPull(
  engine: Engine,
  pull: PullRow,
  { why, isOver, fact }: Extract<Reaction, { readonly kind: 'returned' }>,
): Promise<void> {
  const id = pull.epic_id;
  const remedy = isOver
    ? `drover send-back ${id} "…" adds work to it, and drover run --epic ${id} --land pr opens another`
    : `decide there, or give it to an agent once more with drover send-back ${id} "…"`;
  const note = engine.mask(`${why}; ${remedy}`);
  await engine.store.transaction(async (tx) => {
    const known = await epicById(tx, id);
    if (known?.landing_state === 'returned' && known.landing_note === note) return;
    if (fact !== undefined) await addReaction(tx, shownReaction(pull, fact, engine.clock.now()));
    await setPull(tx, pull, { ...(isOver ? { state: 'closed' as const } : {}), note });
    await setEpicWaiting(tx, id, { state: 'returned', note });
    await engine.store.append(tx, {
      type: 'epic.returned',
      epicId: id,
      runId: pull.run_id,
      data: { reason: note, pull_request: pull.number },
    });
  });
}

/** Commits that someone pushed on top become part of the epic's branch and are gated. */
export async function adoptForeign(
  engine: Engine,
  remote: GitRemote,
  pull: PullRow,
  sha: string,
): Promise<void> {
  const run = await newestRun(engine.store.db, { epicId: pull.epic_id });
  const fetched = await remote.fetch(pull.branch);
  if (run === null || !fetched.ok || fetched.value !== sha) return;
  const line = branchRef(run.line);
  const present = await engine.git.readRef(line);
  if (present === null) return;
  const next = await withForeign(engine, present, sha, pull);
  if (next === null) {
    const why = `${sha.slice(0, 12)}, which someone pushed to PR #${pull.number}, conflicts with ${run.line}`;
    return giveBackPull(engine, pull, { kind: 'returned', why, isOver: false });
  }
  const moved = await engine.git.moveBranch(line, next, present);
  if (!moved.ok || moved.value.kind !== 'moved') return;
  await engine.store.transaction(async (tx) => {
    await setPull(tx, pull, { head_sha: sha });
    await engine.store.append(tx, {
      type: 'epic.foreign_commits',
      epicId: pull.epic_id,
      data: { number: pull.number, from: pull.head_sha, to: sha },
    });
  });
  await startReleasedRun(engine, run);
}

async function withForeign(
  engine: Engine,
  present: string,
  sha: string,
  { number }: PullRow,
): Promise<string | null> {
  if (await engine.git.isAncestor(present, sha)) return sha;
  if (await engine.git.isAncestor(sha, present)) return present;
  const subject = `drover: take in commits of PR #${number}`;
  const merged = await engine.git.merge({ tip: present, commit: sha, subject, trailers: [] });
  return merged.ok && merged.value.kind === 'merged' ? merged.value.commit : null;
}

/** Returns true if a run of the epic is active, or was started for the remaining tasks. */
export async function continueRun(engine: Engine, pull: PullRow): Promise<boolean> {
  const { db } = engine.store;
  const run = await newestRun(db, { epicId: pull.epic_id });
  if (run === null || run.state === 'active') return run !== null;
  // A person has stopped it.
  if (run.state === 'stopped') return false;
  const scope = { epicId: pull.epic_id, exceptEpics: [], tasks: null };
  const moving = await movingInScope(db, scope, { canStart: true, heldEpics: [] });
  if (moving === 0) return false;
  await startReleasedRun(engine, run);
  return true;
}

/** Runs that ended because their epics waited for an epic that has been merged since. */
export async function releasedRuns({ store: { db } }: Engine): Promise<readonly RunRow[]> {
  const released: RunRow[] = [];
  for (const { epicId, mergedAtMs } of await epicsAfterMerges(db)) {
    const run = await newestRun(db, { epicId });
    const hasEnded = run?.state === 'finished' && (run.ended_at_ms ?? 0) < mergedAtMs;
    if (run !== null && hasEnded && run.land === 'pr') released.push(run);
  }
  return released;
}

export async function startReleasedRun(engine: Engine, last: RunRow): Promise<void> {
  const isActive = (await activeRunsIn(engine.store.db)).some(
    ({ epic_id: id }) => id === last.epic_id,
  );
  if (isActive) return;
  await engine.useRun(last);
  await startRun(engine, {
    workers: last.workers,
    epicId: last.epic_id,
    tasks: null,
    target: last.target_branch,
    land: 'pr',
    flags: JSON.parse(last.flags) as Readonly<Record<string, unknown>>,
  });
}
