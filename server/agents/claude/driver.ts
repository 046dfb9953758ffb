// Drives Claude Code over its control protocol: no SDK, one process per part, the session outlives
// every process.

import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { failure } from '../../core/failure.ts';
import { eventsOfLog } from '../kit/log/event-log-reader.ts';
import { findProgram, findProgramFor } from '../kit/process/find-program.ts';
import {
  noUsage,
  type AgentDriver,
  type AgentHost,
  type AgentOutcome,
  type AgentRequest,
  type AgentSettings,
  type ProcessTable,
} from '../port.ts';
import type { Usage } from '../../protocol/agent-events.ts';
import { adoptOneWay, runOneWay } from '../kit/run/one-way-run.ts';
import { maskOutcome } from '../kit/log/outcome-mask.ts';
import { removeRawFiles } from '../kit/log/run-files.ts';
import { openRunRecord, type RunRecord } from '../kit/log/run-record.ts';
import type { AgentChild, SpawnElsewhere } from '../kit/process/spawn.ts';
import { followSpool } from '../kit/run/spool.ts';
import { startProgram } from '../kit/run/start-program.ts';
import { superviseProgram, type ProgramEnd } from '../kit/process/supervise.ts';
import { claudeAccount } from './account.ts';
import { claudeArguments, claudeEnvironment, hasConversation } from './invocation.ts';
import { takeLeftoverLines } from './leftovers.ts';
import { claudeOneWay } from './one-way.ts';
import { claudeOutcome, type ClaudeEnd } from './outcome.ts';
import { lockSession, type SessionLock } from '../kit/run/session-lock.ts';
import { ClaudeSession, type OwnEnd } from './session.ts';

export interface ClaudeDeps {
  readonly processTable: ProcessTable;
  readonly baseDir: string;
  /** True where a person trusts the repository: its own Claude settings apply, and may run code. */
  readonly trusted: boolean;
  readonly graceMs?: number;
  readonly elsewhere?: SpawnElsewhere | undefined;
}

interface ClaudeRun {
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly signal: AbortSignal;
  readonly record: RunRecord;
  readonly settings: AgentSettings;
  readonly deps: ClaudeDeps;
  readonly program: string;
  readonly lock: SessionLock;
}

/**
 * What one process showed. `startOtherwise`: the session was not as we thought, and nothing has
 * happened yet.
 */
interface ProcessResult {
  readonly outcome: AgentOutcome;
  readonly startOtherwise: boolean;
}

export const testedVersion = '2.1.329';

const graceMsDefault = 5_000;
const probeTimeoutMs = 10_000;
const run = promisify(execFile);

export function createClaudeDriver(settings: AgentSettings, deps: ClaudeDeps): AgentDriver {
  const name = settings.path ?? 'claude';
  const missingMessage = `Claude Code ("${name}") was not found or cannot be executed: install it (npm install -g @anthropic-ai/claude-code), or set [agent] path (DROVER_AGENT_PATH).`;
  return {
    kind: 'claude',
    capabilities: { resume: true, questions: true, hints: true, cost: true, adopt: false },
    probe: async () => {
      const program = findProgram(name, process.env, deps.baseDir);
      if (program === null) return { ok: false, version: null, message: missingMessage };
      return await probeVersion(program);
    },
    account: async (env) => {
      const program = findProgram(name, env, deps.baseDir);
      return program === null ? null : await claudeAccount(program, env, settings);
    },
    interactive: (sessionId) => {
      const program = findProgram(name, process.env, deps.baseDir) ?? name;
      return sessionId === null ? [program] : [program, '--resume', sessionId];
    },
    run: async (request, host, signal) => {
      if (signal.aborted) return { kind: 'stopped' };
      const program = findProgramFor(request, name, deps.baseDir);
      if (program === null) {
        return { kind: 'failed', failure: failure('agent_missing', missingMessage) };
      }
      if (request.runsOn === 'remote') {
        const agent = claudeOneWay(settings, deps.trusted, request);
        return await runOneWay(agent, program, deps, request, host, signal);
      }
      const lock = lockSession(join(dirname(request.logPath), `${request.sessionId}.lock`));
      if (!('release' in lock)) {
        const message = `The session ${request.sessionId} is in use by process ${lock.pid}; it is not started twice.`;
        return { kind: 'failed', failure: failure('agent_failed', message) };
      }
      const record = await openRunRecord(request, host);
      try {
        return await runSession({ request, host, signal, record, settings, deps, program, lock });
      } finally {
        await record.close();
        lock.release();
      }
    },
    // Its input was our pipe, which is closed: open questions have failed. Its session is resumed
    // instead, and what it printed meanwhile is taken into the log by that run.
    adopt: async (request, process, host, signal) => {
      if (request.runsOn !== 'remote') return null;
      const agent = claudeOneWay(settings, deps.trusted, request);
      return await adoptOneWay(agent, process, deps, request, host, signal);
    },
  };
}

async function probeVersion(program: string): ReturnType<AgentDriver['probe']> {
  try {
    const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
    const { stdout } = await run(program, ['--version'], { env, timeout: probeTimeoutMs });
    const version = /^\d+\.\d+\.\d+/.exec(stdout.trim())?.[0] ?? null;
    const isOld = version !== null && compareVersions(version, testedVersion) < 0;
    const warning = isOld ? `; older than ${testedVersion}, with which Drover is tested` : '';
    return { ok: true, version, message: `${program}${warning}` };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return {
      ok: false,
      version: null,
      message: `${program} does not report its version: ${reason}`,
    };
  }
}

export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (const index of [0, 1, 2]) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Starts or resumes; when the session turns out to be the other way, once more that way. */
async function runSession(claude: ClaudeRun): Promise<AgentOutcome> {
  const { request, record } = claude;
  const exists = hasConversation(homeOf(request), request.sessionId);
  const resume = exists ?? request.resume;
  if (resume !== request.resume) noteOtherwise(record, resume);
  const first = await runProcess(claude, resume);
  if (!first.startOtherwise || claude.signal.aborted) return first.outcome;
  noteOtherwise(record, !resume);
  return (await runProcess(claude, !resume)).outcome;
}

/** Where this run's conversations are kept. */
function homeOf(request: AgentRequest): Readonly<Record<string, string>> {
  const home = request.confinedHome;
  return home === undefined ? request.env : { HOME: home };
}

function noteOtherwise(record: RunRecord, resume: boolean): void {
  const text = resume
    ? 'This conversation exists already: it is resumed.'
    : 'The conversation to resume is missing: a new one is started under the same id.';
  record.emit({ type: 'note', level: 'warning', text });
}

async function runProcess(claude: ClaudeRun, resume: boolean): Promise<ProcessResult> {
  const { request, host, record, settings, deps } = claude;
  const leftovers = takeLeftoverLines(record, request, usageInLog(request.logPath));
  const started = await startProgram({
    request,
    host,
    record,
    processTable: deps.processTable,
    program: claude.program,
    args: claudeArguments(settings, {
      sessionId: request.sessionId,
      resume,
      trusted: deps.trusted,
      planning: request.planning === true,
      ...(request.tools === undefined ? {} : { toolsConfig: request.tools.configPath }),
    }),
    env: claudeEnvironment(request.env, settings),
    stdin: 'pipe',
    onLeftoverLine: leftovers.takeLine,
  });
  if (!started.ok) {
    return { outcome: { kind: 'failed', failure: started.error }, startOtherwise: false };
  }
  const child = started.value;
  claude.lock.handTo(child.process);
  const session = new ClaudeSession({
    request,
    host,
    record,
    resumed: resume,
    usageBefore: usageInLog(request.logPath),
    write: (message) => {
      if (child.stdin?.writable === true) child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    closeInput: () => child.stdin?.end(),
    stopSignal: claude.signal,
    deliveredBefore: leftovers.deliveredMessages,
  });
  const end = await followProcess(claude, child, session);
  return {
    outcome: outcomeOf(claude, session, end),
    startOtherwise: isOtherwise(claude, session, end, resume),
  };
}

/** Running total of this log: a resumed part goes on counting. */
function usageInLog(logPath: string): Usage {
  let usage = noUsage;
  for (const event of eventsOfLog(logPath)) if (event.type === 'usage') ({ usage } = event);
  return usage;
}

async function followProcess(
  claude: ClaudeRun,
  child: AgentChild,
  session: ClaudeSession,
): Promise<ProgramEnd<OwnEnd>> {
  const { request, record, deps } = claude;
  const spool = followSpool({
    runId: request.runId,
    process: child.process,
    files: record.files,
    log: record.log,
    onLine: (stream, line) => session.takeLine(stream, line),
  });
  try {
    child.release();
    session.begin();
    const end = await superviseProgram<OwnEnd>({
      request,
      ...child,
      processTable: deps.processTable,
      signal: claude.signal,
      startedAt: Date.now(),
      graceMs: deps.graceMs ?? graceMsDefault,
      onWarning: (text) => record.emit({ type: 'note', level: 'warning', text }),
      waitedMs: () => session.waitedMs(),
      ownEnd: session.ownEnd,
      askToEnd: (why) => session.askToEnd(why),
    });
    await spool.finish();
    return end;
  } finally {
    spool.stop();
    await session.finish();
    removeRawFiles(record.files);
  }
}

function outcomeOf(
  claude: ClaudeRun,
  session: ClaudeSession,
  end: ProgramEnd<OwnEnd>,
): AgentOutcome {
  claude.record.emit({ type: 'exit', ...end.exit });
  const why: ClaudeEnd = end.why === 'finished' ? 'exited' : end.why;
  const outcome = claudeOutcome(session.facts, {
    why,
    exit: end.exit,
    stderrTail: session.stderrTail,
    timeoutMs: claude.request.timeoutMs,
    silentMs: session.silentMs,
    limitUntilMs: session.limitUntilMs,
    planning: claude.request.planning === true,
  });
  return maskOutcome(outcome, claude.record.mask);
}

/**
 * Told by shape, not by words: it ended at once with an error, before any turn, and the session is
 * the other way.
 */
function isOtherwise(
  claude: ClaudeRun,
  session: ClaudeSession,
  end: ProgramEnd<OwnEnd>,
  resume: boolean,
): boolean {
  const { facts } = session;
  const ownDoing = end.why === 'exited' || end.why === 'finished';
  if (!ownDoing || facts.hasStarted || facts.hasMessages || end.exit.code !== 1) return false;
  if (resume) return facts.result !== null && facts.result['num_turns'] === 0;
  return (
    facts.result === null &&
    hasConversation(homeOf(claude.request), claude.request.sessionId) === true
  );
}
