// Finds the token for a host: in the environment, in a file or a program that it names, or from
// GitHub's CLI.

import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { Refusal } from '../core/failure.ts';
import { findTokenSource } from '../core/forge/tokens.ts';
import { runToEnd } from '../platform/run-to-end.ts';

const programTimeoutMs = 10_000;
const tokenBytesMax = 4_096;

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns null if no token is known. Refuses if a named file or program has none. */
export async function findToken(host: string, env: Environment): Promise<string | null> {
  const source = findTokenSource(host, env);
  if (source === null) return await printedToken('gh', ['auth', 'token', '--hostname', host], env);
  if (source.kind === 'value') return source.token;
  const { kind, variable, path } = source;
  if (!isAbsolute(path))
    throw new Refusal('sign_in', `${variable} must be an absolute path, not "${path}".`);
  const token = kind === 'file' ? tokenInFile(path) : await printedToken(path, [host], env);
  if (token !== null) return token;
  const problem =
    kind === 'file' ? 'has no token, or cannot be read' : `prints no token for ${host}`;
  throw new Refusal('sign_in', `${path}, which ${variable} names, ${problem}.`);
}

/** Read each time, so that a renewed token is found. */
function tokenInFile(path: string): string | null {
  try {
    return tokenIn(readFileSync(path));
  } catch {
    return null;
  }
}

async function printedToken(
  program: string,
  args: readonly string[],
  env: Environment,
): Promise<string | null> {
  const { code, stdout } = await runToEnd({
    program,
    args,
    env,
    input: null,
    timeoutMs: programTimeoutMs,
    signal: null,
    maxOutputBytes: tokenBytesMax,
  });
  return code === 0 ? tokenIn(stdout) : null;
}

/** A token is one word. */
function tokenIn(bytes: Buffer): string | null {
  const text = bytes.length > tokenBytesMax ? '' : bytes.toString('utf8').trim();
  return /^[\x21-\x7e]+$/u.test(text) ? text : null;
}
