// One process of Amp, from its prompt file to its result line. It needs no further input, so it can
// be adopted.

import { readLogTail } from '../kit/log/event-log-reader.ts';
import { factsOfLog, forNextProcess, withEvent, type LogFacts } from '../kit/log/log-facts.ts';
import type { SilenceWatch } from '../kit/process/silence.ts';
import type { ProgramEnd } from '../kit/process/supervise.ts';
import type { AgentRun, ProgramDeps } from '../kit/run/agent-run.ts';
import { keepSession } from '../kit/run/kept-session.ts';
import { adoptProgram, runProgram, type ProgramFollower } from '../kit/run/run-program.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import { watchStall } from '../kit/run/stall-watch.ts';
import type { AgentOutcome, AgentProcess, AgentSettings } from '../port.ts';
import type { AgentEvent } from '../../protocol/agent-events.ts';
import { ampArguments, ampEnvironment, removeToolsConfig, writeToolsConfig } from './invocation.ts';
import { ampOutcome, wasInterrupted } from './outcome.ts';
import { newState, readState, writeState, type AmpState } from './run-state.ts';
import { AmpTranslator, type AmpNews } from './translate.ts';

export interface AmpDeps extends ProgramDeps {
  /** How long it may take to exit by itself after its result. */
  readonly lingerMs?: number;
}

export type AmpRun = AgentRun<AmpDeps>;

/** Starts in a thread, or in a new one if null. */
interface AmpStart {
  readonly program: string;
  readonly threadId: string | null;
  readonly prompt: string;
}

interface AmpEnded {
  readonly outcome: AgentOutcome;
  /** The thread did not exist, and no work was done. */
  readonly isThreadGone: boolean;
}

type OwnEnd = 'finished' | 'stalled' | 'auth';

/** If no user is signed in, it starts a login and waits for a code, whatever its input is. */
const loginText = /^No API key found\b/;
const lingerMsDefault = 15_000;

export async function startAmp(
  run: AmpRun,
  settings: AgentSettings,
  { program, threadId, prompt }: AmpStart,
): Promise<AmpEnded> {
  const { request, record } = run;
  const { cwd, logPath } = request;
  const resumed = threadId !== null;
  const usageBefore = factsOfLog(logPath).usage;
  const leftovers = new AmpTranslator({ cwd, resumed, usageBefore });
  // Written before the process is stored, so that a backend that adopts it does not use an earlier
  // result.
  writeState(logPath, newState);
  const start = {
    program,
    args: ampArguments(settings, {
      planning: request.planning === true,
      threadId,
      toolsConfig: writeToolsConfig(logPath, request.tools),
    }),
    env: ampEnvironment(request.env),
    stdin: 'file',
    prompt,
    onLeftoverLine: (stream: OutputStream, text: string) => {
      if (stream === 'stderr') record.emit({ type: 'output', stream, text });
      else for (const event of leftovers.take(text).events) record.emit(event);
    },
  } as const;
  try {
    const { outcome, follower } = await runProgram(run, start, () => {
      const facts = forNextProcess(factsOfLog(logPath));
      return new AmpFollower(run, { facts, state: newState, resumed });
    });
    return { outcome, isThreadGone: follower?.isThreadGone ?? false };
  } finally {
    removeToolsConfig(logPath);
  }
}

export async function adoptAmp(run: AmpRun, agent: AgentProcess): Promise<AgentOutcome | null> {
  const { logPath, resume } = run.request;
  const outcome = await adoptProgram(run, agent, () => {
    const state = readState(logPath);
    const told = factsOfLog(logPath);
    const facts = told.hasExit && !state.exitIsTold ? forNextProcess(told) : told;
    return new AmpFollower(run, { facts, state, resumed: resume });
  });
  if (outcome !== null) removeToolsConfig(logPath);
  return outcome;
}

interface Beginning {
  readonly facts: LogFacts;
  readonly state: AmpState;
  readonly resumed: boolean;
}

/** Reads the lines of one process: events go to the log, facts to its state. */
class AmpFollower implements ProgramFollower<OwnEnd> {
  readonly ownEnd: Promise<OwnEnd>;
  isExitTold = false;
  isThreadGone = false;
  isCertain: boolean | undefined;
  readonly #run: AmpRun;
  readonly #translator: AmpTranslator;
  readonly #end = Promise.withResolvers<OwnEnd>();
  readonly #silence: SilenceWatch;
  #state: AmpState;
  #facts: LogFacts;
  #isLogin = false;
  #lingering: NodeJS.Timeout | null = null;

  constructor(run: AmpRun, { facts, state, resumed }: Beginning) {
    this.#run = run;
    this.#facts = facts;
    this.#state = state;
    this.ownEnd = this.#end.promise;
    const { cwd } = run.request;
    this.#translator = new AmpTranslator({ cwd, resumed, usageBefore: facts.usage });
    this.#silence = watchStall(run, {
      note: (seconds) => `Amp has sent no output for ${seconds} s.`,
      onEnd: () => this.#end.resolve('stalled'),
    });
    if (facts.openCalls.size > 0) this.#silence.pause();
    if (state.result !== null) this.#linger();
  }

  takeLine(stream: OutputStream, line: string): void {
    this.#silence.touch();
    if (stream === 'stderr') this.#emit({ type: 'output', stream, text: line });
    else if (!this.#state.hasStarted && (this.#isLogin ||= loginText.test(line))) {
      // The login URL that follows is private and must not be logged.
      this.#end.resolve('auth');
    } else this.#takeNews(this.#translator.take(line));
  }

  stop(): void {
    this.#silence.stop();
    if (this.#lingering !== null) clearTimeout(this.#lingering);
  }

  finish(): void {
    const { logPath } = this.#run.request;
    const isLast = readLogTail(logPath, 1).events.at(-1)?.type === 'exit';
    this.isExitTold = this.#state.exitIsTold && isLast;
    if (!this.isExitTold) this.#keep({ exitIsTold: true });
  }

  outcome({ why, exit }: ProgramEnd<OwnEnd>): AgentOutcome {
    const { hasStarted, result } = this.#state;
    const { plainTail } = this.#facts;
    const { planning = false, timeoutMs } = this.#run.request;
    const outcome = ampOutcome({
      why: this.#isLogin && why === 'exited' ? 'auth' : why,
      exit,
      result,
      hasStarted,
      plainTail,
      planning,
      timeoutMs,
      silentMs: this.#silence.silentMs,
    });
    const isFailed = outcome.kind === 'failed';
    // It exited with an error about a thread before its protocol had started.
    this.isThreadGone =
      why === 'exited' &&
      isFailed &&
      outcome.failure.kind === 'agent_failed' &&
      !hasStarted &&
      /\bthread\b/i.test(plainTail);
    // Ended together with its backend, by a machine that was shutting down. Its thread is
    // continued.
    if (result !== null) this.isCertain = !(wasInterrupted(result) && isFailed);
    return outcome;
  }

  #takeNews({ events, threadId, result }: AmpNews): void {
    if (threadId !== undefined) {
      keepSession('amp', this.#run.request, threadId);
      this.#keep({ hasStarted: true });
    }
    for (const event of events) this.#emit(event);
    // Reports about its end after its result (for example that it got our signal) are ignored.
    if (result === undefined || this.#state.result !== null) return;
    const { mask } = this.#run.record;
    const { text, deniedTools } = result;
    this.#keep({ result: { ...result, text: mask(text), deniedTools: deniedTools.map(mask) } });
    this.#linger();
  }

  #emit(event: AgentEvent): void {
    const hadOpenTools = this.#facts.openCalls.size > 0;
    this.#facts = withEvent(this.#facts, event);
    const hasOpenTools = this.#facts.openCalls.size > 0;
    if (hasOpenTools && !hadOpenTools) this.#silence.pause();
    if (!hasOpenTools && hadOpenTools) this.#silence.resume();
    this.#run.record.emit(event);
  }

  #keep(more: Partial<AmpState>): void {
    this.#state = { ...this.#state, ...more };
    writeState(this.#run.request.logPath, this.#state);
  }

  /** Its work is done, so later activity does not extend the wait. */
  #linger(): void {
    this.#silence.stop();
    this.#lingering ??= setTimeout(
      () => this.#end.resolve('finished'),
      this.#run.deps.lingerMs ?? lingerMsDefault,
    );
  }
}
