// Whether a run changed its worktree. Only checked if its policy refused a tool, to distinguish a
// refusal from a success.

import { runToEnd } from '../../platform/run-to-end.ts';

const gitMs = 30_000;

type Environment = Readonly<Record<string, string>>;

async function git(cwd: string, args: readonly string[], env: Environment): Promise<string | null> {
  const { PATH = '', HOME = '' } = env as { PATH?: string; HOME?: string };
  const { stdout, code, problem } = await runToEnd({
    program: 'git',
    // The worktree's own settings must not start a program.
    args: ['-c', 'core.fsmonitor=false', ...args],
    cwd,
    env: { PATH, HOME, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' },
    input: null,
    timeoutMs: gitMs,
    signal: null,
    maxOutputBytes: 16 * 1024 * 1024,
  });
  return problem === null && code === 0 ? stdout.toString('utf8').trim() : null;
}

/** The commit of a worktree; null outside of a repository. */
export function readHead(cwd: string, env: Environment): Promise<string | null> {
  return git(cwd, ['rev-parse', '--verify', 'HEAD'], env);
}

export async function hasChangesSince(
  cwd: string,
  base: string | null,
  env: Environment,
): Promise<boolean | null> {
  const [head, status] = [await readHead(cwd, env), await git(cwd, ['status', '--porcelain'], env)];
  if (base === null || head === null || status === null) return null;
  return head !== base || status !== '';
}
