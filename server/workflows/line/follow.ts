// Moves the branch to its landing line, and maintains `drover/results/<branch>` while that is
// impossible.

import { describeHold } from '../../core/line/holds.ts';
import { err, type Result } from '../../core/failure.ts';
import { branchRef } from '../../core/work/ref-names.ts';
import type { FollowOutcome, GitResult } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import { noteTried, readLine, recordLine, setPending } from '../../store/port.ts';
import { withGitFallback } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { type Settled, settleLine } from './line.ts';
import { moveLine } from './move.ts';
import { keepResultBranch } from './result-branch.ts';
import { mergeTogether } from './together.ts';
import { noteFiles } from './wrong-states.ts';

type Following = Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>;

export interface Followed {
  readonly pending: number;
  readonly reason: string | null;
}

const looksMax = 5;

/**
 * Moves the branch to its landing line. `asOf`: for callers that did not move the line themselves,
 * because another machine may have. `obstacle`: a known reason why the branch cannot move.
 */
export async function followLine(
  engine: Following,
  branch: string,
  asOf?: 'now',
  obstacle: string | null = null,
): Promise<Followed> {
  return withGitFallback(
    async () => {
      for (let looks = 1; ; looks += 1) {
        const settled = await settleLine(engine, branch, asOf);
        if (!settled.ok) return waitFor(engine, branch, settled.error.message);
        const done = await followSettled(engine, branch, settled.value, obstacle);
        if (done !== null) return done;
        if (looks >= looksMax)
          return waitFor(engine, branch, `${branch} moves too often to follow the landed work.`);
      }
    },
    (trouble) => waitFor(engine, branch, trouble.message),
  );
}

/** Returns null if the line or the branch moved after it was read. */
async function followSettled(
  engine: Following,
  branch: string,
  settled: Settled,
  obstacle: string | null,
): Promise<Followed | null> {
  const { step, row, work } = settled;
  switch (step.kind) {
    case 'absent':
      return { pending: 0, reason: null };
    case 'hold':
      return { pending: row?.pending ?? 0, reason: describeHold(branch, step.hold) };
    case 'rest':
      return finish(engine, branch, settled, step.tip, { pending: 0, reason: null });
    case 'follow':
      return moveBranch(engine, branch, settled, obstacle);
    case 'merge': {
      const reason = `${branch} has commits that are not part of the landed work yet.`;
      const pending = { pending: work.length, reason: obstacle ?? reason };
      return finish(engine, branch, settled, step.tip, pending);
    }
    case 'replay': {
      const both = await mergeTogether(engine, settled, step);
      const reason = both.ok
        ? (both.value.reason ??
          `${branch} was rewritten while landed work waits for it; that work is moved over without what was removed.`)
        : both.error.message;
      const pending = { pending: work.length, reason: obstacle ?? reason };
      return finish(engine, branch, settled, both.ok ? both.value.shown : null, pending);
    }
  }
}

async function moveBranch(
  engine: Following,
  branch: string,
  settled: Settled,
  obstacle: string | null,
): Promise<Followed | null> {
  const { line: tip, target } = settled.facts;
  if (tip === null) return null;
  const moved: GitResult<FollowOutcome> = await engine.git.follow(
    branchRef(branch),
    tip,
    engine.settings().follow,
    target,
  );
  if (!moved.ok && moved.error.kind === 'stale') return null;
  if (!moved.ok) return finish(engine, branch, settled, tip, waits(1, moved.error.message));
  const outcome = moved.value;
  if (outcome.kind === 'pending')
    return finish(engine, branch, settled, tip, waits(outcome.commits, obstacle ?? outcome.reason));
  if (outcome.wrong !== undefined) await noteFiles(engine, branch, outcome.wrong);
  // Users have already committed on top of it; the next check handles that.
  if (outcome.sha !== tip) return null;
  return finish(engine, branch, settled, tip, { pending: 0, reason: null });
}

function waits(pending: number, reason: string): Followed {
  return { pending: Math.max(1, pending), reason };
}

/** Returns null without recording anything if another process has recorded a newer tip. */
async function finish(
  engine: Following,
  branch: string,
  { row, facts: { line } }: Settled,
  shown: Sha | null,
  end: Followed,
): Promise<Followed | null> {
  const { store } = engine;
  if (line === null) return null;
  const isWritten = await store.transaction(async (tx) => {
    const known = await readLine(tx, branch);
    if (known !== null && known.landed_sha !== row?.landed_sha && known.landed_sha !== line)
      return false;
    const followed = end.pending === 0 ? { followed: line } : {};
    await recordLine(tx, branch, { landed: line, ...followed });
    await setPending(tx, store.sources, branch, {
      tip: line,
      commits: end.pending,
      reason: end.reason,
    });
    return true;
  });
  if (!isWritten) return null;
  if (end.pending === 0) await keepResultBranch(engine, branch, null);
  else if (shown !== null) await keepResultBranch(engine, branch, shown);
  return end;
}

/** Git could not read the line. Landed work counts as waiting until it can. */
async function waitFor(engine: Following, branch: string, reason: string): Promise<Followed> {
  const { store } = engine;
  const known = await readLine(store.db, branch);
  if (known === null) return { pending: 0, reason: null };
  const commits = Math.max(1, known.pending);
  const tip = known.landed_sha;
  await store.transaction((tx) => setPending(tx, store.sources, branch, { tip, commits, reason }));
  return { pending: commits, reason };
}

/** Tests a tree of landings and users' commits. Resolves with a sentence if it must not land. */
export type TestTogether = (made: {
  readonly commit: Sha;
  readonly tree: Sha;
}) => Promise<string | null>;

/**
 * Brings landed work that waits for a branch there without a person's action. If users committed to
 * the branch or removed commits from it, this takes one tested commit. `test` is null if another
 * machine tests it.
 */
export async function tendLine(
  engine: Following,
  branch: string,
  test: TestTogether | null,
): Promise<Followed> {
  const obstacle = test === null ? null : await moveTogether(engine, branch, test);
  return followLine(engine, branch, 'now', obstacle);
}

async function moveTogether(
  engine: Following,
  branch: string,
  test: TestTogether,
): Promise<string | null> {
  const made = await withGitFallback<Result<string | null>>(async () => {
    const settled = await settleLine(engine, branch, 'now');
    if (!settled.ok) return { ok: true, value: null };
    const { step } = settled.value;
    if (step.kind !== 'merge' && step.kind !== 'replay') return { ok: true, value: null };
    const both = await mergeTogether(engine, settled.value, step);
    if (!both.ok) return both;
    const { commit: next, tree, reason } = both.value;
    if (next === null || tree === null) return { ok: true, value: reason };
    const red = await test({ commit: next, tree });
    if (red !== null) return { ok: true, value: red };
    const moved = await moveLine(engine, branch, {
      next,
      old: step.tip,
      reason: `drover: take in ${branch}`,
      includes: step.target,
      isAlone: true,
    });
    if (moved.ok) return { ok: true, value: null };
    await engine.store.transaction((tx) => noteTried(tx, branch, null));
    return { ok: true, value: moved.error.message };
  }, err);
  return made.ok ? made.value : made.error.message;
}
