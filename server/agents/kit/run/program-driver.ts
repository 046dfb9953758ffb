// A driver for an agent that is a program: finds the program, opens the record of each run, and
// prevents two processes from continuing one session. The specific driver interprets the program's
// output.

import { dirname, join } from 'node:path';
import { failure } from '../../../core/failure.ts';
import type {
  AgentCapabilities,
  AgentDriver,
  AgentOutcome,
  AgentProcess,
  AgentRequest,
} from '../../port.ts';
import type { AgentKind } from '../../../core/plan/task.ts';
import { openRunRecord } from '../log/run-record.ts';
import { findProgram, findProgramFor } from '../process/find-program.ts';
import type { AgentRun, ProgramDeps } from './agent-run.ts';
import { asNeverStarted } from './never-started.ts';
import { lockSession, type SessionLock } from './session-lock.ts';

export interface ProgramDriver<Deps extends ProgramDeps> {
  readonly kind: AgentKind;
  readonly capabilities: AgentCapabilities;
  /** Name or path of the program. Null if only the settings can name it and they do not. */
  readonly program: string | null;
  /** The error and the remedy if the program does not exist. */
  readonly missing: string;
  readonly deps: Deps;
  /** Its sessions outlive its processes, and it has no lock of its own. */
  readonly locksSession?: boolean;
  /** The message for a program that was found; by default its path. */
  probe?(program: string, env: Readonly<Record<string, string>>): ReturnType<AgentDriver['probe']>;
  run(run: AgentRun<Deps>, program: string): Promise<AgentOutcome>;
  /** Absent if only the process that started it can follow it. */
  adopt?(run: AgentRun<Deps>, process: AgentProcess): Promise<AgentOutcome | null>;
}

export function programDriver<Deps extends ProgramDeps>(own: ProgramDriver<Deps>): AgentDriver {
  const { kind, capabilities, deps, program: name } = own;
  return {
    kind,
    capabilities,
    probe: async (env) => {
      const found = name === null ? null : findProgram(name, env, deps.baseDir);
      if (found === null) return { ok: false, version: null, message: own.missing };
      return (await own.probe?.(found, env)) ?? { ok: true, version: null, message: found };
    },
    run: async (request, host, signal) => {
      if (signal.aborted) return { kind: 'stopped' };
      const program = name === null ? null : findProgramFor(request, name, deps.baseDir);
      if (program === null) {
        return { kind: 'failed', failure: failure('agent_missing', own.missing) };
      }
      // Taken before its log is opened, which has only one writer.
      const lock = own.locksSession === true ? lockOf(request) : null;
      if (lock !== null && !('release' in lock)) return inUse(request, lock);
      try {
        return await recorded({ request, host, signal, deps, lock }, (run) =>
          own.run(run, program),
        );
      } finally {
        lock?.release();
      }
    },
    adopt: async (request, agent, host, signal) =>
      own.adopt === undefined
        ? null
        : await recorded(
            { request, host, signal, deps, lock: null },
            async (run) => (await own.adopt?.(run, agent)) ?? null,
          ),
  };
}

async function recorded<Deps extends ProgramDeps, Outcome extends AgentOutcome | null>(
  parts: Omit<AgentRun<Deps>, 'record'>,
  body: (run: AgentRun<Deps>) => Promise<Outcome>,
): Promise<Outcome | AgentOutcome> {
  const record = openRunRecord(parts.request, parts.host);
  try {
    const outcome = await body({ ...parts, record });
    if (outcome?.kind !== 'failed') return outcome;
    await record.log.flush();
    return asNeverStarted(outcome, parts.request.logPath);
  } finally {
    await record.close();
  }
}

function lockOf(request: AgentRequest): SessionLock | AgentProcess {
  return lockSession(join(dirname(request.logPath), `${request.sessionId}.lock`));
}

function inUse({ sessionId }: AgentRequest, holder: AgentProcess): AgentOutcome {
  const message = `The session ${sessionId} is in use by process ${holder.pid}; it is not started twice.`;
  return { kind: 'failed', failure: failure('agent_failed', message) };
}
