// Runs a program to its end. The result depends only on the program's exit: a child that it leaves
// behind can neither delay the result by holding the output open, nor survive a timeout.

import { spawn, type ChildProcess } from 'node:child_process';
import { BoundedBuffer } from './bounded-buffer.ts';
import { Ending, signalGroup, type EndingLimits, type ProgramProblem } from './ending.ts';
import { thisPlatform } from './this-platform.ts';

export interface OutputLimits extends EndingLimits {
  readonly maxOutputBytes: number;
}

export interface ProgramRequest extends OutputLimits {
  readonly program: string;
  readonly args: readonly string[];
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Null = the null device. */
  readonly input: string | Uint8Array | null;
}

export interface ProgramEnd {
  /** Null if a signal ended it or it did not start. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Null if it ended by itself. */
  readonly problem: ProgramProblem | null;
}

const maxErrorBytes = 64 * 1024;
/** How long the output is read after the exit. Extended while more arrives. */
const outputGraceMs = 500;
const outputGracesMax = 10;

export async function runToEnd(request: ProgramRequest): Promise<ProgramEnd> {
  if (request.signal?.aborted) return ended('aborted');
  const child = spawn(request.program, [...request.args], {
    ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
    env: { ...request.env },
    stdio: [request.input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // A separate group, so that Ctrl-C does not reach it and our signal reaches its children.
    detached: thisPlatform.hasProcessGroups,
  });
  const end = endOfProgram(child, request);
  child.stdin?.end(request.input);
  return await end;
}

/** The end of a child that was started with `detached`, and its output until then. */
export function endOfProgram(child: ChildProcess, limits: OutputLimits): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const stdout = new BoundedBuffer(limits.maxOutputBytes);
    const stderr = new BoundedBuffer(maxErrorBytes);
    let hasHeard = false;
    let quietTimer: NodeJS.Timeout | undefined;
    const settle = (code: number | null): void => {
      ending.clear();
      clearTimeout(quietTimer);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      const { problem } = ending;
      resolve({ code, stdout: stdout.bytes(), stderr: stderr.bytes(), problem });
    };
    const ending = new Ending(
      limits,
      (name) => signalGroup(child, name),
      () => settle(null),
    );
    // A program that exits without reading closes its pipe. Its exit code explains why.
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (chunk: Buffer) => {
      hasHeard = true;
      if (!stdout.add(chunk)) ending.end('too_much_output');
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      hasHeard = true;
      stderr.add(chunk);
    });
    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      stderr.add(Buffer.from(error.message));
      ending.problem ??= 'missing';
      settle(null);
    });
    /** Settles after a whole grace time without output. */
    const settleWhenQuiet = (code: number | null, graces: number): void => {
      hasHeard = false;
      const look = (): void => {
        if (hasHeard && graces > 0) settleWhenQuiet(code, graces - 1);
        else settle(code);
      };
      // Output that arrived while this process was busy is read first.
      quietTimer = setTimeout(() => setImmediate(look), outputGraceMs);
    };
    child.once('exit', (code) => {
      ending.clear();
      if (ending.problem !== null) signalGroup(child, 'SIGKILL');
      child.once('close', () => settle(code));
      settleWhenQuiet(code, outputGracesMax);
    });
  });
}

function ended(problem: ProgramProblem): ProgramEnd {
  return { code: null, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), problem };
}
