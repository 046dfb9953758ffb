// The "agent" step: gives one part (a sub-task or the task itself) to the agent and follows it to
// its end, across crashes of either process.

import type { AgentOutcome, AgentProcess, AgentRequest } from '../../agents/port.ts';
import type { FailureKind } from '../../core/failure.ts';
import { lostLabelSentence } from '../../core/work/machines.ts';
import { type AttemptRow, type Claim, lastAttempt } from '../../store/port.ts';
import type { AgentStill } from '../kit/agent-still.ts';
import { continuedWork } from './earlier-work.ts';
import { keepWork, reportShared } from './kept-work.ts';
import type { Engine, Uses } from '../kit/engine-ports.ts';
import { orFullDisk } from '../kit/full-disk.ts';
import { buildPartPrompt, hintsTold } from './prompt-step.ts';
import { lostLabels } from '../kit/placement.ts';
import { agentRunId } from '../kit/run-ids.ts';
import { keptNoteAfter, withPeriodicSnapshots } from './while-kept.ts';
import { type Place, taskVariables } from './worktree-step.ts';
import { PartSession, type PartOutcome } from './part-session.ts';

/** How long the remaining processes get to exit before they are killed. */
const endGraceMs = 2_000;

interface PartToRun {
  readonly attempt: AttemptRow;
  readonly part: string;
  readonly place: Place;
  readonly still: AgentStill;
}

/** Whether the attempt's agent runs on this machine or on a worker. */
export function agentPlace({ runs_on: runsOn }: AttemptRow): 'local' | 'remote' {
  return runsOn === 'remote' ? 'remote' : 'local';
}

export async function runPart(
  engine: Engine,
  claim: Claim,
  { attempt, part, place, still }: PartToRun,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const session = new PartSession(engine, claim, { part, still }, signal);
  // Run in parallel, so that a slow database costs one delay only.
  const [given] = await Promise.all([
    requestFor(engine, claim, place, part, attempt),
    // The watch must start second: it may ask a question, which withdrawing the old ones would
    // remove.
    session.withdrawOld().then(() => session.watch.begin()),
  ]);
  const ending = await withPeriodicSnapshots(engine, claim, place, () =>
    adoptOrRun(engine, claim, place, part, { attempt, session, given, signal }),
  );
  const outcome = await orDiskFailure(engine, given.request, ending);
  const { logPath } = given.request;
  const [stop, ended, ran] = await Promise.all([
    session.watch.end(),
    session.end(outcome, logPath),
    lastAttempt(engine.store.db, claim.taskId),
    // Stored before the end is announced, so that a client that sees the end also finds all output.
    engine.storeOutput(logPath),
  ]);
  // After this, no process of the attempt can write into the slot while its work is saved,
  // committed or passed on.
  if (ran !== null && ran.pid !== null && ran.pid_start !== null) {
    const agent = { pid: ran.pid, startTime: ran.pid_start };
    await engine.processes.endOrphansIn(place.path, agent);
  }
  if (agentPlace(attempt) === 'local') await reportShared(engine, claim, place.path);
  const note = keptNoteAfter(outcome, stop !== null);
  if (note !== null && !signal.aborted) await keepWork(engine, claim, place, note);
  if (outcome.kind !== 'stopped' || signal.aborted) return ended;
  if (session.elsewhere !== null) return { ...ended, elsewhere: session.elsewhere };
  return stop === null ? ended : { ...ended, held: stop };
}

/** Failures that an agent may report because it cannot write. */
const endsOfFullDisk: ReadonlySet<FailureKind> = new Set([
  'agent_failed',
  'agent_stalled',
  'timeout',
]);

async function orDiskFailure(
  engine: Uses<'files' | 'places'>,
  { runsOn }: AgentRequest,
  outcome: AgentOutcome,
): Promise<AgentOutcome> {
  // This machine cannot check the disk of a worker.
  if (outcome.kind !== 'failed' || runsOn === 'remote') return outcome;
  if (!endsOfFullDisk.has(outcome.failure.kind)) return outcome;
  return { ...outcome, failure: await orFullDisk(engine, outcome.failure) };
}

interface PartRun {
  readonly attempt: AttemptRow;
  readonly session: PartSession;
  readonly given: GivenRequest;
  /** Aborted when a person stops the agent or this process ends. */
  readonly signal: AbortSignal;
}

async function adoptOrRun(
  engine: Engine,
  claim: Claim,
  place: Place,
  part: string,
  run: PartRun,
): Promise<AgentOutcome> {
  const { attempt, session, given, signal } = run;
  const { request } = given;
  const driver = engine.driverFor(claim.agent, claim.model);
  const left = leftoverProcess(attempt, part);
  if (left !== null) {
    // An agent on a worker never gets input while it runs, so any kind can be adopted there.
    const canAdopt = driver.capabilities.adopt || request.runsOn === 'remote';
    const adopted = canAdopt
      ? await session.whileAtWork(signal, (either) => {
          session.runsAs(left);
          return driver.adopt(request, left, session, either);
        })
      : null;
    if (adopted !== null && !(await session.goesOn(adopted))) return adopted;
    await engine.processes.endTree(request.runId, left, endGraceMs);
  } else if (isFromEarlierLife(engine, attempt)) {
    await engine.processes.endTree(request.runId, null, endGraceMs);
  } else if (signal.aborted || session.watch.stop !== null) {
    return { kind: 'stopped' };
  } else {
    return runToItsEnd(engine, claim, place, run);
  }
  return runAgain(engine, claim, place, { ...run, part, isKnown: left !== null });
}

/** Runs the agent again after an earlier process of the part whose end is unknown. */
async function runAgain(
  engine: Engine,
  claim: Claim,
  place: Place,
  run: PartRun & { readonly part: string; readonly isKnown: boolean },
): Promise<AgentOutcome> {
  const { attempt, session, given, signal, part, isKnown } = run;
  // It was killed, with the backend or otherwise, so its work is still in the slot.
  if (isKnown) await keepWork(engine, claim, place, { reason: 'death', author: 'agent' });
  if (signal.aborted || session.watch.stop !== null) return { kind: 'stopped' };
  const lost = await lostLabels(engine, claim.taskId);
  if (lost.length > 0) {
    session.elsewhere = lostLabelSentence(lost);
    return { kind: 'stopped' };
  }
  if (!isKnown || given.request.resume) return runToItsEnd(engine, claim, place, run);
  // The prompt so far assumed a running agent. An agent without memory also needs a list of the
  // contents of its directory.
  const next = await requestFor(engine, claim, place, part, attempt);
  return runToItsEnd(engine, claim, place, { ...run, given: next });
}

/**
 * How many kills from outside an attempt survives. Its agent is resumed in its session, as after a
 * crash of the backend.
 */
const killsMax = 3;

async function runToItsEnd(
  engine: Engine,
  claim: Claim,
  place: Place,
  { session, given, signal }: PartRun,
): Promise<AgentOutcome> {
  const driver = engine.driverFor(claim.agent, claim.model);
  let { request, hints } = given;
  for (let kills = 0; ;) {
    await hintsTold(engine, hints);
    await engine.files.writeText(`${request.logPath}.prompt`, engine.mask(request.prompt));
    const outcome = await session.whileAtWork(signal, (either) =>
      driver.run(request, session, either),
    );
    const wasKilled = session.takeKill(outcome) && driver.capabilities.resume && kills < killsMax;
    if (wasKilled) kills += 1;
    const goesOn = wasKilled || (await session.goesOn(outcome));
    if (!goesOn || signal.aborted) return outcome;
    const attempt = await lastAttempt(engine.store.db, claim.taskId);
    if (attempt === null || attempt.number !== claim.attempt) return outcome;
    await session.withdrawOld();
    ({ request, hints } = await requestFor(engine, claim, place, request.taskId, attempt));
  }
}

/**
 * Returns true if an agent may be running without being recorded, because the backend was killed
 * after it started the agent and before it recorded it.
 */
function isFromEarlierLife(engine: Uses<'earlierUntilMs'>, attempt: AttemptRow): boolean {
  return attempt.started_at_ms <= engine.earlierUntilMs;
}

function leftoverProcess(attempt: AttemptRow, part: string): AgentProcess | null {
  if (attempt.pid === null || attempt.pid_start === null || attempt.pid_part !== part) return null;
  return { pid: attempt.pid, startTime: attempt.pid_start };
}

interface GivenRequest {
  readonly request: AgentRequest;
  /** Hints in its prompt. An adopted agent has not received them. */
  readonly hints: readonly string[];
}

/**
 * How long the agent may be silent before the watchdog reports it, and before it stops the agent.
 */
const stallWarnMs = 120_000;
const stallEndMs = 300_000;

async function requestFor(
  engine: Engine,
  claim: Claim,
  place: Place,
  part: string,
  attempt: AttemptRow,
): Promise<GivenRequest> {
  const settings = engine.settings();
  const resume =
    engine.driverFor(claim.agent, claim.model).capabilities.resume && attempt.session_started === 1;
  const suffix = part === claim.taskId ? '' : `.${part.replace(/[^A-Za-z0-9._-]/g, '_')}`;
  const logPath = `${engine.places.logs}/${claim.taskId}/${claim.attempt}${suffix}.ndjson`;
  const { taskId, epoch, runId } = claim;
  const scope = { taskId, part, attempt: claim.attempt, epoch, runId };
  const mark = agentRunId(engine, claim.taskId, claim.attempt, part);
  const opened = await engine.agentTools.open(scope, logPath, mark);
  const hasTools = opened !== null && claim.agent !== 'command';
  const continued = await continuedWork(engine, claim, attempt, part);
  const prompt = await buildPartPrompt(engine, claim, attempt, part, {
    resume,
    hasTools,
    continued,
  });
  const forkOf = resume ? null : (continued?.sessionId ?? null);
  const request = {
    runId: mark,
    taskId: part,
    attempt: claim.attempt,
    cwd: place.path,
    prompt: prompt.text,
    ...(claim.planning === true ? { planning: true } : {}),
    ...(prompt.ifForgotten === null ? {} : { promptIfForgotten: prompt.ifForgotten }),
    sessionId: attempt.session_id,
    resume,
    ...(forkOf === null ? {} : { forkOf }),
    logPath,
    env: {
      ...engine.agentEnvironment(claim.agent, claim),
      ...taskVariables(engine, part, claim.attempt, place.slotNumber),
      ...(typeof claim.model === 'string' ? { DROVER_AGENT_MODEL: claim.model } : {}),
      ...(claim.planning === true ? { DROVER_PLANNING: '1' } : {}),
    },
    ...(opened === null ? {} : { tools: opened.tools }),
    ...(prompt.attachments.length === 0 ? {} : { readableFiles: prompt.attachments }),
    secrets: [...engine.secrets(), ...(opened === null ? [] : [opened.token])],
    maxOutputBytes: settings.maxOutputBytes,
    timeoutMs: settings.taskTimeoutMs,
    runsOn: agentPlace(attempt),
    stallWarnMs,
    stallEndMs,
  };
  return { request, hints: prompt.hints };
}
