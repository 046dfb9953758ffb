// Handles links that replace ignored folders. A rule such as `node_modules/` only matches folders,
// so git lists a link with that name as a new file. If it landed, it would conflict with every
// checkout that has the folder.

import { copyFile, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import {
  absoluteBytes,
  foldersAbove,
  type PathBytes,
  splitZero,
  zeroEnded,
} from '../../files/path-bytes.ts';
import { lstatOrNull } from '../../files/small-files.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';
import type { ParsedStatus } from '../ask/status-format.ts';

/** Counts untracked links as ignored if a folder with their name would be. */
export async function ignoreFolderLinks(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  status: ParsedStatus,
): Promise<GitResult<ParsedStatus>> {
  const links = status.entries
    .filter(({ kind, path }) => kind === 'untracked' && isLink(worktree, path))
    .map(({ path }) => path);
  if (links.length === 0) return ok(status);
  const ignored = await ignoredAsFolders(context, worktree, links);
  if (!ignored.ok) return ignored;
  const entries = status.entries.map((entry) =>
    ignored.value.has(entry.path) ? { ...entry, kind: 'ignored' as const } : entry,
  );
  return ok({ ...status, entries });
}

function isLink({ path: root }: LinkedWorktree, path: PathBytes): boolean {
  return lstatOrNull(absoluteBytes(root, path))?.isSymbolicLink() === true;
}

/** Git refuses to apply rules beyond a link, so it checks real folders with these names. */
async function ignoredAsFolders(
  context: RepositoryContext,
  { path: root, gitDir }: LinkedWorktree,
  links: readonly PathBytes[],
): Promise<GitResult<ReadonlySet<PathBytes>>> {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'drover-rules-')));
  try {
    for (const link of links) await mkdir(absoluteBytes(place, link), { recursive: true });
    for (const folder of new Set(['', ...links.flatMap((link) => [...foldersAbove(link)])])) {
      const rules = folder === '' ? '.gitignore' : `${folder}/.gitignore`;
      if (lstatOrNull(absoluteBytes(root, rules))?.isFile() !== true) continue;
      await copyFile(absoluteBytes(root, rules), absoluteBytes(place, rules));
    }
    const output = await context.git(['check-ignore', '-z', '--stdin', '--no-index'], {
      env: { GIT_DIR: gitDir, GIT_COMMON_DIR: context.commonDir, GIT_WORK_TREE: place },
      input: zeroEnded(links.map((link) => `${link}/`)),
    });
    // Exit code 1: none of them is ignored.
    if (output.problem !== null || output.code > 1) {
      return err(failureOf(output, `read the ignore rules of ${root}`));
    }
    return ok(new Set(splitZero(output.stdout).map((path) => path.replace(/\/$/u, ''))));
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
