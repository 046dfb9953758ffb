// Asks a program for its version: whether it runs at all, and which version it is.

import { runToEnd, type ProgramEnd } from '../../../platform/run-to-end.ts';
import type { AgentDriver } from '../../port.ts';

const maxOutputBytes = 64 * 1024;
const timeoutMsDefault = 10_000;
const saidCharsMax = 200;

export interface VersionRequest {
  readonly program: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

export interface VersionAnswer {
  readonly version: string | null;
  /** It exited successfully. */
  readonly ran: boolean;
  /** Why the version is unknown, with the program's output; null if it is known. */
  readonly reason: string | null;
}

export async function askVersion(request: VersionRequest): Promise<VersionAnswer> {
  const { args = ['--version'], timeoutMs = timeoutMsDefault, ...start } = request;
  const limits = { timeoutMs, signal: null, maxOutputBytes };
  // A program that does not know the flag may wait for input.
  const end = await runToEnd({ ...start, args, input: '', ...limits });
  if (end.problem !== null || end.code !== 0)
    return { version: null, ran: false, reason: whyFailed(end, timeoutMs) };
  const said = end.stdout.toString('utf8').trim();
  const version = /\d+\.\d+[\w.+-]*/u.exec(said)?.[0] ?? null;
  const words = firstLine(said);
  const instead = words === '' ? 'it printed nothing' : `it printed “${words}”`;
  return { version, ran: true, reason: version === null ? instead : null };
}

/** Passes only the part of `base` that is needed to find and start the program. */
export async function probeVersion(
  program: string,
  base: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): ReturnType<AgentDriver['probe']> {
  const own = { PATH: base['PATH'] ?? '', HOME: base['HOME'] ?? '', ...env };
  const { version, ran, reason } = await askVersion({ program, env: own });
  if (reason === null) return { ok: true, version, message: program };
  const message = noVersionSentence(program, reason);
  return { ok: ran, version, message, isBroken: true };
}

export function noVersionSentence(program: string, reason: string): string {
  return `${program} does not report its version: ${reason}.`;
}

function whyFailed({ problem, code, stdout, stderr }: ProgramEnd, timeoutMs: number): string {
  if (problem === 'timeout') return `it did not end within ${timeoutMs / 1000} s`;
  const words = firstLine(stderr.toString('utf8')) || firstLine(stdout.toString('utf8'));
  const ending = `it ended with exit code ${code ?? 'none'}`;
  return words === '' ? ending : `${ending} and printed “${words}”`;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.trim().slice(0, saidCharsMax) ?? '';
}
