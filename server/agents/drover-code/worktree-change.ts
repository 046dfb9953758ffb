// Did a run leave anything in its worktree? Asked only when its policy refused a tool, to tell a
// refusal from a success.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const gitMs = 30_000;

type Environment = Readonly<Record<string, string>>;

async function git(cwd: string, args: readonly string[], env: Environment): Promise<string | null> {
  try {
    const { PATH = '', HOME = '' } = env as { PATH?: string; HOME?: string };
    const own = { PATH, HOME, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' };
    const options = { cwd, env: own, timeout: gitMs, maxBuffer: 16 * 1024 * 1024 };
    // The worktree's own settings must start no program of theirs.
    const { stdout } = await run('git', ['-c', 'core.fsmonitor=false', ...args], options);
    return stdout.trim();
  } catch {
    return null;
  }
}

/** The commit of a worktree; null outside a repository. */
export function headOf(cwd: string, env: Environment): Promise<string | null> {
  return git(cwd, ['rev-parse', '--verify', 'HEAD'], env);
}

export async function hasChangesSince(
  cwd: string,
  base: string | null,
  env: Environment,
): Promise<boolean | null> {
  const [head, status] = [await headOf(cwd, env), await git(cwd, ['status', '--porcelain'], env)];
  if (base === null || head === null || status === null) return null;
  return head !== base || status !== '';
}
