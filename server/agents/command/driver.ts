// Drives any program: prompt on stdin, exit code 0 is success, what it prints is the stream. Can be
// adopted.

import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { tellingLines } from '../../core/prompt/telling-lines.ts';
import { failure } from '../../core/failure.ts';
import { formatDuration } from '../../core/format.ts';
import { planCharactersMax } from '../../core/prompt/plan-prompt.ts';
import { cutStart } from '../../core/prompt/prompt-text.ts';
import { readLogTail } from '../kit/log/event-log-reader.ts';
import { findProgram, findProgramFor } from '../kit/process/find-program.ts';
import type {
  AgentDriver,
  AgentHost,
  AgentOutcome,
  AgentProcess,
  AgentRequest,
  AgentSettings,
  ProcessTable,
} from '../port.ts';
import { isAlive, thawRun } from '../kit/process/process-table.ts';
import { markWhenStopped, readExitCode, removeRawFiles } from '../kit/log/run-files.ts';
import { openRunRecord, type RunRecord } from '../kit/log/run-record.ts';
import { watchSilence } from '../kit/process/silence.ts';
import { exitOfAdopted, type AgentExit, type SpawnElsewhere } from '../kit/process/spawn.ts';
import { followSpool } from '../kit/run/spool.ts';
import { startProgram } from '../kit/run/start-program.ts';
import {
  superviseProgram,
  type ProgramEnd,
  type RunningProgram,
} from '../kit/process/supervise.ts';

export interface CommandDeps {
  readonly processTable: ProcessTable;
  /** Relative program paths start here (the project's root). */
  readonly baseDir: string;
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  readonly emptySpoolAtBytes?: number;
  readonly elsewhere?: SpawnElsewhere;
}

interface CommandRun {
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly signal: AbortSignal;
  readonly record: RunRecord;
  readonly deps: CommandDeps;
  readonly name: string;
}

const graceMsDefault = 5_000;
const summaryCharsMax = 200;
const detailCharsMax = 4_000;
const tailEvents = 400;
/** What the message of a failure repeats of the output. */
const saidCharsMax = 300;

export function createCommandDriver(settings: AgentSettings, deps: CommandDeps): AgentDriver {
  const path = settings.path ?? '';
  const missingMessage =
    path === ''
      ? 'The agent kind "command" needs a program: set [agent] path (or DROVER_AGENT_PATH).'
      : `The agent program "${path}" was not found or cannot be executed: check [agent] path (or DROVER_AGENT_PATH) and the file's permissions.`;
  const name = basename(path);

  return {
    kind: 'command',
    capabilities: { resume: false, questions: false, hints: false, cost: false, adopt: true },
    probe: () => {
      const found = path === '' ? null : findProgram(path, process.env, deps.baseDir);
      const message = found ?? missingMessage;
      return Promise.resolve({ ok: found !== null, version: null, message });
    },
    run: async (request, host, signal) => {
      if (signal.aborted) return { kind: 'stopped' };
      const program = path === '' ? null : findProgramFor(request, path, deps.baseDir);
      if (program === null) {
        return { kind: 'failed', failure: failure('agent_missing', missingMessage) };
      }
      const record = await openRunRecord(request, host);
      try {
        const run = { request, host, signal, record, deps, name };
        return await startAndFollow(program, settings.args, run);
      } finally {
        await record.close();
      }
    },
    adopt: async (request, agent, host, signal) => {
      const record = await openRunRecord(request, host);
      try {
        return await adoptAndFollow(agent, { request, host, signal, record, deps, name });
      } finally {
        await record.close();
      }
    },
  };
}

async function startAndFollow(
  program: string,
  args: readonly string[],
  run: CommandRun,
): Promise<AgentOutcome> {
  const { request, host, record } = run;
  const started = await startProgram({
    request,
    host,
    record,
    processTable: run.deps.processTable,
    program,
    args,
    env: { ...request.env, ...toolVariables(request.tools) },
    stdin: 'file',
    elsewhere: run.deps.elsewhere,
    onLeftoverLine: (stream, text) => record.emit({ type: 'output', stream, text }),
  });
  if (!started.ok) return { kind: 'failed', failure: started.error };
  record.emit({ type: 'started', agent: 'command', sessionId: null, resumed: request.resume });
  await record.log.flush();
  started.value.release();
  return await follow({ ...started.value, startedAt: Date.now() }, run);
}

/** A program of its own kind starts Drover's MCP server by these, if it wants to. */
function toolVariables(tools: AgentRequest['tools']): Readonly<Record<string, string>> {
  if (tools === undefined) return {};
  return {
    ...tools.env,
    DROVER_MCP_COMMAND: tools.command,
    DROVER_MCP_ARGS: JSON.stringify(tools.args),
    DROVER_MCP_CONFIG: tools.configPath,
  };
}

async function adoptAndFollow(agent: AgentProcess, run: CommandRun): Promise<AgentOutcome | null> {
  const { files } = run.record;
  // A backend that was leaving had begun to end it: what it did of its work is not known.
  if (existsSync(files.stopped)) return null;
  const isKnown = isAlive(agent) || readExitCode(files) !== null;
  const startedAt = statSync(files.stdout, { throwIfNoEntry: false })?.birthtimeMs ?? Date.now();
  const exited = exitOfAdopted(agent, files);
  const following = follow({ process: agent, exited, startedAt }, run);
  // Only after the marks were compared with the files: a frozen agent proves that nothing was added
  // since.
  await thawRun(run.request.runId, agent);
  const outcome = await following;
  // Killed together with its shell while nobody looked: how its work ended is not known.
  return isKnown && (outcome.kind !== 'failed' || (await exited).code !== null) ? outcome : null;
}

/**
 * Follows the program to its end. All that the outcome needs is in the log: so it is the same after
 * any crash.
 */
async function follow(program: RunningProgram, run: CommandRun): Promise<AgentOutcome> {
  const { request, record, deps } = run;
  const silence = watchSilence({
    warnMs: request.stallWarnMs,
    endMs: null, // a program may print nothing until its end; the wall time bounds it
    onWarn: (ms) =>
      record.emit({
        type: 'note',
        level: 'warning',
        text: `${run.name} has printed nothing for ${Math.round(ms / 1000)} s.`,
      }),
    onEnd: () => undefined,
  });
  const spool = followSpool({
    runId: request.runId,
    process: program.process,
    files: record.files,
    log: record.log,
    onLine: (stream, text) => {
      silence.touch();
      record.emit({ type: 'output', stream, text });
    },
    ...(deps.emptySpoolAtBytes === undefined ? {} : { emptyAtBytes: deps.emptySpoolAtBytes }),
  });
  let end: ProgramEnd;
  const stopMarking = markWhenStopped(run.signal, record.files);
  try {
    end = await superviseProgram({
      request,
      ...program,
      processTable: deps.processTable,
      signal: run.signal,
      graceMs: request.endGraceMs ?? deps.graceMs ?? graceMsDefault,
      onWarning: (text) => record.emit({ type: 'note', level: 'warning', text }),
    });
    await spool.finish();
  } finally {
    stopMarking();
    silence.stop();
    spool.stop();
  }
  // An adoption after the end was stored already tells nothing twice.
  if (readLogTail(request.logPath, 1).events.at(-1)?.type !== 'exit') {
    record.emit({ type: 'exit', ...end.exit });
    await record.log.flush();
  }
  removeRawFiles(record.files);
  return outcomeOf(end, run);
}

function outcomeOf(end: ProgramEnd, run: CommandRun): AgentOutcome {
  const tail = tailOf(run.request.logPath);
  switch (end.why) {
    case 'stopped':
      return { kind: 'stopped' };
    case 'timeout': {
      const limit = formatDuration(run.request.timeoutMs ?? 0);
      const message = `${run.name} was stopped after ${limit}, the limit for one attempt (task_timeout).`;
      return { kind: 'failed', failure: failure('timeout', message, tail.detail) };
    }
    case 'exited': {
      if (end.exit.code === 0) {
        const summary = run.request.planning === true ? tail.plan : tail.summary;
        return { kind: 'done', summary, deniedTools: [] };
      }
      const said = (tellingLines(tail.detail, 1)[0] ?? '').slice(0, saidCharsMax);
      const message = `${run.name} ${describeExit(end.exit)}${said === '' ? '.' : `: ${said}`}`;
      return { kind: 'failed', failure: failure('agent_failed', message, tail.detail) };
    }
  }
}

function describeExit(exit: AgentExit): string {
  if (exit.code === null)
    return exit.signal === null ? 'was killed' : `was killed by ${exit.signal}`;
  // Shells report a death by signal n as 128 + n.
  return exit.code > 128
    ? `ended with exit code ${exit.code} (signal ${exit.code - 128})`
    : `ended with exit code ${exit.code}`;
}

interface PrintedTail {
  readonly summary: string;
  readonly detail: string;
  /** All of stdout that is looked at: what a program prints that plans is the plan. */
  readonly plan: string;
}

/** Last line of stdout as the summary, and the end of everything printed as evidence. */
function tailOf(logPath: string): PrintedTail {
  const printed = readLogTail(logPath, tailEvents).events.flatMap((event) =>
    event.type === 'output' ? [event] : [],
  );
  const lines = printed.filter((line) => line.text.trim() !== '');
  const summary = lines.findLast((line) => line.stream === 'stdout')?.text.trim() ?? '';
  const detail = lines.map((line) => line.text).join('\n');
  const plan = printed.flatMap((line) => (line.stream === 'stdout' ? [line.text] : [])).join('\n');
  return {
    summary: summary.slice(0, summaryCharsMax),
    detail: detail.slice(-detailCharsMax),
    plan: cutStart(plan, planCharactersMax),
  };
}
