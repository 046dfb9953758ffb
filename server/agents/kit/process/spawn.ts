// Starts an agent so that it survives this process: in its own process group, with output to files
// and its exit code stored on disk.

import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, constants, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Writable } from 'node:stream';
import type { AgentProcess } from '../../port.ts';
import { runMarker, startTimeOfNewChild } from './process-list.ts';
import { isAlive } from './process-table.ts';
import { joinGroup, makeRunGroup } from './run-group.ts';
import { readExitCode, type RunFiles } from '../log/run-files.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

export interface SpawnRequest {
  readonly runId: string;
  readonly files: RunFiles;
  /** Full path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /**
   * `file`: reads files.input and needs no writer, so it can be adopted. `pipe`: we write while it
   * runs. `none`: the null device, for a program that gets its prompt in another way; it can be
   * adopted too.
   */
  readonly stdin: 'file' | 'pipe' | 'none';
}

export interface AgentExit {
  /** Null if it was killed or if nothing is known. */
  readonly code: number | null;
  readonly signal: string | null;
}

export interface AgentChild {
  readonly process: AgentProcess;
  readonly stdin: Writable | null;
  /** Starts the program itself, so that nothing runs that was not stored before. */
  release(): void;
  readonly exited: Promise<AgentExit>;
}

/**
 * A constant script; all variable values are positional arguments. It joins the control group of
 * its run (empty = none), then waits for one line on descriptor 3. If that is closed instead, our
 * process died before it stored the new one, and the script exits. It runs the program and stores
 * its exit code in one short write, which is valid only with its line end. The traps allow it to
 * store the code even if the whole group is signaled; the program itself does not inherit them.
 */
const keeperScript = `
exit_file=$1
group=$2
shift 2
[ -z "$group" ] || ${joinGroup}
read -r released <&3 || exit 125
exec 3<&-
trap : HUP INT TERM
"$@"
code=$?
printf '%s\\n' "$code" > "$exit_file"
exit "$code"
`;

const appendFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
const exitPollMs = 100;
const exitCodeGraceMs = 500;

/**
 * Rejects if the system cannot start it at all (the folder does not exist, or the process limit is
 * reached).
 */
export async function spawnAgent(request: SpawnRequest): Promise<AgentChild> {
  const { files, program, args } = request;
  for (const path of [files.exit, files.stopped]) rmSync(path, { force: true });
  const opened: number[] = [];
  const open = (path: string, flags: number): number => {
    const descriptor = openSync(path, flags, 0o600);
    opened.push(descriptor);
    return descriptor;
  };
  try {
    const stdin =
      request.stdin === 'file'
        ? open(files.input, constants.O_RDONLY)
        : request.stdin === 'none'
          ? 'ignore'
          : 'pipe';
    const output = [open(files.stdout, appendFlags), open(files.stderr, appendFlags)];
    const { hasShell } = thisPlatform;
    const group = makeRunGroup(request.runId) ?? '';
    const stdio: StdioOptions = hasShell ? [stdin, ...output, 'pipe'] : [stdin, ...output];
    const child = spawn(
      hasShell ? '/bin/sh' : program,
      hasShell
        ? ['-c', keeperScript, 'drover-agent', files.exit, group, program, ...args]
        : [...args],
      {
        cwd: request.cwd,
        env: { ...request.env, [runMarker]: request.runId },
        stdio,
        detached: true,
        windowsHide: true,
      },
    );
    return await agentChild(child, files);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

async function agentChild(child: ChildProcess, files: RunFiles): Promise<AgentChild> {
  const { pid } = child;
  if (pid === undefined) {
    const reason: unknown = await new Promise((resolve) => child.once('error', resolve));
    throw reason instanceof Error ? reason : new Error(String(reason));
  }
  const started: AgentProcess = { pid, startTime: startTimeOfNewChild(pid) };
  // If an agent exits without reading, it closes its pipe. Our input is lost, and its exit code
  // explains why.
  child.stdin?.on('error', () => undefined);
  child.stdio[3]?.on('error', () => undefined);
  child.on('error', () => undefined);
  const exited = new Promise<AgentExit>((resolve) => {
    child.once('exit', (code, signal) => {
      if (!thisPlatform.hasShell && code !== null) writeExitCode(files, code);
      resolve({ code: readExitCode(files) ?? code, signal });
    });
  });
  const gate = child.stdio[3] as Writable | null | undefined;
  return {
    process: started,
    stdin: child.stdin,
    release: () => gate?.end('go\n'),
    exited,
  };
}

function writeExitCode(files: RunFiles, code: number): void {
  writeFileSync(`${files.exit}.new`, `${code}\n`);
  renameSync(`${files.exit}.new`, files.exit);
}

/**
 * Waits for the end of an agent that another process started. Polls, because only a parent is
 * notified.
 */
export async function exitOfAdopted(agent: AgentProcess, files: RunFiles): Promise<AgentExit> {
  while (isAlive(agent)) {
    const code = readExitCode(files);
    if (code !== null) return { code, signal: null };
    await delay(exitPollMs);
  }
  // The shell around it has exited and wrote the file before that.
  const code = readExitCode(files);
  if (code === null) await delay(exitCodeGraceMs);
  return { code: code ?? readExitCode(files), signal: null };
}
