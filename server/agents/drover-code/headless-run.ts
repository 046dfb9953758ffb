// One headless run of Drover Code, from the prompt file to the result file. Needs nobody to write,
// so it can be adopted.

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { failure } from '../../core/failure.ts';
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
import { exitOfAdopted, type SpawnElsewhere } from '../kit/process/spawn.ts';
import { followSpool, type OutputStream } from '../kit/run/spool.ts';
import { startProgram } from '../kit/run/start-program.ts';
import {
  superviseProgram,
  type ProgramEnd,
  type RunningProgram,
} from '../kit/process/supervise.ts';
import { HeadlessTranslator } from './headless-events.ts';
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
import { factsOfLog, withEvent, type RunFacts } from './run-facts.ts';
import { hasChangesSince, headOf } from './worktree-change.ts';

export interface DroverCodeDeps {
  readonly processTable: ProcessTable;
  readonly baseDir: string;
  readonly graceMs?: number;
  /** Model turns of one run; the program itself has no such limit. */
  readonly turnsMax?: number;
  readonly elsewhere?: SpawnElsewhere | undefined;
  /**
   * Where it is remembered what a person allowed a checkout to bring; by default in the person's
   * own state folder.
   */
  readonly consentFolder?: string;
}

export interface DroverCodeRun {
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly signal: AbortSignal;
  readonly record: RunRecord;
  readonly settings: AgentSettings;
  readonly deps: DroverCodeDeps;
  readonly prompt: string;
}

export const graceMsDefault = 5_000;
const turnsMaxDefault = 500;
/** The program has the same limit and ends by itself first, with a result file. */
const ownDeadlineMs = 60_000;
/** It says something every 30 s by default: three times that without a word is worth a note. */
const quietMsMin = 120_000;

export async function runHeadless(run: DroverCodeRun, program: string): Promise<AgentOutcome> {
  const { request, record, settings } = run;
  const files = headlessFiles(request.logPath);
  const isRemote = request.runsOn === 'remote';
  removeResult(files.result);
  writeFileSync(files.prompt, run.prompt, { mode: 0o600 });
  // A part that is run again after a death keeps what it had committed before.
  if (!request.resume || !existsSync(files.base)) {
    writeFileSync(files.base, (await headOf(request.cwd, request.env)) ?? '', { mode: 0o600 });
  }
  const started = await startProgram({
    request: isRemote ? { ...request, prompt: run.prompt } : request,
    host: run.host,
    record,
    processTable: run.deps.processTable,
    program,
    args: headlessArguments(isRemote ? workerFiles : files, settings),
    env: headlessEnvironment(request, settings),
    // Whoever follows a worker uploads what it reads.
    stdin: isRemote ? 'file' : 'none',
    ...(isRemote ? { brings: { [workerResult]: files.result } } : {}),
    elsewhere: run.deps.elsewhere,
    onLeftoverLine: (stream, text) => record.emit({ type: 'output', stream, text }),
  });
  if (!started.ok) {
    rmSync(files.prompt, { force: true });
    return { kind: 'failed', failure: started.error };
  }
  const model = settings.model === null ? {} : { model: settings.model };
  record.emit({
    type: 'started',
    agent: 'drover-code',
    sessionId: null,
    resumed: false,
    ...model,
  });
  await record.log.flush();
  started.value.release();
  return await follow({ ...started.value, startedAt: Date.now() }, run, files);
}

export async function adoptHeadless(
  agent: AgentProcess,
  run: DroverCodeRun,
): Promise<AgentOutcome | null> {
  const { files } = run.record;
  const own = headlessFiles(run.request.logPath);
  // No prompt was ever written for it: it was a bridge, whose pipes died with the backend.
  if (!existsSync(own.base) || existsSync(files.stopped)) return null;
  const isKnown = isAlive(agent) || readExitCode(files) !== null;
  const startedAt = statSync(files.stdout, { throwIfNoEntry: false })?.birthtimeMs ?? Date.now();
  const exited = exitOfAdopted(agent, files);
  const following = follow({ process: agent, exited, startedAt }, run, own);
  // Only after the marks were compared with the files: a frozen agent proves that nothing was added
  // since.
  await thawRun(run.request.runId, agent);
  const outcome = await following;
  return isKnown && (outcome.kind !== 'failed' || (await exited).code !== null) ? outcome : null;
}

async function follow(
  program: RunningProgram,
  run: DroverCodeRun,
  files: HeadlessFiles,
): Promise<AgentOutcome> {
  const { request, record } = run;
  const end = await followToEnd(program, run);
  rmSync(files.prompt, { force: true });
  removeRawFiles(record.files);
  const result = takeResult(files.result, record.mask);
  const base = readBase(files.base);
  const hasDenials = end.facts.deniedTools.length > 0;
  const hasChanges = hasDenials ? await hasChangesSince(request.cwd, base, request.env) : null;
  const outcome = headlessOutcome(end.facts, {
    ...end.end,
    result,
    timeoutMs: request.timeoutMs,
    turnsMax: run.deps.turnsMax ?? turnsMaxDefault,
    hasChanges,
    planning: request.planning === true,
  });
  if (hasDenials && outcome.kind === 'done') {
    const text = `Drover Code's policy refused: ${end.facts.deniedTools.join(', ')}.`;
    record.emit({ type: 'note', level: 'warning', text });
  }
  return maskOutcome(outcome, record.mask);
}

interface FollowedEnd {
  readonly end: ProgramEnd<'turn_cap'>;
  readonly facts: RunFacts;
}

async function followToEnd(program: RunningProgram, run: DroverCodeRun): Promise<FollowedEnd> {
  const { request, record, deps } = run;
  let facts = factsOfLog(request.logPath);
  const translator = new HeadlessTranslator(facts.usageBefore);
  const cap = Promise.withResolvers<'turn_cap'>();
  const emit = (event: AgentEvent): void => {
    facts = withEvent(facts, event);
    record.emit(event);
    if (facts.turns >= (deps.turnsMax ?? turnsMaxDefault)) cap.resolve('turn_cap');
  };
  const silence = watchSilence({
    warnMs: Math.max(request.stallWarnMs, quietMsMin),
    endMs: null,
    onWarn: (ms) => emit(quietNote(ms)),
    onEnd: () => undefined,
  });
  const spool = followSpool({
    runId: request.runId,
    process: program.process,
    files: record.files,
    log: record.log,
    onLine: (stream: OutputStream, line) => {
      silence.touch();
      if (stream === 'stderr') emit({ type: 'output', stream, text: line });
      else for (const event of translator.take(line)) emit(event);
    },
  });
  const stopMarking = markWhenStopped(run.signal, record.files);
  try {
    const { timeoutMs } = request;
    const end = await superviseProgram<'turn_cap'>({
      request: { ...request, timeoutMs: timeoutMs === null ? null : timeoutMs + ownDeadlineMs },
      ...program,
      processTable: deps.processTable,
      signal: run.signal,
      graceMs: request.endGraceMs ?? deps.graceMs ?? graceMsDefault,
      onWarning: (text) => emit({ type: 'note', level: 'warning', text }),
      ownEnd: cap.promise,
    });
    await spool.finish();
    for (const event of translator.flush()) emit(event);
    // An adoption after the end was stored already tells nothing twice.
    if (!facts.hasExit) emit({ type: 'exit', ...end.exit });
    await record.log.flush();
    return { end, facts };
  } finally {
    stopMarking();
    silence.stop();
    spool.stop();
  }
}

function quietNote(silentMs: number): AgentEvent {
  const text = `Drover Code has sent no output for ${Math.round(silentMs / 1000)} s.`;
  return { type: 'note', level: 'warning', text };
}

function readBase(path: string): string | null {
  try {
    return readFileSync(path, 'utf8') || null;
  } catch {
    return null;
  }
}

export function emptyPrompt(): AgentOutcome {
  const message = 'The prompt is empty: Drover Code would do nothing and report success.';
  return { kind: 'failed', failure: { ...failure('agent_failed', message), retryable: false } };
}
