// The tracked, untracked and ignored files of a worktree, which an upload and a download are based
// on.

import { gitEnvironment, shortened } from '../git/process/environment.ts';
import { openGitProcesses } from '../git/process/process.ts';
import { programOnPath } from '../files/program-path.ts';
import { err, ok, type Result } from '../core/failure.ts';
import type { TreeListing } from '../workers/client/upload-plan.ts';

const submoduleMode = '160000';
const ignoreFile = '.droverignore';

export interface TreeReader {
  list(): Promise<Result<TreeListing, string>>;
  ignored(paths: readonly string[]): Promise<ReadonlySet<string>>;
}

export function openTreeReader(root: string, environment: NodeJS.ProcessEnv): TreeReader {
  const processes = openGitProcesses({
    binary: programOnPath('git', environment),
    environment: gitEnvironment(shortened(environment)),
    concurrency: 2,
    maxOutputBytes: 256 * 1024 * 1024,
    timeoutMs: 5 * 60_000,
  });
  const list = async (...args: readonly string[]): Promise<readonly string[]> => {
    const output = await processes.run({ args: ['ls-files', '-z', ...args], cwd: root });
    if (output.code !== 0 || output.problem !== null) {
      throw new Error(`git could not list the files: ${output.stderr.trim().slice(0, 300)}`);
    }
    return output.stdout
      .toString('utf8')
      .split('\0')
      .filter((path) => path !== '');
  };
  return {
    list: async () => {
      try {
        const [staged, untracked] = await Promise.all([
          list('--stage'),
          list('--others', '--exclude-standard'),
        ]);
        const entries = staged.map((line) => {
          const tab = line.indexOf('\t');
          return { isSubmodule: line.startsWith(submoduleMode), path: line.slice(tab + 1) };
        });
        const tracked = [...new Set(entries.map(({ path }) => path))];
        const isIgnoring = [...tracked, ...untracked].some(
          (path) => path === ignoreFile || path.endsWith(`/${ignoreFile}`),
        );
        const rules = ['--ignored', `--exclude-per-directory=${ignoreFile}`];
        const droverIgnored = isIgnoring
          ? [...(await list('--cached', ...rules)), ...(await list('--others', ...rules))]
          : [];
        return ok({
          tracked,
          untracked,
          droverIgnored: new Set(droverIgnored),
          submodules: entries.filter((entry) => entry.isSubmodule).map(({ path }) => path),
        });
      } catch (error) {
        return err(error instanceof Error ? error.message : String(error));
      }
    },
    ignored: async (paths) => {
      if (paths.length === 0) return new Set();
      const output = await processes.run({
        args: ['check-ignore', '-z', '--stdin'],
        cwd: root,
        input: `${paths.join('\0')}\0`,
      });
      // Exit code 1: none of them is ignored.
      if (output.code !== 0 && output.code !== 1) {
        throw new Error(
          `git could not list the ignored files: ${output.stderr.trim().slice(0, 300)}`,
        );
      }
      return new Set(
        output.stdout
          .toString('utf8')
          .split('\0')
          .filter((path) => path !== ''),
      );
    },
  };
}
