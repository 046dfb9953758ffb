// Asks a program for its version: whether it runs at all, and which one it is.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { AgentDriver } from '../../port.ts';

const runProgram = promisify(execFile);
const timeoutMsDefault = 20_000;

/** With no more of our environment than it needs to be found. */
export async function probeVersion(
  program: string,
  env: Readonly<Record<string, string>> = {},
  timeoutMs = timeoutMsDefault,
): ReturnType<AgentDriver['probe']> {
  try {
    const own = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env };
    const { stdout } = await runProgram(program, ['--version'], { env: own, timeout: timeoutMs });
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
