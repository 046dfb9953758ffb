// Runs the parts of one attempt: sub-tasks in order, the task itself, and sub-tasks that its agents
// add during the attempt.

import { firstLineOf } from '../../core/format.ts';
import { branchRef } from '../../core/work/ref-names.ts';
import { attemptTrailers } from '../../core/work/trailers.ts';
import type { AgentOutcome } from '../../agents/port.ts';
import { judgeWork } from '../../core/plan/verdict.ts';
import type { DurableRun } from '../../durable/port.ts';
import {
  beginSubTask,
  type Claim,
  committedSubTasks,
  existingTask,
  lastAttempt,
  movePhase,
  noteSubTaskCommit,
  readClaimedParts,
  setAttempt,
  type TaskRow,
  type Tx,
} from '../../store/port.ts';
import { agentPlace, runPart } from './agent-step.ts';
import { AgentStill } from '../kit/agent-still.ts';
import {
  blockFromOutside,
  releaseWithoutAttempt,
  recordFailure,
  waitForAccount,
} from './attempt-ends.ts';
import { endAtBudget } from './budget-ends.ts';
import { gitFailed, retryWhileUnreachable } from '../kit/git-trouble.ts';
import { type CommittedWork, withUndecided } from '../kit/merge-check.ts';
import type { Engine, StartedAttempt } from '../kit/engine-ports.ts';
import { recordPart } from './part-record.ts';
import { endUncommitted } from './refused-work.ts';
import { isStopRequested, settleStop } from './stops.ts';
import { submit } from './submission.ts';
import type { Place } from './worktree-step.ts';
import type { PartOutcome } from './part-session.ts';

export interface AttemptAtWork extends StartedAttempt {
  readonly place: Place;
}

/**
 * Runs all parts and submits the task. Resolves with null, or with how the attempt ended instead.
 */
export async function workParts(attempt: AttemptAtWork): Promise<string | null> {
  const { claim } = attempt;
  const own = claim.taskId;
  const known = new Set(claim.parts);
  const done = await partsDone(attempt);
  for (const part of claim.parts) {
    if (part === own || done.includes(part)) continue;
    const ended = await workSubTask(attempt, part);
    if (ended !== null) return ended;
  }
  const endedBefore = await workAddedBefore(attempt, known);
  if (endedBefore !== null) return endedBefore;
  const ownTurn = await runAgent(attempt, own);
  if (ownTurn.ended !== null) return ownTurn.ended;
  const endedAfter = await workAddedAfter(attempt, known, ownTurn.parts);
  if (endedAfter !== null) return endedAfter;
  const isSubmitted = await commitWork(
    attempt,
    own,
    'committed',
    async (tx, committed, task) => {
      const { runRow, place } = attempt;
      const { summary } = ownTurn;
      await submit(attempt.engine, tx, claim, { runRow, place, committed, task, summary });
    },
    (made, task) => judgeWork({ ...made, summary: ownTurn.summary, task }).next.kind === 'land',
  );
  return isSubmitted ? null : 'failed';
}

/**
 * Sub-tasks whose work is already in the attempt, done by an earlier attempt or before an
 * interruption.
 */
async function partsDone({ engine, run, claim }: AttemptAtWork): Promise<readonly string[]> {
  if (claim.parts.length === 1) return [];
  return run.step('parts_done', async () => {
    const rows = await committedSubTasks(engine.store.db, claim.parts);
    const tip = await engine.git.readRef(branchRef(claim.branch));
    const done: string[] = [];
    for (const { id, commit } of rows) {
      if (tip === null) continue;
      if (await engine.git.isAncestor(commit, tip)) done.push(id);
    }
    return done;
  });
}

/** Sub-tasks that agents of other sub-tasks added run before the task itself. */
async function workAddedBefore(attempt: AttemptAtWork, known: Set<string>): Promise<string | null> {
  // No earlier agent could have added any. All new sub-tasks were added by the task's own turn,
  // which this run replays.
  if (attempt.claim.parts.length === 1) return null;
  for (let round = 1; ; round += 1) {
    // An empty list is stored too, because the task's own turn, which comes next, may add
    // sub-tasks.
    const added = await attempt.run.step(`added:before:${round}`, () =>
      unknownParts(attempt, known),
    );
    if (added.length === 0) return null;
    const ended = await workEach(attempt, known, added);
    if (ended !== null) return ended;
  }
}

/**
 * Runs the sub-tasks that the task's own turn added, and those that they add in turn, until no
 * agent is left that could add any.
 */
async function workAddedAfter(
  attempt: AttemptAtWork,
  known: Set<string>,
  partsAtEnd: readonly string[],
): Promise<string | null> {
  const { run, claim } = attempt;
  for (let round = 1; ; round += 1) {
    // An agent that has ended cannot add sub-tasks, so if it added none, nothing is stored.
    const there =
      round === 1 ? partsAtEnd : await readClaimedParts(attempt.engine.store.db, claim.taskId);
    if (there.every((id) => known.has(id))) return null;
    // Uncommitted changes belong to the task's own turn, so commit them before another part starts.
    if (round === 1 && !(await commitWork(attempt, claim.taskId, 'kept', async () => {}))) {
      return 'failed';
    }
    const added = await run.step(
      `added:after:${round}`,
      () => unknownParts(attempt, known),
      (tx) => movePhase(tx, claim, 'agent'),
    );
    const ended = await workEach(attempt, known, added);
    if (ended !== null) return ended;
  }
}

async function unknownParts(
  { engine, claim }: AttemptAtWork,
  known: ReadonlySet<string>,
): Promise<string[]> {
  const parts = await readClaimedParts(engine.store.db, claim.taskId);
  return parts.filter((id) => !known.has(id));
}

async function workEach(
  attempt: AttemptAtWork,
  known: Set<string>,
  parts: readonly string[],
): Promise<string | null> {
  for (const part of parts) {
    known.add(part);
    const ended = await workSubTask(attempt, part);
    if (ended !== null) return ended;
  }
  return null;
}

async function workSubTask(attempt: AttemptAtWork, part: string): Promise<string | null> {
  const { engine, claim } = attempt;
  const done = await runAgent(attempt, part);
  if (done.ended !== null) return done.ended;
  const isCommitted = await commitWork(
    attempt,
    part,
    `committed:${part}`,
    async (tx, { commit }) => {
      await noteSubTaskCommit(tx, part, commit);
      await engine.store.append(tx, {
        type: 'task.phase',
        taskId: part,
        runId: claim.runId,
        data: { attempt: claim.attempt, phase: 'committed' },
      });
    },
  );
  return isCommitted ? null : 'failed';
}

type PartEnd =
  | {
      readonly ended: null;
      readonly summary: string;
      /** The task's sub-tasks when its own agent had ended. */
      readonly parts: readonly string[];
    }
  | { readonly ended: string; readonly summary?: undefined };

/** `step`: the name under which its end is stored, if not the default. */
export async function runAgent(
  work: AttemptAtWork,
  part: string,
  step: string | null = null,
): Promise<PartEnd> {
  const { engine, run, claim, place, signal } = work;
  const own = part === claim.taskId;
  const [isStoppedBefore, attempt] = await Promise.all([
    isStopRequested(engine, claim),
    lastAttempt(engine.store.db, claim.taskId),
  ]);
  if (isStoppedBefore) return { ended: await settleStop(engine, run, claim) };
  if (attempt === null) throw new Error(`attempt of ${claim.taskId} is missing`);
  if (claim.finishedPart === part) {
    const parts = await readClaimedParts(engine.store.db, claim.taskId);
    return { ended: null, summary: attempt.summary ?? '', parts };
  }
  if (!own) await run.commit(`begin:${part}`, (tx) => beginSubTask(tx, engine.store.sources, part));
  const done = await run.step(
    step ?? (own ? 'agent_done' : `agent_done:${part}`),
    async () => {
      const still = new AgentStill(engine, claim, { part, runsOn: agentPlace(attempt) });
      const outcome = await run.standingStill(still, () =>
        runPart(engine, claim, { attempt, part, place, still }, signal),
      );
      return leaveIfClosing(run, outcome);
    },
    (tx, outcome) => recordPart(engine, tx, claim, part, outcome),
  );
  const ended = await endIfNotDone(engine, run, claim, done);
  if (ended !== null) return { ended };
  const [isStopped, parts] = await Promise.all([
    isStopRequested(engine, claim),
    readClaimedParts(engine.store.db, claim.taskId),
  ]);
  if (isStopped) return { ended: await settleStop(engine, run, claim) };
  return { ended: null, summary: done.outcome.kind === 'done' ? done.outcome.summary : '', parts };
}

/**
 * An agent that was stopped because the process exits has not finished its step, which must run
 * again at the next start.
 */
function leaveIfClosing(run: DurableRun<Tx>, outcome: PartOutcome): PartOutcome {
  if (outcome.outcome.kind === 'stopped' && run.signal.aborted) throw run.signal.reason;
  return outcome;
}

async function endIfNotDone(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
  done: PartOutcome,
): Promise<string | null> {
  const outcome: AgentOutcome = done.outcome;
  switch (outcome.kind) {
    case 'done':
      if (outcome.blockedReason === undefined) return null;
      await blockFromOutside(engine, run, claim, outcome.blockedReason);
      return 'blocked';
    case 'stopped':
      if (done.elsewhere !== undefined) {
        const { elsewhere } = done;
        await run.commit('label_lost', (tx) => releaseWithoutAttempt(engine, tx, claim, elsewhere));
        return 'stopped';
      }
      if (done.held !== undefined) return endAtBudget(engine, run, claim, done.held);
      return settleStop(engine, run, claim);
    case 'limited':
      await waitForAccount(engine, run, claim, outcome.untilMs, outcome.message);
      return 'waiting';
    case 'failed':
      if (await isStopRequested(engine, claim)) return settleStop(engine, run, claim);
      await run.commit('attempt_failed', (tx) => recordFailure(engine, tx, claim, outcome.failure));
      return 'failed';
  }
}

/**
 * Commits the part's uncommitted changes with its name. Returns false if that failed, which ends
 * the attempt.
 */
async function commitWork(
  attempt: AttemptAtWork,
  part: string,
  step: string,
  record: (tx: Tx, committed: CommittedWork, task: TaskRow) => Promise<void>,
  isWhole: (made: CommittedWork, task: TaskRow) => boolean = () => false,
): Promise<boolean> {
  const { engine, run, claim, place } = attempt;
  const task = await existingTask(engine.store.db, part);
  const settings = engine.settings();
  const committed = await run.step(
    step,
    async () => {
      // The first try commits the work; a later one may push it.
      const made = await retryWhileUnreachable(
        engine,
        attempt.signal,
        () =>
          engine.git.commitLeftovers({
            path: place.path,
            branch: claim.branch,
            base: place.base,
            subject: firstLineOf(`${part}: ${task.title}`),
            trailers: attemptTrailers(part, claim.attempt),
            maxFileSize: settings.maxCommitFileSize,
            protect: settings.protectedPaths,
            portableNames: settings.portableNames,
            linksAllowed: settings.linksAllowed,
            runHooks: settings.runHooks,
            signature: null,
          }),
        (outcome) => (outcome.ok ? null : gitFailed(outcome.error)),
      );
      return part === claim.taskId ? withUndecided(engine, claim, place.base, made) : made;
    },
    async (tx, outcome) => {
      if (!outcome.ok) return;
      if (claim.finishedPart === part)
        await setAttempt(tx, claim.taskId, claim.attempt, { failure_kind: null, error: null });
      await record(tx, outcome.value, task);
    },
  );
  if (committed.ok) return true;
  const work = { part, path: place.path, trouble: committed.error };
  await endUncommitted(engine, run, claim, work, (made) => isWhole(made, task));
  return false;
}
