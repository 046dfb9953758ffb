// One run of an agent: its request, its listeners and its leftovers.

import type { AgentHost, AgentRequest, ProcessTable } from '../../port.ts';
import type { AwakeTime } from '../../../platform/awake-clock.ts';
import type { RunRecord } from '../log/run-record.ts';
import type { SessionLock } from './session-lock.ts';

/** The external dependencies of every driver. */
export interface ProgramDeps {
  readonly processTable: ProcessTable;
  /** Program paths are relative to this folder (the project's root). */
  readonly baseDir: string;
  /** Absent if the machine never sleeps. */
  readonly awake?: AwakeTime;
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** A raw output file that has grown beyond this is emptied. */
  readonly emptySpoolAtBytes?: number;
}

export interface AgentRun<Deps extends ProgramDeps = ProgramDeps> {
  readonly request: AgentRequest;
  readonly host: AgentHost;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
  readonly record: RunRecord;
  readonly deps: Deps;
  /** Set if no other process may continue its session. */
  readonly lock: SessionLock | null;
}

export const graceMsDefault = 5_000;

/** The prompt for an agent without memory of the previous process. */
export function wholeTask(request: AgentRequest): string {
  return request.resume ? (request.promptIfForgotten ?? request.prompt) : request.prompt;
}
