// Drives any agent that speaks the Agent Client Protocol: Codex, OpenCode, Gemini CLI, Copilot CLI,
// or one named by a person.

import { basename, join, dirname } from 'node:path';
import { failure } from '../../core/failure.ts';
import { lockSession } from '../kit/run/session-lock.ts';
import { findProgram } from '../kit/process/find-program.ts';
import type {
  AgentDriver,
  AgentHost,
  AgentOutcome,
  AgentRequest,
  AgentSettings,
  ProcessTable,
} from '../port.ts';
import { maskOutcome } from '../kit/log/outcome-mask.ts';
import { removeRawFiles } from '../kit/log/run-files.ts';
import { openRunRecord, type RunRecord } from '../kit/log/run-record.ts';
import type { AgentChild } from '../kit/process/spawn.ts';
import { followSpool } from '../kit/run/spool.ts';
import { startProgram } from '../kit/run/start-program.ts';
import { superviseProgram } from '../kit/process/supervise.ts';
import { acpOutcome } from './outcome.ts';
import { acpArguments, acpPrograms, type AcpKind } from './programs.ts';
import type { AcpSession } from './session.ts';

export interface AcpDeps {
  readonly processTable: ProcessTable;
  readonly baseDir: string;
  /** Drover's own version, said in the greeting. */
  readonly version: string;
  readonly graceMs?: number;
}

interface AcpRun {
  readonly kind: AcpKind;
  readonly settings: AgentSettings;
  readonly deps: AcpDeps;
  readonly program: string;
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly signal: AbortSignal;
  readonly record: RunRecord;
  readonly onStarted: (process: { readonly pid: number; readonly startTime: string }) => void;
}

const graceMsDefault = 5_000;

export function createAcpDriver(
  kind: AcpKind,
  settings: AgentSettings,
  deps: AcpDeps,
): AgentDriver {
  const { title, program, install } = acpPrograms[kind];
  const name = settings.path ?? program;
  const missing =
    name === null
      ? `The agent kind "${kind}" needs a program: ${install}.`
      : `${title} ("${name}") was not found or cannot be executed: ${install}, or set [agent] path (DROVER_AGENT_PATH).`;
  const find = (env: Readonly<Record<string, string | undefined>>): string | null =>
    name === null ? null : findProgram(name, env, deps.baseDir);
  return {
    kind,
    capabilities: { resume: true, questions: true, hints: false, cost: true, adopt: false },
    probe: () => {
      const found = find(process.env);
      return Promise.resolve({ ok: found !== null, version: null, message: found ?? missing });
    },
    run: async (request, host, signal) => {
      if (signal.aborted) return { kind: 'stopped' };
      const found = find(request.env);
      if (found === null) return { kind: 'failed', failure: failure('agent_missing', missing) };
      const lock = lockSession(join(dirname(request.logPath), `${request.sessionId}.lock`));
      if (!('release' in lock)) {
        const message = `The session ${request.sessionId} is in use by process ${lock.pid}; it is not started twice.`;
        return { kind: 'failed', failure: failure('agent_failed', message) };
      }
      const record = await openRunRecord(request, host);
      try {
        const onStarted = lock.handTo.bind(lock);
        const run = { kind, settings, deps, program: found, request, host, signal, record };
        return await runProcess({ ...run, onStarted });
      } finally {
        await record.close();
        lock.release();
      }
    },
    // Its input was our pipe, which is closed: the session is loaded by a new process instead.
    adopt: () => Promise.resolve(null),
  };
}

async function runProcess(run: AcpRun): Promise<AgentOutcome> {
  const { request, host, record, deps, kind, settings } = run;
  // The protocol's library is loaded by those who have such an agent.
  const { AcpSession } = await import('./session.ts');
  const started = await startProgram({
    request,
    host,
    record,
    processTable: deps.processTable,
    program: run.program,
    args: acpArguments(kind, settings, request.tools),
    env: { ...acpPrograms[kind].env, ...request.env },
    stdin: 'pipe',
    // What was said to a dead backend will be in the session that is loaded.
    onLeftoverLine: () => undefined,
  });
  if (!started.ok) return { kind: 'failed', failure: started.error };
  const child = started.value;
  run.onStarted(child.process);
  const session = new AcpSession({
    kind,
    settings,
    request,
    host,
    record,
    version: deps.version,
    write: (message) => {
      if (child.stdin?.writable === true) child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    closeInput: () => child.stdin?.end(),
    stopSignal: run.signal,
  });
  return follow(run, child, session);
}

async function follow(run: AcpRun, child: AgentChild, session: AcpSession): Promise<AgentOutcome> {
  const { request, record, deps, kind } = run;
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
    const end = await superviseProgram<'finished' | 'stalled'>({
      request,
      ...child,
      processTable: deps.processTable,
      signal: run.signal,
      startedAt: Date.now(),
      graceMs: deps.graceMs ?? graceMsDefault,
      onWarning: (text) => record.emit({ type: 'note', level: 'warning', text }),
      waitedMs: () => session.waitedMs(),
      ownEnd: session.ownEnd,
      askToEnd: (why) => session.askToEnd(why),
    });
    await spool.finish();
    await session.finish();
    record.emit({ type: 'exit', ...end.exit });
    const { title, install } = acpPrograms[kind];
    return maskOutcome(
      acpOutcome(session.facts, {
        ...end,
        title: kind === 'acp' ? basename(run.program) : title,
        install,
        stderrTail: session.stderrTail,
        timeoutMs: request.timeoutMs,
        silentMs: session.silentMs,
      }),
      record.mask,
    );
  } finally {
    spool.stop();
    removeRawFiles(record.files);
  }
}
