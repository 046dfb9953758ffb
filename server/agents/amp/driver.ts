// Drives Amp by its execute mode: prompt on standard input, JSON lines out, one process per part,
// threads continued by their id.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { failure } from '../../core/failure.ts';
import { findProgram, findProgramFor } from '../kit/process/find-program.ts';
import { readKeptSession } from '../kit/run/kept-session.ts';
import type { AgentDriver, AgentOutcome, AgentSettings } from '../port.ts';
import { openRunRecord, type RunRecord } from '../kit/log/run-record.ts';
import { adoptAmp, startAmp, type AmpDeps, type AmpProcessEnd, type AmpRun } from './run.ts';
import { threadInLeftovers } from './run-state.ts';

const probeTimeoutMs = 20_000;
const runProgram = promisify(execFile);

export function createAmpDriver(settings: AgentSettings, deps: AmpDeps): AgentDriver {
  const name = settings.path ?? 'amp';
  const missing = `Amp ("${name}") was not found or cannot be executed: install it (npm install -g @ampcode/cli), or set [agent] path (DROVER_AGENT_PATH).`;
  return {
    kind: 'amp',
    capabilities: { resume: true, questions: false, hints: false, cost: false, adopt: true },
    probe: async () => {
      const program = findProgram(name, process.env, deps.baseDir);
      if (program === null) return { ok: false, version: null, message: missing };
      return await probeVersion(program);
    },
    run: async (request, host, signal) => {
      if (signal.aborted) return { kind: 'stopped' };
      const program = findProgramFor(request, name, deps.baseDir);
      if (program === null) return { kind: 'failed', failure: failure('agent_missing', missing) };
      const record = await openRunRecord(request, host);
      try {
        return await runThread({ request, host, signal, record, settings, deps }, program);
      } finally {
        await record.close();
      }
    },
    adopt: async (request, agent, host, signal) => {
      const record = await openRunRecord(request, host);
      try {
        return await adoptAmp(agent, { request, host, signal, record, settings, deps });
      } finally {
        await record.close();
      }
    },
  };
}

async function probeVersion(program: string): ReturnType<AgentDriver['probe']> {
  try {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      AMP_SKIP_UPDATE_CHECK: '1',
    };
    const { stdout } = await runProgram(program, ['--version'], { env, timeout: probeTimeoutMs });
    const version = /^\d+\.\d+\.\S+/.exec(stdout.trim())?.[0] ?? null;
    return { ok: true, version, message: program };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return {
      ok: false,
      version: null,
      message: `${program} does not report its version: ${reason}`,
    };
  }
}

/** Goes on in its thread; where that is gone, a new one is told the whole task. */
async function runThread(run: AmpRun, program: string): Promise<AgentOutcome> {
  const { request, record } = run;
  if (!request.resume) {
    return (await startAmp(run, { program, threadId: null, prompt: request.prompt })).outcome;
  }
  const threadId = readKeptSession('amp', request) ?? threadInLeftovers(record.files.stdout);
  if (threadId !== null) {
    const end = await startAmp(run, { program, threadId, prompt: request.prompt });
    if (!isThreadGone(end) || run.signal.aborted) return end.outcome;
  }
  noteForgotten(record);
  const prompt = request.promptIfForgotten ?? request.prompt;
  return (await startAmp(run, { program, threadId: null, prompt })).outcome;
}

/**
 * It ended by itself with an error about a thread, before its protocol had begun: there is no such
 * thread to go on with.
 */
function isThreadGone(end: AmpProcessEnd): boolean {
  return (
    end.why === 'exited' &&
    end.outcome.kind === 'failed' &&
    end.outcome.failure.kind === 'agent_failed' &&
    !end.hasBegun &&
    /\bthread\b/i.test(end.plainTail)
  );
}

function noteForgotten(record: RunRecord): void {
  const text = 'The Amp thread to resume is missing. A new one starts with the whole task.';
  record.emit({ type: 'note', level: 'warning', text });
}
