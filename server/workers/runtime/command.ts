// Starts a job's command (worker contract §4): `/bin/sh -c` in its own process group, with its
// output through real pipes.

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { err, ok, type Result } from '../../core/failure.ts';

const run = promisify(execFile);

export interface CommandRequest {
  readonly command: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface CommandExit {
  /** -1 if a signal ended the command. */
  readonly code: number;
  /** The name without SIG. */
  readonly signal: string | null;
}

export interface RunningCommand {
  readonly groupId: number;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Resolves when the group's leader has ended. Other processes may still hold its output open. */
  readonly exited: Promise<CommandExit>;
  readonly signalGroup: (signal: NodeJS.Signals) => void;
}

/** The error is a sentence. */
export async function startCommand(
  request: CommandRequest,
): Promise<Result<RunningCommand, string>> {
  const pipes: Pipe[] = [];
  try {
    pipes.push(...(await makePipes()));
    const child = await spawnShell(request, pipes);
    return ok(running(child, pipes));
  } catch (error) {
    for (const pipe of pipes) pipe.reader.destroy();
    return err(startFailure(request, error));
  } finally {
    for (const pipe of pipes) closeSync(pipe.writeEnd);
  }
}

function startFailure({ folder }: CommandRequest, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  // Node's error names the program although the folder is missing.
  const missing = existsSync(folder) ? '' : ` (the workspace ${folder} does not exist)`;
  return `The command could not be started: ${reason}${missing}.`;
}

function running(child: ChildProcess, [stdout, stderr]: readonly Pipe[]): RunningCommand {
  if (stdout === undefined || stderr === undefined) throw new Error('two pipes are needed');
  const exited = new Promise<CommandExit>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ code: code ?? -1, signal: signal?.replace(/^SIG/, '') ?? null });
    });
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the command has no process');
  return {
    groupId: pid,
    stdout: stdout.reader,
    stderr: stderr.reader,
    exited,
    signalGroup: (signal) => {
      try {
        process.kill(-pid, signal);
      } catch {
        // The whole group has ended, as intended.
      }
    },
  };
}

async function spawnShell(
  { command, folder, env }: CommandRequest,
  [stdout, stderr]: readonly Pipe[],
): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: folder,
    env: { ...env },
    detached: true,
    stdio: ['ignore', stdout?.writeEnd, stderr?.writeEnd],
  });
  return await new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child));
    child.once('error', reject);
  });
}

interface Pipe {
  readonly reader: Socket;
  readonly writeEnd: number;
}

/**
 * Node's own `pipe` is a socket, for which `/dev/stdout` cannot be opened and with which some
 * programs behave differently. A named pipe is a real one. Its name is removed before the command
 * starts.
 */
async function makePipes(): Promise<readonly Pipe[]> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-pipes-'));
  try {
    const paths = ['stdout', 'stderr'].map((name) => join(folder, name));
    await run(mkfifoPath(), ['-m', '600', ...paths]);
    return paths.map(openPipe);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openPipe(path: string): Pipe {
  // Without O_NONBLOCK, each end would wait for the other.
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeEnd = openSync(path, constants.O_WRONLY);
  return { reader: new Socket({ fd: readEnd, readable: true, writable: false }), writeEnd };
}

function mkfifoPath(): string {
  return ['/usr/bin/mkfifo', '/bin/mkfifo'].find((path) => existsSync(path)) ?? 'mkfifo';
}
