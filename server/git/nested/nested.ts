// Handles repositories that an agent created inside its worktree: fetches their commits before
// their `.git` is removed.

import { readTree } from '../ask/ancestry.ts';
import { setAside } from '../keep/own-worktree.ts';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import { copyOfHistory } from '../refs/copied-store.ts';
import { shown, type PathBytes } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { lstatOrNull } from '../../files/small-files.ts';
import { updateRefs } from '../refs/refs.ts';
import { appendSnapshot } from '../keep/work-chain.ts';
import { linkedWorktrees } from '../refs/worktree-link.ts';
import { forgetMissing } from '../keep/worktree-metadata.ts';
import type { Sha } from '../sha.ts';

/** Fetches every ref and HEAD of the repository at `folder`, and keeps them as snapshots. */
export async function keepNestedHistory(
  context: RepositoryContext,
  folder: string,
  label: string,
): Promise<GitResult<void>> {
  const facts = lstatOrNull(join(folder, '.git'));
  if (facts === null) return ok(undefined);
  if (facts.isFile()) return keepNestedWorktree(context, folder);
  const copy = await copyOfHistory(context, folder);
  if (copy === null) return ok(undefined);
  const sources = ['refs/*', ...(copy.headSha === null ? [] : ['HEAD'])];
  try {
    return await keepHistory(context, copy.path, sources, label);
  } finally {
    await rm(copy.path, { recursive: true, force: true });
  }
}

/**
 * Fetches the sources (refs or patterns) from the bare repository `store`, and keeps them as
 * snapshots.
 */
export async function keepHistory(
  context: RepositoryContext,
  store: string,
  sources: readonly string[],
  label: string,
): Promise<GitResult<void>> {
  const fetchedRefs = `refs/drover/fetched/${randomUUID()}`;
  const fetched = await context.exclusively(() =>
    context.git([
      'fetch',
      '-q',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      '--no-recurse-submodules',
      store,
      ...sources.map((source) => `+${source}:${fetchedRefs}/${source}`),
    ]),
  );
  if (fetched.code !== 0) {
    return err(failureOf(fetched, 'keep the commits of a repository inside a worktree'));
  }
  return chainFetched(context, fetchedRefs, label);
}

/** Maximum number of parents of one commit. */
const tipsAtOnce = 100;

/** Adds the fetched commits to the attempt's chain, then removes the refs that kept them. */
async function chainFetched(
  context: RepositoryContext,
  root: string,
  label: string,
): Promise<GitResult<void>> {
  const listed = await context.git([
    'for-each-ref',
    '--format=%(refname) %(objectname) %(objecttype) %(*objectname) %(*objecttype)',
    `${root}/`,
  ]);
  if (listed.code !== 0) return err(failureOf(listed, `list the refs below ${root}`));
  const rows = listed.stdout
    .toString('utf8')
    .split('\n')
    .filter((row) => row !== '');
  const fields = rows.map((row) => row.split(' '));
  const tips = new Set(
    fields.flatMap(([, sha, type, peeled, peeledType]) =>
      type === 'commit' ? [sha ?? ''] : peeledType === 'commit' ? [peeled ?? ''] : [],
    ),
  );
  const waiting = [...tips];
  while (waiting.length > 0) {
    const [head = '', ...alongside] = waiting.splice(0, tipsAtOnce);
    const kept = await keepTips(context, head, alongside, label);
    if (!kept.ok) return kept;
  }
  const changes = fields.map(([ref = '', sha = '']) => ({ ref, next: null, old: sha }));
  return updateRefs(context, changes, 'drover: kept in a snapshot');
}

async function keepTips(
  context: RepositoryContext,
  head: Sha,
  alongside: readonly Sha[],
  label: string,
): Promise<GitResult<void>> {
  const tree = await readTree(context, head);
  if (!tree.ok) return tree;
  const state = { tree: tree.value, head, branch: null, indexTree: null };
  const note = { label, reason: 'nested', author: 'agent', worktree: null, skipped: [] } as const;
  const kept = await appendSnapshot(context, state, { ...note, alongside });
  return kept.ok ? ok(undefined) : kept;
}

/**
 * For a worktree inside a worktree, whose commits are already in our repository. Keeps only changes
 * in its HEAD and index.
 */
async function keepNestedWorktree(
  context: RepositoryContext,
  folder: string,
): Promise<GitResult<void>> {
  const inner = linkedWorktrees(context).find((entry) => entry.path === resolve(folder));
  if (!inner) return ok(undefined);
  const forgotten = await forgetMissing(context, inner);
  return forgotten.ok ? ok(undefined) : forgotten;
}

/**
 * Turns nested repositories into plain folders, so that their files can be kept like any others.
 */
export async function flattenNested(
  context: RepositoryContext,
  root: string,
  nested: readonly PathBytes[],
  label: string,
): Promise<GitResult<void>> {
  for (const path of nested) {
    const folder = join(root, shown(path));
    const kept = await keepNestedHistory(context, folder, label);
    if (kept.ok) await context.trash.take(join(folder, '.git'), root);
    else await setAside(join(folder, '.git'), root);
  }
  return ok(undefined);
}
