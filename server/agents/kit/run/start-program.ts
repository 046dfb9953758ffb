// Starts an agent's program for a run, in an order that loses nothing: leftovers, stored process,
// then its first step.

import { writeFileSync, rmSync } from 'node:fs';
import { err, failure, ok, type Result } from '../../../core/failure.ts';
import type { ProgramStart } from '../../port.ts';
import { removeRawFiles } from '../log/run-files.ts';
import { noteBirth } from '../process/pid-order.ts';
import { spawnAgent, type AgentChild } from '../process/spawn.ts';
import type { AgentRun } from './agent-run.ts';
import { Spool, type OutputStream } from './spool.ts';

export interface StartOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'file' | 'pipe' | 'none';
  /** The content of the file; by default the request's prompt. */
  readonly prompt?: string;
  /** Handles unread lines that an earlier process of the same part printed. */
  readonly onLeftoverLine: (stream: OutputStream, line: string) => void;
  readonly brings?: ProgramStart['brings'];
}

/** When this resolves, the process exists and is stored. Its program starts at `release`. */
export async function startProgram(
  run: AgentRun,
  options: StartOptions,
): Promise<Result<AgentChild>> {
  const { request, record, deps } = run;
  await takeLeftovers(run, options);
  if (options.stdin === 'file') {
    const prompt = options.prompt ?? request.prompt;
    writeFileSync(record.files.input, prompt, { mode: 0o600 });
  }
  const env = {
    DROVER_TASK_ID: request.taskId,
    DROVER_ATTEMPT: String(request.attempt),
    ...options.env,
  };
  const { program, args, brings } = options;
  const start = { program, args, env, ...(brings === undefined ? {} : { brings }) };
  const confined = (await request.confine?.(start)) ?? ok(start);
  if (!confined.ok) {
    removeRawFiles(record.files);
    return confined;
  }
  let child: AgentChild;
  try {
    const spawnRequest = {
      runId: request.runId,
      files: record.files,
      ...confined.value,
      cwd: request.cwd,
      stdin: options.stdin,
    };
    child = await spawnAgent(spawnRequest);
  } catch (error) {
    removeRawFiles(record.files);
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The agent program "${program}" could not be started in ${request.cwd}: ${reason}.`;
    return err(failure('agent_failed', record.mask(message)));
  }
  noteBirth(child.process);
  // The program reads the prompt from the file that is already open, and no other process needs it.
  rmSync(record.files.input, { force: true });
  try {
    await run.host.onProcess(child.process);
  } catch (error) {
    await deps.processTable.endTree(request.runId, child.process, 0);
    throw error;
  }
  return ok(child);
}

async function takeLeftovers(
  { record, request }: AgentRun,
  options: Pick<StartOptions, 'onLeftoverLine'>,
): Promise<void> {
  const none = { pid: 0, startTime: '' };
  const spool = new Spool({
    runId: request.runId,
    process: none,
    files: record.files,
    log: record.log,
    onLine: options.onLeftoverLine,
    emptyAtBytes: Number.POSITIVE_INFINITY,
  });
  await spool.finish();
  removeRawFiles(record.files);
  record.log.mark({ stdout: 0, stderr: 0 });
  await record.log.flush();
}
