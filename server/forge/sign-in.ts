// The token for a host: from the environment, else from GitHub's own command. A token of github.com
// is sent to no other host, whatever a repository's remote names.

import { runToEnd } from '../platform/run-to-end.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const variables = {
  'github.com': ['GH_TOKEN', 'GITHUB_TOKEN'],
  enterprise: ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'],
} as const;
const ghTimeoutMs = 10_000;

/** Returns null if no token is known. */
export async function tokenFor(host: string, env: Environment): Promise<string | null> {
  const names = host === 'github.com' ? variables['github.com'] : variables.enterprise;
  for (const name of names) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') return value;
  }
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
