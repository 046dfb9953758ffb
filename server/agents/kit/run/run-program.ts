// The one way to start or adopt, follow and stop an agent's program. The driver's follower
// interprets its output and its outcome.

import { existsSync, statSync } from 'node:fs';
import type { AgentOutcome, AgentProcess } from '../../port.ts';
import { maskOutcome } from '../log/outcome-mask.ts';
import { markWhenStopped, readExitCode, removeRawFiles } from '../log/run-files.ts';
import { isAlive, thawRun } from '../process/process-table.ts';
import { exitOfAdopted, type AgentChild } from '../process/spawn.ts';
import {
  exitEvent,
  superviseProgram,
  type CommonEnd,
  type ProgramEnd,
  type RunningProgram,
} from '../process/supervise.ts';
import { graceMsDefault, type AgentRun } from './agent-run.ts';
import { Spool, type OutputStream } from './spool.ts';
import { startProgram, type StartOptions } from './start-program.ts';

/** How a driver follows its program. `Own`: its additional reasons to stop it. */
export interface ProgramFollower<Own extends string = never> {
  /** Called when the program may run, to send its first input. */
  begin?(): void;
  takeLine(stream: OutputStream, line: string): void;
  readonly ownEnd?: Promise<Own>;
  /** Time that does not count as wall time, because a person was being asked. */
  waitedMs?(): number;
  /** Set if the program exits by itself at the wall time. We kill it this much later. */
  readonly ownDeadlineMs?: number;
  /**
   * Asks the program to exit through its protocol. Returns how many milliseconds it gets before the
   * signals.
   */
  askToEnd?(why: CommonEnd | Own): number;
  /** No more lines will follow, for whatever reason. Ends timers and listeners. */
  stop?(): void;
  /** The program has ended, and all of its lines were handled. */
  finish?(): void | Promise<void>;
  /** If true, an adoption after the end was stored emits nothing twice. */
  readonly isExitTold?: boolean;
  /** Returns the outcome. The log is complete, and the raw output still exists. */
  outcome(end: ProgramEnd<Own>): AgentOutcome | Promise<AgentOutcome>;
  /**
   * For an adopted program: whether the outcome is reliable, if more than its exit code decides
   * that.
   */
  readonly isCertain?: boolean | undefined;
}

export interface Ended<Follower> {
  readonly outcome: AgentOutcome;
  /** Null if the program could not be started. */
  readonly follower: Follower | null;
}

/** @param follow called when the process exists and is stored, before its program runs */
export async function runProgram<Own extends string, Follower extends ProgramFollower<Own>>(
  run: AgentRun,
  start: StartOptions,
  follow: (child: AgentChild) => Follower & ProgramFollower<Own>,
): Promise<Ended<Follower>> {
  const started = await startProgram(run, start);
  if (!started.ok) return { outcome: { kind: 'failed', failure: started.error }, follower: null };
  const child = started.value;
  run.lock?.handTo(child.process);
  const follower = follow(child);
  const program = { ...child, startedAt: Date.now(), canAdopt: start.stdin !== 'pipe' };
  return { outcome: await followProgram<Own>(run, program, follower), follower };
}

/**
 * Follows an agent that an earlier backend started. Returns null if it is unknown how the agent's
 * work ended.
 * @param follow called if there is an agent to follow
 */
export async function adoptProgram<Own extends string>(
  run: AgentRun,
  process: AgentProcess,
  follow: () => ProgramFollower<Own>,
): Promise<AgentOutcome | null> {
  const { files } = run.record;
  // A backend that was shutting down had started to stop it, so it is unknown how much of its work
  // it did.
  if (existsSync(files.stopped)) return null;
  const isKnown = isAlive(process) || readExitCode(files) !== null;
  const startedAt = statSync(files.stdout, { throwIfNoEntry: false })?.birthtimeMs ?? Date.now();
  const exited = exitOfAdopted(process, files);
  const follower = follow();
  const program = { process, exited, startedAt, canAdopt: true };
  const following = followProgram(run, program, follower);
  // Only after the marks were compared with the files, because a frozen agent proves that nothing
  // was added since.
  await thawRun(run.request.runId, process);
  const outcome = await following;
  // Killed together with its shell while no backend was running, so it is unknown how its work
  // ended.
  const isCertain = isKnown && (outcome.kind !== 'failed' || (await exited).code !== null);
  return (follower.isCertain ?? isCertain) ? outcome : null;
}

interface FollowedProgram extends RunningProgram {
  readonly release?: () => void;
  /** Nothing writes to it, so another backend can follow it to its end. */
  readonly canAdopt: boolean;
}

async function followProgram<Own extends string>(
  run: AgentRun,
  program: FollowedProgram,
  follower: ProgramFollower<Own>,
): Promise<AgentOutcome> {
  const { record } = run;
  try {
    const end = await followToEnd(run, program, follower);
    await follower.finish?.();
    if (follower.isExitTold !== true) record.emit(exitEvent(end));
    await record.log.flush();
    const outcome = maskOutcome(await follower.outcome(end), record.mask);
    if (program.canAdopt) removeRawFiles(record.files);
    return outcome;
  } finally {
    if (!program.canAdopt) removeRawFiles(record.files);
  }
}

async function followToEnd<Own extends string>(
  run: AgentRun,
  { release, canAdopt, ...program }: FollowedProgram,
  follower: ProgramFollower<Own>,
): Promise<ProgramEnd<Own>> {
  const { request, record, signal } = run;
  const { files, log } = record;
  const spool = new Spool({
    runId: request.runId,
    process: program.process,
    files,
    log,
    onLine: (stream, line) => follower.takeLine(stream, line),
    emptyAtBytes: run.deps.emptySpoolAtBytes,
  });
  const stopMarking = canAdopt ? markWhenStopped(signal, files) : null;
  try {
    if (release !== undefined) {
      await log.flush(); // reports about its start, before its own output
      release();
    }
    follower.begin?.();
    const end = await supervise(run, program, follower);
    await spool.finish();
    return end;
  } finally {
    stopMarking?.();
    follower.stop?.();
    spool.stop();
  }
}

function supervise<Own extends string>(
  { request, record, deps, signal }: AgentRun,
  running: RunningProgram,
  follower: ProgramFollower<Own>,
): Promise<ProgramEnd<Own>> {
  const { timeoutMs } = request;
  return superviseProgram<Own>({
    ...running,
    runId: request.runId,
    timeoutMs: timeoutMs === null ? null : timeoutMs + (follower.ownDeadlineMs ?? 0),
    processTable: deps.processTable,
    signal,
    ...(deps.awake === undefined ? {} : { awake: deps.awake }),
    graceMs: request.endGraceMs ?? deps.graceMs ?? graceMsDefault,
    onWarning: (text) => record.emit({ type: 'note', level: 'warning', text }),
    waitedMs: () => follower.waitedMs?.() ?? 0,
    ownEnd: follower.ownEnd,
    askToEnd: (why) => follower.askToEnd?.(why) ?? 0,
  });
}
