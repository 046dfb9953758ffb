// One process of an agent that nobody writes to while it works: its prompt is its whole input, its
// lines are read, and what it came to is kept beside the log. So it can be adopted at any moment.
// This is how agents run on workers.

import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { eventsOfLog } from '../log/event-log-reader.ts';
import { maskOutcome } from '../log/outcome-mask.ts';
import {
  noUsage,
  type AgentHost,
  type AgentOutcome,
  type AgentProcess,
  type AgentRequest,
  type ProcessTable,
} from '../../port.ts';
import type { AgentEvent, Usage } from '../../../protocol/agent-events.ts';
import { isAlive, thawRun } from '../process/process-table.ts';
import { markWhenStopped, readExitCode, removeRawFiles } from '../log/run-files.ts';
import { openRunRecord, type RunRecord } from '../log/run-record.ts';
import { watchSilence, type SilenceWatch } from '../process/silence.ts';
import { exitOfAdopted, type AgentExit, type SpawnElsewhere } from '../process/spawn.ts';
import { followSpool, type OutputStream } from './spool.ts';
import { startProgram } from './start-program.ts';
import { superviseProgram, type CommonEnd, type RunningProgram } from '../process/supervise.ts';

/** Ends that a reader may ask for; `stalled` is the silence of the model's provider. */
export type OneWayOwnEnd = 'stalled' | 'auth' | 'limited';

export interface OneWayEnd {
  readonly why: CommonEnd | OneWayOwnEnd;
  readonly exit: AgentExit;
  readonly stderrTail: string;
  readonly silentMs: number;
}

/** Understands what one kind of agent prints. */
export interface OneWayReader {
  /** One line of stdout. */
  take(line: string): { readonly events: readonly AgentEvent[]; readonly end?: OneWayOwnEnd };
  /** It runs tools: silence is not the provider's. Before its first line it has not begun. */
  readonly isWaitingForModel: boolean;
  /** So far, also where no total was printed yet. */
  readonly usage: Usage;
  outcome(end: OneWayEnd): AgentOutcome;
}

export interface OneWayAgent {
  readonly title: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** @param usageBefore what earlier processes of this run have used */
  reader(usageBefore: Usage): OneWayReader;
}

export interface OneWayDeps {
  readonly processTable: ProcessTable;
  readonly graceMs?: number;
  readonly elsewhere?: SpawnElsewhere | undefined;
}

interface OneWayRun {
  readonly agent: OneWayAgent;
  readonly deps: OneWayDeps;
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly signal: AbortSignal;
  readonly record: RunRecord;
}

const graceMsDefault = 5_000;
const stderrCharsMax = 8_000;
/** Said by the process that follows the worker, not by the agent. */
const notOfAgent = /^drover: /;

export async function runOneWay(
  agent: OneWayAgent,
  program: string,
  deps: OneWayDeps,
  request: AgentRequest,
  host: AgentHost,
  signal: AbortSignal,
): Promise<AgentOutcome> {
  if (signal.aborted) return { kind: 'stopped' };
  const record = await openRunRecord(request, host);
  try {
    const run = { agent, deps, request, host, signal, record };
    rmSync(outcomePath(request), { force: true });
    const usageBefore = usageIn(eventsOfLog(request.logPath));
    const leftovers = agent.reader(usageBefore);
    const started = await startProgram({
      request: { ...request, prompt: wholeTask(request) },
      host,
      record,
      processTable: deps.processTable,
      program,
      args: agent.args,
      env: agent.env,
      stdin: 'file',
      elsewhere: deps.elsewhere,
      onLeftoverLine: (stream, text) => {
        if (stream === 'stderr') record.emit({ type: 'output', stream, text });
        else for (const event of leftovers.take(text).events) record.emit(event);
      },
    });
    if (!started.ok) return { kind: 'failed', failure: started.error };
    tellLimits(run);
    await record.log.flush();
    started.value.release();
    const reader = agent.reader(usageIn(eventsOfLog(request.logPath)));
    return await follow({ ...started.value, startedAt: Date.now() }, run, reader, '');
  } finally {
    await record.close();
  }
}

/** Null: how it ended cannot be told. */
export async function adoptOneWay(
  agent: OneWayAgent,
  process: AgentProcess,
  deps: OneWayDeps,
  request: AgentRequest,
  host: AgentHost,
  signal: AbortSignal,
): Promise<AgentOutcome | null> {
  const kept = readOutcome(request);
  if (kept !== null) return kept;
  const record = await openRunRecord(request, host);
  try {
    const run = { agent, deps, request, host, signal, record };
    const { files } = record;
    if (existsSync(files.stopped) || !existsSync(files.stdout)) return null;
    const isKnown = isAlive(process) || readExitCode(files) !== null;
    const startedAt = statSync(files.stdout).birthtimeMs;
    const exited = exitOfAdopted(process, files);
    const reader = agent.reader(usageIn(eventsBeforeLastStart(request.logPath)));
    // What the dead backend had read: its events are in the log, but what they came to was in its
    // memory alone.
    for (const line of linesBefore(files.stdout, record.log.marks.stdout)) reader.take(line);
    const said = linesBefore(files.stderr, record.log.marks.stderr).filter(
      (line) => !notOfAgent.test(line),
    );
    const following = follow({ process, exited, startedAt }, run, reader, `${said.join('\n')}\n`);
    // Only after the marks were compared with the files: a frozen agent proves that nothing was
    // added since.
    await thawRun(request.runId, process);
    const outcome = await following;
    return isKnown && (outcome.kind !== 'failed' || (await exited).code !== null) ? outcome : null;
  } finally {
    await record.close();
  }
}

async function follow(
  program: RunningProgram,
  run: OneWayRun,
  reader: OneWayReader,
  stderrBefore: string,
): Promise<AgentOutcome> {
  const { request, host, record, deps } = run;
  const ownEnd = Promise.withResolvers<OneWayOwnEnd>();
  let stderrTail = stderrBefore.slice(-stderrCharsMax);
  let silentMs = 0;
  let isTold = false;
  const silence = watchModel(run, reader, (ms) => {
    silentMs = ms;
    ownEnd.resolve('stalled');
  });
  const takeLine = (stream: OutputStream, line: string): void => {
    if (stream === 'stderr') {
      if (!notOfAgent.test(line)) stderrTail = `${stderrTail}${line}\n`.slice(-stderrCharsMax);
      record.emit({ type: 'output', stream, text: line });
      return;
    }
    const { events, end } = reader.take(line);
    for (const event of events) {
      if (event.type === 'usage') isTold = true;
      else if (event.type === 'tool_call' || event.type === 'text') isTold = false;
      record.emit(event);
    }
    host.onUsageSoFar?.(reader.usage, false);
    if (end !== undefined) ownEnd.resolve(end);
    silence.look();
  };
  host.onUsageSoFar?.(reader.usage, true);
  const spool = followSpool({
    runId: request.runId,
    process: program.process,
    files: record.files,
    log: record.log,
    onLine: takeLine,
    // Read once more from its beginning by whoever adopts it. Its size is bounded by the log's.
    emptyAtBytes: Number.POSITIVE_INFINITY,
  });
  const stopMarking = markWhenStopped(run.signal, record.files);
  try {
    const end = await superviseProgram<OneWayOwnEnd>({
      request,
      ...program,
      processTable: deps.processTable,
      signal: run.signal,
      graceMs: request.endGraceMs ?? deps.graceMs ?? graceMsDefault,
      onWarning: (text) => record.emit({ type: 'note', level: 'warning', text }),
      ownEnd: ownEnd.promise,
    });
    await spool.finish();
    // A run that was cut off told no total.
    if (!isTold) record.emit({ type: 'usage', usage: reader.usage });
    record.emit({ type: 'exit', ...end.exit });
    await record.log.flush();
    const outcome = reader.outcome({ ...end, stderrTail, silentMs });
    const masked = maskOutcome(outcome, record.mask);
    if (masked.kind !== 'stopped') keepOutcome(request, masked);
    removeRawFiles(record.files);
    return masked;
  } finally {
    stopMarking();
    silence.stop();
    spool.stop();
  }
}

interface ModelWatch extends Pick<SilenceWatch, 'stop'> {
  /** After each line: is it still the model that is waited for? */
  look(): void;
}

function watchModel(
  run: OneWayRun,
  reader: OneWayReader,
  onEnd: (silentMs: number) => void,
): ModelWatch {
  const { request, record, agent } = run;
  const watch = watchSilence({
    warnMs: request.stallWarnMs,
    endMs: request.stallEndMs,
    onWarn: (ms) => {
      const text = `${agent.title} has sent no output for ${Math.round(ms / 1000)} s.`;
      record.emit({ type: 'note', level: 'warning', text });
    },
    onEnd,
  });
  let isPaused = false;
  const look = (): void => {
    watch.touch();
    if (reader.isWaitingForModel !== isPaused) return;
    isPaused = !reader.isWaitingForModel;
    if (isPaused) watch.pause();
    else watch.resume();
  };
  look();
  return { look, stop: () => watch.stop() };
}

/** A process on a worker remembers nothing of the one before it. */
function wholeTask(request: AgentRequest): string {
  return request.resume ? (request.promptIfForgotten ?? request.prompt) : request.prompt;
}

function tellLimits({ agent, request, record }: OneWayRun): void {
  const note = (text: string): void => record.emit({ type: 'note', level: 'info', text });
  note(`A worker cannot ask a person: requests of ${agent.title} that need an answer are refused.`);
  if (request.resume) {
    note(
      'The conversation so far is not passed to a worker: a new one starts with the whole task.',
    );
  }
}

function usageIn(events: Iterable<AgentEvent>): Usage {
  let usage = noUsage;
  for (const event of events) if (event.type === 'usage') ({ usage } = event);
  return usage;
}

function eventsBeforeLastStart(logPath: string): readonly AgentEvent[] {
  const events = [...eventsOfLog(logPath)].filter(
    ({ type }) => type === 'usage' || type === 'started',
  );
  const start = events.findLastIndex(({ type }) => type === 'started');
  return events.slice(0, Math.max(0, start));
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

/** Before the raw files go: a backend that is killed between the two finds one of them. */
function keepOutcome(request: AgentRequest, outcome: AgentOutcome): void {
  const path = outcomePath(request);
  writeFileSync(`${path}.new`, JSON.stringify(outcome), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function readOutcome(request: AgentRequest): AgentOutcome | null {
  try {
    // Written by us alone, whole or not at all.
    return JSON.parse(readFileSync(outcomePath(request), 'utf8')) as AgentOutcome;
  } catch {
    return null;
  }
}
