// Asks a program for its version: whether it runs at all, and which one it is.

import { runToEnd, type ProgramEnd } from '../../../platform/run-to-end.ts';
import type { AgentDriver } from '../../port.ts';

const maxOutputBytes = 1024 * 1024;
const timeoutMsDefault = 20_000;

/** With no more of the environment `base` than the program needs to be found and to start. */
export async function probeVersion(
  program: string,
  base: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  timeoutMs = timeoutMsDefault,
): ReturnType<AgentDriver['probe']> {
  const own = { PATH: base['PATH'] ?? '', HOME: base['HOME'] ?? '', ...env };
  const limits = { timeoutMs, signal: null, maxOutputBytes };
  const args = ['--version'];
  const end = await runToEnd({ program, args, env: own, input: null, ...limits });
  if (end.problem !== null || end.code !== 0) {
    const reason = reasonOf(end, timeoutMs);
    const message = `${program} does not report its version: ${reason}`;
    return { ok: false, version: null, message };
  }
  const version = /^\d+\.\d+\.\S+/.exec(end.stdout.toString('utf8').trim())?.[0] ?? null;
  return { ok: true, version, message: program };
}

function reasonOf({ problem, code, stderr }: ProgramEnd, timeoutMs: number): string {
  if (problem === 'timeout') return `it did not end within ${timeoutMs / 1000} s`;
  const words = stderr.toString('utf8').trim().split('\n', 1)[0] ?? '';
  return words === '' ? `it ended with exit code ${code ?? 'none'}` : words;
}
