// Runs a shell command of the project's configuration (gate, setup) until its whole process tree
// has ended.

import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { ok, type Result } from '../../../core/failure.ts';
import type { CommandOutcome, CommandRequest } from '../../../core/work/command.ts';
import { StringDecoder } from 'node:string_decoder';
import { FailureLines } from '../../../core/prompt/failure-lines.ts';
import { createMask } from '../log/masking.ts';
import { MaskedStream } from '../log/masked-stream.ts';
import type { AgentProcess, ProcessTable, ProgramStart } from '../../port.ts';
import { runMarker, startTimeOfNewChild } from '../process/process-list.ts';
import { startInGroup } from '../process/run-group.ts';
import { type AwakeTime, AwakeTimer } from '../../../platform/awake-clock.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

export interface ShellRequest extends CommandRequest {
  /** Puts the command into its sandbox. If absent, it runs with the user's permissions. */
  readonly confine?: (start: ProgramStart) => Promise<Result<ProgramStart>>;
  /** Values that are neither stored nor shown. */
  readonly secrets?: readonly string[];
}

/** How much of the output's end is kept for people and the next prompt. */
const tailBytesMax = 16 * 1024;
/** How much of the output is kept on disk. */
const logBytesMax = 10 * 1024 * 1024;
const endGraceMs = 2_000;

export async function runShellCommand(
  request: ShellRequest,
  processes: ProcessTable,
  signal: AbortSignal,
  awake: Partial<AwakeTime> = {},
): Promise<CommandOutcome> {
  const startedMs = performance.now();
  const output = new KeptOutput(request.logPath);
  if (signal.aborted)
    return { kind: 'aborted', exitCode: null, durationMs: 0, tail: '', telling: [] };
  const confined = await confinedStart(request, shellStart(request));
  if (!confined.ok) {
    await output.close();
    return notStarted(confined.error.message);
  }
  const { program, args } = startInGroup(request.runId, confined.value);
  const child = spawn(program, [...args], {
    cwd: request.cwd,
    env: { ...confined.value.env, [runMarker]: request.runId },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: thisPlatform.hasProcessGroups,
  });
  const streams = [child.stdout, child.stderr].map((stream) => {
    const masked = new MaskedStream(request.secrets ?? [], (text) => output.add(Buffer.from(text)));
    stream.on('data', (chunk: Buffer) => masked.add(chunk));
    return masked;
  });
  let ending: 'timed_out' | 'aborted' | null = null;
  const agent: AgentProcess | null =
    child.pid === undefined
      ? null
      : { pid: child.pid, startTime: startTimeOfNewChild(child.pid) ?? '' };
  const end = (why: 'timed_out' | 'aborted'): void => {
    if (ending !== null) return;
    ending = why;
    output.noteSilence();
    void processes.endTree(request.runId, agent, endGraceMs).then(() => {
      // A process that left the tree may still hold the pipes open, so we close them.
      child.stdout.destroy();
      child.stderr.destroy();
    });
  };
  const limit = new AwakeTimer(request.timeoutMs, awake, () => end('timed_out'));
  const onAbort = (): void => end('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  const exit = await new Promise<{ code: number | null; problem: string | null }>((resolve) => {
    child.on('error', (error) => resolve({ code: null, problem: error.message }));
    child.on('exit', (code) => {
      // Background processes can keep the pipes open after the command itself has exited.
      setTimeout(() => resolve({ code, problem: null }), pipesGraceMs).unref();
      child.on('close', () => resolve({ code, problem: null }));
    });
  });
  limit.end();
  signal.removeEventListener('abort', onAbort);
  if (exit.problem === null) await processes.endTree(request.runId, agent, 0);
  for (const stream of streams) stream.end();
  await output.close();
  return {
    kind: ending ?? (exit.problem === null ? 'exited' : 'not_started'),
    exitCode: exit.code,
    durationMs: performance.now() - startedMs,
    silentMs: output.silentMs,
    tail: exit.problem ?? output.tail(),
    telling: exit.problem === null ? output.telling(request.cwd) : [exit.problem],
  };
}

async function confinedStart(
  request: ShellRequest,
  start: ProgramStart,
): Promise<Result<ProgramStart>> {
  return (await request.confine?.(start)) ?? ok(start);
}

const commandVariable = 'DROVER_COMMAND_LINE';

/** Other users can read the arguments of every process, but not its environment. */
function shellStart({ command, env, secrets = [] }: ShellRequest): ProgramStart {
  const holdsSecret = thisPlatform.hasShell && createMask(secrets)(command) !== command;
  return holdsSecret
    ? {
        ...thisPlatform.shellStart(`eval "$${commandVariable}"`),
        env: { ...env, [commandVariable]: command },
      }
    : { ...thisPlatform.shellStart(command), env };
}

function notStarted(why: string): CommandOutcome {
  return { kind: 'not_started', exitCode: null, durationMs: 0, tail: why, telling: [why] };
}

/** How long the pipes are read after the command itself has ended. */
const pipesGraceMs = 500;

/** The end of an output in memory and its start on disk, both limited. */
class KeptOutput {
  readonly #log: WriteStream;
  #chunks: Buffer[] = [];
  #kept = 0;
  #written = 0;
  readonly #telling = new FailureLines();
  readonly #decoder = new StringDecoder('utf8');
  #printedMs = performance.now();
  /** How long the command had printed nothing when it ended. */
  silentMs = 0;

  constructor(logPath: string) {
    mkdirSync(dirname(logPath), { recursive: true });
    this.#log = createWriteStream(logPath, { mode: 0o600 });
    this.#log.on('error', () => this.#log.destroy());
  }

  noteSilence(): void {
    this.silentMs = performance.now() - this.#printedMs;
  }

  add(chunk: Buffer): void {
    this.#printedMs = performance.now();
    if (this.#written < logBytesMax && !this.#log.destroyed) {
      this.#log.write(chunk.subarray(0, logBytesMax - this.#written));
      this.#written += chunk.length;
    }
    if (!this.#telling.isFull) this.#telling.add(this.#decoder.write(chunk));
    this.#chunks.push(chunk);
    this.#kept += chunk.length;
    if (this.#kept > 4 * tailBytesMax) this.#squeeze();
  }

  #squeeze(): void {
    const all = Buffer.concat(this.#chunks);
    const end = Buffer.from(all.subarray(Math.max(0, all.length - tailBytesMax)));
    this.#chunks = [end];
    this.#kept = end.length;
  }

  tail(): string {
    this.#squeeze();
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  /** Paths are relative to the command's folder. */
  telling(folder: string): readonly string[] {
    if (this.#telling.isFull) this.#telling.addEnd(this.tail());
    return this.#telling.lines().map((line) => line.replaceAll(`${folder}/`, ''));
  }

  async close(): Promise<void> {
    if (this.#log.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#log.end(() => resolve());
      this.#log.on('error', () => resolve());
    });
  }
}
