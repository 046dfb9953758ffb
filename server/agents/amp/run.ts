// One process of Amp, from its prompt file to its result line. Needs nobody to write, so it can be
// adopted.

import { existsSync, statSync } from 'node:fs';
import { readLogTail } from '../kit/log/event-log-reader.ts';
import { keepSession } from '../kit/run/kept-session.ts';
import { maskOutcome } from '../kit/log/outcome-mask.ts';
import type {
  AgentHost,
  AgentOutcome,
  AgentProcess,
  AgentRequest,
  AgentSettings,
  ProcessTable,
} from '../port.ts';
import type { AgentEvent } from '../../protocol/agent-events.ts';
import { isAlive, thawRun } from '../kit/process/process-table.ts';
import { markWhenStopped, readExitCode, removeRawFiles } from '../kit/log/run-files.ts';
import type { RunRecord } from '../kit/log/run-record.ts';
import { watchSilence } from '../kit/process/silence.ts';
import { exitOfAdopted, type AgentExit, type SpawnElsewhere } from '../kit/process/spawn.ts';
import { followSpool, type OutputStream } from '../kit/run/spool.ts';
import { startProgram } from '../kit/run/start-program.ts';
import {
  superviseProgram,
  type ProgramEnd,
  type RunningProgram,
} from '../kit/process/supervise.ts';
import { ampArguments, ampEnvironment, removeToolsConfig, writeToolsConfig } from './invocation.ts';
import { ampOutcome, wasInterrupted } from './outcome.ts';
import {
  factsOfLog,
  newState,
  readState,
  withEvent,
  writeState,
  type AmpState,
  type LogFacts,
} from './run-state.ts';
import { AmpTranslator, type AmpNews, type AmpResult } from './translate.ts';

export interface AmpDeps {
  readonly processTable: ProcessTable;
  readonly baseDir: string;
  readonly graceMs?: number;
  /** Time for it to end by itself after its result. */
  readonly lingerMs?: number;
  readonly emptySpoolAtBytes?: number;
  readonly elsewhere?: SpawnElsewhere | undefined;
}

export interface AmpRun {
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly signal: AbortSignal;
  readonly record: RunRecord;
  readonly settings: AgentSettings;
  readonly deps: AmpDeps;
}

/** A start: in a thread, or (null) in a new one. */
export interface AmpStart {
  readonly program: string;
  readonly threadId: string | null;
  readonly prompt: string;
}

/**
 * How one process ended; without `hasBegun`, `plainTail` tells whether there was a thread to go on
 * with.
 */
export interface AmpProcessEnd {
  readonly outcome: AgentOutcome;
  readonly why: OwnEnd | 'exited' | 'stopped' | 'timeout';
  readonly hasBegun: boolean;
  readonly result: AmpResult | null;
  readonly plainTail: string;
}

type OwnEnd = 'finished' | 'stalled' | 'auth';

/** Where nobody is signed in it begins a login and waits for a code, whatever its input is. */
const loginText = /^No API key found\b/;
const graceMsDefault = 5_000;
const lingerMsDefault = 15_000;

export async function startAmp(run: AmpRun, start: AmpStart): Promise<AmpProcessEnd> {
  const { request, record, settings } = run;
  const resumed = start.threadId !== null;
  const leftovers = new AmpTranslator({
    cwd: request.cwd,
    resumed,
    usageBefore: factsOfLog(request.logPath).usage,
  });
  // Before the process is stored: whoever adopts it must not take its predecessor's result for its
  // own.
  writeState(request.logPath, newState);
  const started = await startProgram({
    request: { ...request, prompt: start.prompt },
    host: run.host,
    record,
    processTable: run.deps.processTable,
    program: start.program,
    args: ampArguments(settings, {
      planning: request.planning === true,
      threadId: start.threadId,
      toolsConfig: writeToolsConfig(request.logPath, request.tools),
    }),
    env: ampEnvironment(request.env),
    stdin: 'file',
    elsewhere: run.deps.elsewhere,
    onLeftoverLine: (stream, text) => {
      if (stream === 'stderr') record.emit({ type: 'output', stream, text });
      else for (const event of leftovers.take(text).events) record.emit(event);
    },
  });
  if (!started.ok) {
    removeToolsConfig(request.logPath);
    const outcome: AgentOutcome = { kind: 'failed', failure: started.error };
    return { outcome, why: 'exited', hasBegun: true, result: null, plainTail: '' };
  }
  started.value.release();
  return await follow({ ...started.value, startedAt: Date.now() }, run, {
    facts: { ...factsOfLog(request.logPath), openTools: new Set(), plainTail: '' },
    state: newState,
    resumed,
  });
}

export async function adoptAmp(agent: AgentProcess, run: AmpRun): Promise<AgentOutcome | null> {
  const { request } = run;
  const { files } = run.record;
  // A backend that was leaving had begun to end it: what it did of its work is not known.
  if (existsSync(files.stopped)) return null;
  const isKnown = isAlive(agent) || readExitCode(files) !== null;
  const startedAt = statSync(files.stdout, { throwIfNoEntry: false })?.birthtimeMs ?? Date.now();
  const exited = exitOfAdopted(agent, files);
  const following = follow({ process: agent, exited, startedAt }, run, {
    facts: factsOfLog(request.logPath),
    state: readState(request.logPath),
    resumed: request.resume,
  });
  // Only after the marks were compared with the files: a frozen agent proves that nothing was added
  // since.
  await thawRun(request.runId, agent);
  const { outcome, result } = await following;
  if (result !== null) {
    // Ended together with its backend, by a machine that was going down: it goes on in its thread.
    return wasInterrupted(result) && outcome.kind === 'failed' ? null : outcome;
  }
  return isKnown && (outcome.kind !== 'failed' || (await exited).code !== null) ? outcome : null;
}

interface Beginning {
  readonly facts: LogFacts;
  readonly state: AmpState;
  readonly resumed: boolean;
}

async function follow(
  program: RunningProgram,
  run: AmpRun,
  beginning: Beginning,
): Promise<AmpProcessEnd> {
  const { request, record } = run;
  const follower = new AmpFollower(run, beginning);
  const end = await followToEnd(program, run, follower);
  follower.tellExit(end.exit);
  await record.log.flush();
  removeRawFiles(record.files);
  removeToolsConfig(request.logPath);
  const { hasBegun, result } = follower.state;
  const { plainTail } = follower;
  const why = follower.isLogin && end.why === 'exited' ? 'auth' : end.why;
  const outcome = ampOutcome({
    ...end,
    why,
    result,
    hasBegun,
    plainTail,
    planning: request.planning === true,
    timeoutMs: request.timeoutMs,
    silentMs: follower.silentMs,
  });
  return {
    outcome: maskOutcome(outcome, record.mask),
    why,
    hasBegun,
    result,
    plainTail,
  };
}

async function followToEnd(
  program: RunningProgram,
  run: AmpRun,
  follower: AmpFollower,
): Promise<ProgramEnd<OwnEnd>> {
  const { request, record, deps } = run;
  const spool = followSpool({
    runId: request.runId,
    process: program.process,
    files: record.files,
    log: record.log,
    onLine: (stream, line) => follower.takeLine(stream, line),
    ...(deps.emptySpoolAtBytes === undefined ? {} : { emptyAtBytes: deps.emptySpoolAtBytes }),
  });
  const stopMarking = markWhenStopped(run.signal, record.files);
  try {
    const end = await superviseProgram<OwnEnd>({
      request,
      ...program,
      processTable: deps.processTable,
      signal: run.signal,
      graceMs: request.endGraceMs ?? deps.graceMs ?? graceMsDefault,
      onWarning: (text) => record.emit({ type: 'note', level: 'warning', text }),
      ownEnd: follower.ownEnd,
    });
    await spool.finish();
    return end;
  } finally {
    stopMarking();
    follower.stop();
    spool.stop();
  }
}

/** Takes the lines of one process: events into the log, facts into its state. */
class AmpFollower {
  readonly ownEnd: Promise<OwnEnd>;
  state: AmpState;
  silentMs = 0;
  isLogin = false;
  readonly #run: AmpRun;
  readonly #translator: AmpTranslator;
  readonly #end = Promise.withResolvers<OwnEnd>();
  readonly #silence: ReturnType<typeof watchSilence>;
  #facts: LogFacts;
  #lingering: NodeJS.Timeout | null = null;

  constructor(run: AmpRun, { facts, state, resumed }: Beginning) {
    this.#run = run;
    this.#facts = facts;
    this.state = state;
    this.ownEnd = this.#end.promise;
    const { cwd, stallWarnMs, stallEndMs } = run.request;
    this.#translator = new AmpTranslator({ cwd, resumed, usageBefore: facts.usage });
    this.#silence = watchSilence({
      warnMs: stallWarnMs,
      endMs: stallEndMs,
      onWarn: (ms) => this.#emit(quietNote(ms)),
      onEnd: (ms) => {
        this.silentMs = ms;
        this.#end.resolve('stalled');
      },
    });
    if (facts.openTools.size > 0) this.#silence.pause();
    if (state.result !== null) this.#linger();
  }

  get plainTail(): string {
    return this.#facts.plainTail;
  }

  takeLine(stream: OutputStream, line: string): void {
    this.#silence.touch();
    if (stream === 'stderr') this.#emit({ type: 'output', stream, text: line });
    else if (!this.state.hasBegun && (this.isLogin ||= loginText.test(line))) {
      // The address to sign in at that follows is for one person's eyes, not for a log.
      this.#end.resolve('auth');
    } else this.#takeNews(this.#translator.take(line));
  }

  tellExit(exit: AgentExit): void {
    const { logPath } = this.#run.request;
    // An adoption after the end was stored already tells nothing twice.
    const isTold = this.state.exitIsTold && readLogTail(logPath, 1).events.at(-1)?.type === 'exit';
    if (isTold) return;
    this.#keep({ exitIsTold: true });
    this.#run.record.emit({ type: 'exit', ...exit });
  }

  stop(): void {
    this.#silence.stop();
    if (this.#lingering !== null) clearTimeout(this.#lingering);
  }

  #takeNews({ events, threadId, result }: AmpNews): void {
    if (threadId !== undefined) {
      keepSession('amp', this.#run.request, threadId);
      this.#keep({ hasBegun: true });
    }
    for (const event of events) this.#emit(event);
    // What a process says of its end after its result (that a signal of ours came) is no news.
    if (result === undefined || this.state.result !== null) return;
    const { mask } = this.#run.record;
    const { text, deniedTools } = result;
    this.#keep({ result: { ...result, text: mask(text), deniedTools: deniedTools.map(mask) } });
    this.#linger();
  }

  #emit(event: AgentEvent): void {
    const hadOpenTools = this.#facts.openTools.size > 0;
    this.#facts = withEvent(this.#facts, event);
    const hasOpenTools = this.#facts.openTools.size > 0;
    if (hasOpenTools && !hadOpenTools) this.#silence.pause();
    if (!hasOpenTools && hadOpenTools) this.#silence.resume();
    this.#run.record.emit(event);
  }

  #keep(more: Partial<AmpState>): void {
    this.state = { ...this.state, ...more };
    writeState(this.#run.request.logPath, this.state);
  }

  /** Its work is done: what it does after its result is no reason to wait long. */
  #linger(): void {
    this.#silence.stop();
    this.#lingering ??= setTimeout(
      () => this.#end.resolve('finished'),
      this.#run.deps.lingerMs ?? lingerMsDefault,
    );
  }
}

function quietNote(silentMs: number): AgentEvent {
  const text = `Amp has sent no output for ${Math.round(silentMs / 1000)} s.`;
  return { type: 'note', level: 'warning', text };
}
