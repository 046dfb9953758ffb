// The state of a slot whose HEAD names a commit that is gone: a person pruned the repository while
// an agent was committing. The files are all there, so the slot goes back to the newest commit of
// its log that is whole, and what came after it is uncommitted again. Left as it is, no command
// works in the slot and every gc of the person's fails.

import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { readText } from '../files/small-files.ts';
import type { LinkedWorktree } from '../files/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { readStatus, type StatusOptions } from '../read/status.ts';
import type { ParsedStatus } from '../read/status-format.ts';
import { ignoreSetupFiles } from './setup-note.ts';
import { isSha, type Sha } from '../sha.ts';

/** The state of one of our slots; files of its setup count as ignored. */
export async function slotStatus(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  options: StatusOptions = {},
): Promise<GitResult<ParsedStatus>> {
  const status = await readableHead(context, worktree, options);
  return status.ok ? ok(await ignoreSetupFiles(worktree, status.value)) : status;
}

async function readableHead(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  options: StatusOptions,
): Promise<GitResult<ParsedStatus>> {
  const status = await readStatus(context, worktree.path, options);
  if (status.ok || !/bad object HEAD/.test(status.error.message)) return status;
  const isMended = await mendHead(context, worktree);
  return isMended ? readStatus(context, worktree.path, options) : status;
}

async function mendHead(context: RepositoryContext, worktree: LinkedWorktree): Promise<boolean> {
  const commit = await newestWhole(context, worktree);
  if (commit === null) return false;
  const at = worktree.path;
  const message = 'drover: back to what a prune has left';
  const moved = await context.git(['update-ref', '-m', message, 'HEAD', commit], { at });
  if (moved.code !== 0) return false;
  // Its entries may name objects that are gone as well; the files have all of it.
  const staged = await context.git(['read-tree', '--reset', commit], { at });
  return staged.code === 0;
}

const looksMax = 20;

async function newestWhole(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<Sha | null> {
  const log = readText(join(worktree.gitDir, 'logs', 'HEAD')) ?? '';
  const seen = new Set<string>();
  for (const line of log.trimEnd().split('\n').reverse()) {
    for (const sha of line.split(' ', 2).reverse()) {
      if (!isSha(sha) || /^0+$/.test(sha) || seen.has(sha)) continue;
      if (seen.size >= looksMax) return null;
      seen.add(sha);
      if (await isWhole(context, sha)) return sha;
    }
  }
  return null;
}

/** True as well when git was stopped: that is no sign of a loss. */
async function isWhole(context: RepositoryContext, commit: Sha): Promise<boolean> {
  const args = ['rev-list', '--objects', '--quiet', '--exclude-promisor-objects', commit];
  const output = await context.git(args);
  return output.code === 0 || output.problem !== null;
}
