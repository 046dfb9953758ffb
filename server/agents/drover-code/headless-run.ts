// One headless run of Drover Code, from the prompt file to the result file. It needs no input while
// it runs, so it can be adopted.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { factsOfLog, withEvent, type LogFacts } from '../kit/log/log-facts.ts';
import type { SilenceWatch } from '../kit/process/silence.ts';
import type { ProgramEnd } from '../kit/process/supervise.ts';
import type { AgentRun, ProgramDeps } from '../kit/run/agent-run.ts';
import { adoptProgram, runProgram, type ProgramFollower } from '../kit/run/run-program.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import { watchStall } from '../kit/run/stall-watch.ts';
import type { AgentOutcome, AgentProcess, AgentSettings } from '../port.ts';
import type { AgentEvent } from '../../protocol/agent-events.ts';
import { HeadlessTranslator, isDenial } from './headless-events.ts';
import {
  headlessArguments,
  headlessEnvironment,
  headlessFiles,
  workerFiles,
  workerResult,
  type HeadlessFiles,
} from './invocation.ts';
import { headlessOutcome } from './outcome.ts';
import { removeResult, takeResult } from './result-file.ts';
import { hasChangesSince, readHead } from './worktree-change.ts';

export interface DroverCodeDeps extends ProgramDeps {
  /** Maximum number of model turns. The program itself has no such limit. */
  readonly turnsMax?: number;
  /**
   * The folder that records which settings of a checkout the user has allowed. Defaults to the
   * user's state folder.
   */
  readonly consentFolder?: string;
}

export interface DroverCodeRun extends AgentRun<DroverCodeDeps> {
  readonly settings: AgentSettings;
  /** The whole task, in the form that the program needs. */
  readonly prompt: string;
}

type OwnEnd = 'turn_cap';

const turnsMaxDefault = 500;
/** It prints at least every 30 s by default, so silence for four such periods is noted. */
const quietMsMin = 120_000;

export async function runHeadless(run: DroverCodeRun, program: string): Promise<AgentOutcome> {
  const { request, record, settings } = run;
  const files = headlessFiles(request.logPath);
  const isRemote = request.runsOn === 'remote';
  removeResult(files.result);
  writeFileSync(files.prompt, run.prompt, { mode: 0o600 });
  // A part that runs again after a crash keeps its earlier commits.
  if (!request.resume || !existsSync(files.base)) {
    writeFileSync(files.base, (await readHead(request.cwd, request.env)) ?? '', { mode: 0o600 });
  }
  const start = {
    program,
    args: headlessArguments(isRemote ? workerFiles : files, settings),
    env: headlessEnvironment(request, settings),
    // The process that follows a worker uploads the files that it reads.
    stdin: isRemote ? 'file' : 'none',
    prompt: run.prompt,
    ...(isRemote ? { brings: { [workerResult]: files.result } } : {}),
    onLeftoverLine: (stream: OutputStream, text: string) =>
      record.emit({ type: 'output', stream, text }),
  } as const;
  const { outcome, follower } = await runProgram(run, start, () => {
    const model = settings.model === null ? {} : { model: settings.model };
    const agent = { agent: 'drover-code', sessionId: null, ...model } as const;
    const started: AgentEvent = { type: 'started', resumed: false, ...agent };
    record.emit(started);
    return new HeadlessFollower(run, files, withEvent(factsOfLog(request.logPath), started));
  });
  if (follower === null) rmSync(files.prompt, { force: true });
  return outcome;
}

export async function adoptHeadless(
  run: DroverCodeRun,
  agent: AgentProcess,
): Promise<AgentOutcome | null> {
  const { logPath } = run.request;
  const files = headlessFiles(logPath);
  // It never got a prompt file, so it was a bridge whose pipes closed with the backend.
  if (!existsSync(files.base)) return null;
  return await adoptProgram(
    run,
    agent,
    () => new HeadlessFollower(run, files, factsOfLog(logPath, isDenial)),
  );
}

class HeadlessFollower implements ProgramFollower<OwnEnd> {
  /** The program has the same limit and exits first, with a result file. */
  readonly ownDeadlineMs = 60_000;
  readonly ownEnd: Promise<OwnEnd>;
  readonly #run: DroverCodeRun;
  readonly #files: HeadlessFiles;
  readonly #translator: HeadlessTranslator;
  readonly #silence: SilenceWatch;
  readonly #end = Promise.withResolvers<OwnEnd>();
  readonly #turnsMax: number;
  #facts: LogFacts;

  constructor(run: DroverCodeRun, files: HeadlessFiles, facts: LogFacts) {
    this.#run = run;
    this.#files = files;
    this.#facts = facts;
    this.#turnsMax = run.deps.turnsMax ?? turnsMaxDefault;
    this.ownEnd = this.#end.promise;
    this.#translator = new HeadlessTranslator(facts.usageBefore);
    this.#silence = watchStall(run, {
      note: (seconds) => `Drover Code has sent no output for ${seconds} s.`,
      warnMs: Math.max(run.request.stallWarnMs, quietMsMin),
      onEnd: null,
    });
  }

  get isExitTold(): boolean {
    return this.#facts.hasExit;
  }

  takeLine(stream: OutputStream, line: string): void {
    this.#silence.touch();
    if (stream === 'stderr') this.#emit({ type: 'output', stream, text: line });
    else for (const event of this.#translator.take(line)) this.#emit(event);
  }

  stop(): void {
    this.#silence.stop();
  }

  finish(): void {
    for (const event of this.#translator.flush()) this.#emit(event);
  }

  async outcome(end: ProgramEnd<OwnEnd>): Promise<AgentOutcome> {
    const { request, record } = this.#run;
    const files = this.#files;
    const { deniedTools } = this.#facts;
    rmSync(files.prompt, { force: true });
    const result = takeResult(files.result, record.mask);
    const hasDenials = deniedTools.length > 0;
    const base = readBase(files.base);
    const hasChanges = hasDenials ? await hasChangesSince(request.cwd, base, request.env) : null;
    const outcome = headlessOutcome(this.#facts, {
      ...end,
      result,
      timeoutMs: request.timeoutMs,
      turnsMax: this.#turnsMax,
      hasChanges,
      planning: request.planning === true,
    });
    if (hasDenials && outcome.kind === 'done') {
      const text = `Drover Code's policy refused: ${deniedTools.join(', ')}.`;
      record.emit({ type: 'note', level: 'warning', text });
    }
    return outcome;
  }

  #emit(event: AgentEvent): void {
    this.#facts = withEvent(this.#facts, event, isDenial);
    this.#run.record.emit(event);
    if (this.#facts.turns >= this.#turnsMax) this.#end.resolve('turn_cap');
  }
}

function readBase(path: string): string | null {
  try {
    return readFileSync(path, 'utf8') || null;
  } catch {
    return null;
  }
}
