// An agent that gets no input while it runs: its prompt is its whole input, its lines are read, and
// its result is stored beside the log, so it can be adopted at any time. Agents on workers run this
// way.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { replaceFile } from '../../../files/write-whole.ts';
import type { AgentDriver, AgentOutcome, AgentProcess, AgentRequest } from '../../port.ts';
import type { AgentEvent, Usage } from '../../../protocol/agent-events.ts';
import { factsOfLog } from '../log/log-facts.ts';
import { maskOutcome } from '../log/outcome-mask.ts';
import type { AgentExit } from '../process/spawn.ts';
import type { SilenceWatch } from '../process/silence.ts';
import type { CommonEnd, ProgramEnd } from '../process/supervise.ts';
import { wholeTask, type AgentRun, type ProgramDeps } from './agent-run.ts';
import { programDriver, type ProgramDriver } from './program-driver.ts';
import { adoptProgram, runProgram, type ProgramFollower } from './run-program.ts';
import type { OutputStream } from './spool.ts';
import { watchStall } from './stall-watch.ts';
import { withLine } from '../wire/text-tail.ts';

/** Reasons for which a reader may end the program. `stalled`: the model's provider is silent. */
export type OneWayOwnEnd = 'stalled' | 'auth' | 'limited';

export interface OneWayEnd {
  readonly why: CommonEnd | OneWayOwnEnd;
  readonly exit: AgentExit;
  readonly stderrTail: string;
  readonly silentMs: number;
}

/** Parses the output of one kind of agent. */
export interface OneWayReader {
  /** Handles one line of stdout. */
  take(line: string): { readonly events: readonly AgentEvent[]; readonly end?: OneWayOwnEnd };
  /**
   * False while it runs tools, when the provider is not responsible for silence, and before its
   * first line.
   */
  readonly isWaitingForModel: boolean;
  /** The usage so far, even if no total was printed yet. */
  readonly usage: Usage;
  outcome(end: OneWayEnd): AgentOutcome;
}

export interface OneWayAgent {
  readonly title: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** @param usageBefore the usage of earlier processes of this run */
  reader(usageBefore: Usage): OneWayReader;
}

export interface OneWayDriver extends Omit<ProgramDriver<ProgramDeps>, 'run' | 'adopt'> {
  agent(request: AgentRequest): OneWayAgent;
}

const stderrCharsMax = 8_000;
/** Written by the process that follows the worker, not by the agent. */
const notOfAgent = /^drover: /;

export function oneWayDriver(own: OneWayDriver): AgentDriver {
  return programDriver({
    ...own,
    run: (run, program) => runOneWay(own.agent(run.request), program, run),
    adopt: (run, process) => adoptOneWay(own.agent(run.request), process, run),
  });
}

/**
 * Drover talks to the agent while it runs on this machine. On a worker it cannot, so the agent gets
 * its prompt at the start there, and Drover only listens.
 */
export function oneWayOnWorkers(
  here: AgentDriver,
  way: Pick<OneWayDriver, 'program' | 'deps' | 'agent'>,
): AgentDriver {
  const { kind, capabilities } = here;
  // Never missing here, because the worker searches for it.
  const there = oneWayDriver({ kind, capabilities, missing: '', ...way });
  const driverFor = ({ runsOn }: AgentRequest): AgentDriver => (runsOn === 'remote' ? there : here);
  return {
    ...here,
    run: (request, host, signal) => driverFor(request).run(request, host, signal),
    adopt: (request, process, host, signal) =>
      driverFor(request).adopt(request, process, host, signal),
  };
}

async function runOneWay(
  agent: OneWayAgent,
  program: string,
  run: AgentRun,
): Promise<AgentOutcome> {
  const { request, record } = run;
  rmSync(outcomePath(request), { force: true });
  const leftovers = agent.reader(factsOfLog(request.logPath).usage);
  const start = {
    program,
    args: agent.args,
    env: agent.env,
    stdin: 'file',
    prompt: wholeTask(request),
    onLeftoverLine: (stream: OutputStream, text: string) => {
      if (stream === 'stderr') record.emit({ type: 'output', stream, text });
      else for (const event of leftovers.take(text).events) record.emit(event);
    },
  } as const;
  const { outcome } = await runProgram(readAgain(run), start, () => {
    tellLimits(agent, run);
    const reader = agent.reader(factsOfLog(request.logPath).usage);
    return new OneWayFollower(agent, run, reader, '');
  });
  return outcome;
}

/** Returns null if its end is unknown. */
async function adoptOneWay(
  agent: OneWayAgent,
  process: AgentProcess,
  run: AgentRun,
): Promise<AgentOutcome | null> {
  const { request, record } = run;
  const kept = readOutcome(request);
  if (kept !== null) return kept;
  const { files, log } = record;
  if (!existsSync(files.stdout)) return null;
  return await adoptProgram(readAgain(run), process, () => {
    const reader = agent.reader(factsOfLog(request.logPath).usageBefore);
    // Lines that the dead backend had read: their events are in the log, but their result was only
    // in its memory.
    for (const line of linesBefore(files.stdout, log.marks.stdout)) reader.take(line);
    const said = linesBefore(files.stderr, log.marks.stderr).filter(
      (line) => !notOfAgent.test(line),
    );
    return new OneWayFollower(agent, run, reader, `${said.join('\n')}\n`);
  });
}

/**
 * A backend that adopts it reads its output again from the start. The log's limit also limits its
 * size.
 */
function readAgain(run: AgentRun): AgentRun {
  return { ...run, deps: { ...run.deps, emptySpoolAtBytes: Number.POSITIVE_INFINITY } };
}

class OneWayFollower implements ProgramFollower<OneWayOwnEnd> {
  readonly ownEnd: Promise<OneWayOwnEnd>;
  readonly #run: AgentRun;
  readonly #reader: OneWayReader;
  readonly #end = Promise.withResolvers<OneWayOwnEnd>();
  readonly #silence: SilenceWatch;
  #stderrTail: string;
  #isPaused = false;
  #isTotalTold = false;

  constructor(agent: OneWayAgent, run: AgentRun, reader: OneWayReader, stderrBefore: string) {
    this.#run = run;
    this.#reader = reader;
    this.#stderrTail = stderrBefore.slice(-stderrCharsMax);
    this.ownEnd = this.#end.promise;
    this.#silence = watchStall(run, {
      note: (seconds) => `${agent.title} has sent no output for ${seconds} s.`,
      onEnd: () => this.#end.resolve('stalled'),
    });
    this.#look();
    run.host.onUsageSoFar?.(reader.usage, true);
  }

  takeLine(stream: OutputStream, line: string): void {
    const { record, host } = this.#run;
    if (stream === 'stderr') {
      if (!notOfAgent.test(line)) {
        this.#stderrTail = withLine(this.#stderrTail, line, stderrCharsMax);
      }
      record.emit({ type: 'output', stream, text: line });
      return;
    }
    const { events, end } = this.#reader.take(line);
    for (const event of events) {
      if (event.type === 'usage') this.#isTotalTold = true;
      else if (event.type === 'tool_call' || event.type === 'text') this.#isTotalTold = false;
      record.emit(event);
    }
    host.onUsageSoFar?.(this.#reader.usage, false);
    if (end !== undefined) this.#end.resolve(end);
    this.#look();
  }

  stop(): void {
    this.#silence.stop();
  }

  finish(): void {
    // An interrupted run reported no total.
    if (!this.#isTotalTold) this.#run.record.emit({ type: 'usage', usage: this.#reader.usage });
  }

  outcome(end: ProgramEnd<OneWayOwnEnd>): AgentOutcome {
    const { request, record } = this.#run;
    const { silentMs } = this.#silence;
    const outcome = this.#reader.outcome({ ...end, stderrTail: this.#stderrTail, silentMs });
    const masked = maskOutcome(outcome, record.mask);
    // Stored before the raw files are removed, so that a backend that is killed in between leaves
    // one of them.
    if (masked.kind !== 'stopped') keepOutcome(request, masked);
    return masked;
  }

  /** After each line, checks whether it still waits for the model. */
  #look(): void {
    this.#silence.touch();
    const { isWaitingForModel } = this.#reader;
    if (isWaitingForModel !== this.#isPaused) return;
    this.#isPaused = !isWaitingForModel;
    if (this.#isPaused) this.#silence.pause();
    else this.#silence.resume();
  }
}

/** Records the features that are missing on a worker. */
function tellLimits(agent: OneWayAgent, { request, record }: AgentRun): void {
  if (request.runsOn !== 'remote') return;
  const note = (text: string): void => record.emit({ type: 'note', level: 'info', text });
  note(
    `A worker cannot ask a person, so requests of ${agent.title} that need an answer are refused.`,
  );
  if (request.resume) {
    note(
      'The conversation so far is not passed to a worker: a new one starts with the whole task.',
    );
  }
}

function linesBefore(path: string, bytes: number): readonly string[] {
  try {
    return readFileSync(path).subarray(0, bytes).toString('utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

function outcomePath({ logPath }: AgentRequest): string {
  return `${logPath}.outcome.json`;
}

function keepOutcome(request: AgentRequest, outcome: AgentOutcome): void {
  const path = outcomePath(request);
  replaceFile(path, JSON.stringify(outcome));
}

function readOutcome(request: AgentRequest): AgentOutcome | null {
  try {
    // Only we write it, completely or not at all.
    return JSON.parse(readFileSync(outcomePath(request), 'utf8')) as AgentOutcome;
  } catch {
    return null;
  }
}
