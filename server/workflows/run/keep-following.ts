// Retries target branches that could not follow their landing line, so that landed work arrives
// without a person's action: also if people have committed to the branch in the meantime, by a
// merge of both that has passed the gate. It also finds tasks that an ended run has left without an
// owner.

import { MadeOnce } from '../../core/made-once.ts';
import { branchRef, landingRef, resultBranch } from '../../core/work/ref-names.ts';
import { runGate, type Gating } from '../landing/gate.ts';
import { endGivenAway } from './given-away.ts';
import { handMerge } from '../lines/hand-merge.ts';
import { followAsOfNow } from '../lines/follow-line.ts';
import { moveLine } from '../lines/line-holds.ts';
import { syncLine, takeInConflict } from '../lines/lines.ts';
import { returnOrphans } from './orphans.ts';
import { forgetReplays, replayOnto } from '../lines/replay.ts';
import { rewrittenTo, takeInSubject } from '../lines/waiting-work.ts';
import { checkWrongStates } from '../lines/wrong-states.ts';
import type { Engine, Uses } from '../kit/engine-ports.ts';
import { activeRuns } from './start-run.ts';
import { gateOfRun } from '../attempt/submission.ts';
import { sweepBranches } from './sweep.ts';
import type { Sha } from '../../git/sha.ts';
import {
  allLines,
  lastFinishedRun,
  type LineRow,
  newestRun,
  noteTaken,
  type Reads,
} from '../../store/port.ts';

const tryAgainMs = 2_000;
/** A merge that was red is tested again after this time: the cause may be outside the tree. */
const redAgainMs = 600_000;

/** Checks from `begin` to `end`. Each check costs a few small queries while nothing waits. */
export class LineFollowing {
  readonly #engine: Engine;
  readonly #stopped = new AbortController();
  #off = (): void => {};
  #swept: string | null = null;
  #isFirstLook = true;
  #round = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  begin(): this {
    this.#again();
    return this;
  }

  #again(): void {
    if (this.#stopped.signal.aborted) return;
    const { clock, switchboard, report } = this.#engine;
    this.#off = clock.timer(tryAgainMs, () => {
      switchboard
        .whileWorking(() => this.#look())
        .catch((error: unknown) => report(error, 'following landed work'))
        .finally(() => this.#again());
    });
  }

  end(): void {
    this.#stopped.abort();
    this.#off();
  }

  async #look(): Promise<void> {
    const engine = this.#engine;
    const { signal } = this.#stopped;
    if (engine.machineId !== '') await endGivenAway(engine);
    // An active run checks its tasks itself; without one, an approval or the end of a stop may have
    // lost its workflow.
    if ((await activeRuns(engine)).length === 0) {
      await returnOrphans(engine);
      await this.#sweepHere();
    }
    const lines = await allLines(engine.store.db);
    const waiting = lines.filter((line) => line.pending > 0);
    if (this.#isFirstLook) waiting.push(...(await movedUnnoticed(engine, lines)));
    this.#isFirstLook = false;
    await checkWrongStates(engine, lines, (this.#round += 1));
    // A person's decision in the meantime frees a held line.
    const held = lines.filter((line) => line.held_reason !== null);
    for (const { branch } of held) await syncLine(engine, branch);
    for (const { branch } of waiting) {
      // Another machine tests a merge; this one only follows.
      const obstacle = engine.lands() ? await mergeTheirs(engine, branch, signal) : null;
      if (signal.aborted) return;
      await followAsOfNow(engine, branch, obstacle);
    }
  }

  /**
   * The machine that ran a run has swept its own clone; the others have branches of what has landed
   * as well.
   */
  async #sweepHere(): Promise<void> {
    const engine = this.#engine;
    if (engine.machineId === '') return;
    const last = await lastFinishedRun(engine.store.db);
    if (last === null || last === this.#swept) return;
    await sweepBranches(engine);
    this.#swept = last;
  }
}

/**
 * Lines that were moved by a process that died before it had written that down, and beside which
 * another one has called the line followed.
 */
async function movedUnnoticed(
  engine: Uses<'git'>,
  lines: readonly LineRow[],
): Promise<readonly LineRow[]> {
  const found: LineRow[] = [];
  for (const line of lines) {
    if (line.pending > 0) continue;
    const tip = await engine.git.readRef(landingRef(line.branch));
    if (tip !== null && tip !== line.landed_sha) found.push(line);
  }
  return found;
}

/**
 * People's commits and the landed work that waits for the branch, as one tested tip; else the
 * sentence why not.
 */
async function mergeTheirs(
  engine: Gating,
  branch: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { git } = engine;
  const present = await git.readRef(branchRef(branch));
  const ours = await git.readRef(landingRef(branch));
  if (present === null || ours === null) return null;
  if (await git.isAncestor(ours, present)) return null;
  const rewritten = await rewrittenTo(engine, branch, ours);
  const theirs = rewritten ?? present;
  const together = await bothOf(engine, branch, { theirs, ours, isRewritten: rewritten !== null });
  if (together === null) return null;
  if (typeof together === 'string') return together;
  const { commit, tree } = together;
  const run = await newestRun(engine.store.db, { target: branch });
  const command = gateOfRun(engine, run);
  // Where people have brought in all that waited, nothing of Drover's is left to test.
  if (command !== null && commit !== theirs) {
    const redSinceMs = engine.clock.now() - redAgainMs;
    const question = { commit, tree, command, taskIds: [], redSinceMs };
    const verdict = await runGate(engine, question, signal);
    if (verdict.kind === 'aborted') return 'the gate was interrupted';
    if (verdict.kind !== 'green') return verdict.failure.message;
  }
  const reason = `drover: take in ${branch}`;
  await engine.store.transaction((tx) => noteTaken(tx, engine.store.sources, branch, theirs));
  const moved = await moveLine(engine, branch, { next: commit, old: ours, reason });
  if (moved.ok) return null;
  forgetReplays(engine);
  madeOf.of(engine.store.db, () => new Map()).clear();
  return moved.error.message;
}

interface Together {
  readonly commit: Sha;
  readonly tree: Sha;
}

/**
 * The results for a pair of tips, so that another check does no new work while neither has moved.
 */
const madeOf = new MadeOnce<Reads, Map<string, Together | string>>();

/** Null: no merge is needed. A text: why it is impossible. */
async function bothOf(
  engine: Uses<'git' | 'store'>,
  branch: string,
  { theirs, ours, isRewritten }: { theirs: Sha; ours: Sha; isRewritten: boolean },
): Promise<Together | string | null> {
  if (isRewritten) {
    const again = await replayed(engine, branch, theirs, ours);
    return again.ok ? again.value : again.error;
  }
  if (await engine.git.isAncestor(theirs, ours)) return null;
  const made = madeOf.of(engine.store.db, () => new Map());
  const key = `${branch} ${theirs} ${ours}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const fresh = await mergedWith(engine, branch, theirs, ours);
  if (!fresh.ok) return fresh.error;
  made.clear();
  made.set(key, fresh.value);
  return fresh.value;
}

type Made = { ok: true; value: Together | string } | { ok: false; error: string };

async function replayed(
  engine: Uses<'git' | 'store'>,
  branch: string,
  theirs: Sha,
  ours: Sha,
): Promise<Made> {
  const head = await replayOnto(engine, branch, theirs, ours);
  if (!head.ok) return { ok: false, error: head.error.message };
  const tree = await engine.git.treeOf(head.value);
  return tree.ok
    ? { ok: true, value: { commit: head.value, tree: tree.value } }
    : { ok: false, error: tree.error.message };
}

async function mergedWith(
  engine: Uses<'git'>,
  branch: string,
  theirs: Sha,
  ours: Sha,
): Promise<Made> {
  const subject = takeInSubject(branch);
  const merged = await engine.git.merge({ tip: ours, commit: theirs, subject, trailers: [] });
  if (!merged.ok) {
    const isRelated = (await engine.git.mergeBase(theirs, ours)) !== null;
    return isRelated
      ? { ok: false, error: merged.error.message }
      : { ok: true, value: await unrelated(engine, branch, theirs, ours) };
  }
  if (merged.value.kind === 'conflict')
    return { ok: true, value: takeInConflict(branch, merged.value.files).message };
  return { ok: true, value: { commit: merged.value.commit, tree: merged.value.tree } };
}

async function unrelated(
  engine: Uses<'git'>,
  branch: string,
  theirs: Sha,
  ours: Sha,
): Promise<string> {
  const from = { branch: resultBranch(branch), tip: ours };
  const advice = await handMerge(engine, from, { branch, tip: theirs });
  return `the landed work that waits for ${branch} is on another history; ${advice}, then run again`;
}
