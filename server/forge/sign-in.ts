// The token for a host: from the environment, else from GitHub's own command.

import { tokenFromEnvironment } from '../core/forge/tokens.ts';
import { runToEnd } from '../platform/run-to-end.ts';

const ghTimeoutMs = 10_000;

/** Returns null if no token is known. */
export async function findToken(
  host: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const given = tokenFromEnvironment(host, env);
  if (given !== null) return given;
  const { code, stdout } = await runToEnd({
    program: 'gh',
    args: ['auth', 'token', '--hostname', host],
    env,
    input: null,
    timeoutMs: ghTimeoutMs,
    signal: null,
    maxOutputBytes: 4_096,
  });
  const token = stdout.toString('utf8').trim();
  return code === 0 && /^[\x21-\x7e]+$/u.test(token) ? token : null;
}
