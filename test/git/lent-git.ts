// Git as a confined program sees it: its refs and its objects are in the lent folder.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LentGit } from '../../server/git/local-port.ts';

/**
 * Runs without the sandbox, which mounts the lent folder in place of the shared one; for git, that
 * folder is its `commondir`.
 */
export function gitInside(
  path: string,
  lent: LentGit,
  input?: Uint8Array,
): (...args: readonly string[]) => Buffer {
  const commonDir = join(lent.gitDir, 'commondir');
  return (...args) => {
    const told = readFileSync(commonDir);
    writeFileSync(commonDir, `${lent.folder}\n`);
    try {
      return execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
        cwd: path,
        ...(input === undefined ? {} : { input }),
        stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'ignore'],
        env: {
          PATH: process.env['PATH'],
          GIT_DIR: lent.gitDir,
          GIT_WORK_TREE: path,
          GIT_ALTERNATE_OBJECT_DIRECTORIES: lent.objects,
        },
      });
    } finally {
      writeFileSync(commonDir, told);
    }
  };
}
