// Handles work inside submodules: holds it if others could not fetch its commits, and keeps it
// before its slot is emptied.

import { readdir, mkdir, rm, rmdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, printedId } from '../failures.ts';
import { ownIdentity } from '../process/identity.ts';
import { copyOfStore } from '../refs/copied-store.ts';
import { keepHistory } from './nested.ts';
import { toBytes, type PathBytes } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { forgetSetup } from '../keep/setup-note.ts';
import { exists, lstatOrNull } from '../../files/small-files.ts';
import type { ParsedStatus } from '../ask/status-format.ts';
import {
  eachSubmodule,
  parseGitFile,
  type Gitlink,
  parseGitlinks,
  listGitlinks,
  type LentSubmodule,
  mayHaveSubmodules,
  modulesFolder,
  submodulePlace,
  readSubmodule,
} from './submodules.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { Sha } from '../sha.ts';

/** Submodules with edits, or on a commit that only this worktree has. */
export async function heldSubmodules(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  status: ParsedStatus,
): Promise<GitResult<readonly PathBytes[]>> {
  const changed = status.entries.filter((entry) => entry.submodule);
  if (changed.length === 0 && !mayHaveSubmodules(worktree)) return ok([]);
  const gitlinks = await listGitlinks(context, worktree);
  if (!gitlinks.ok) return gitlinks;
  const held = new Set<PathBytes>();
  const looked = await eachSubmodule(
    context,
    submodulePlace(worktree),
    gitlinks.value,
    async (submodule) => {
      const { path, recorded, edited, store } = submodule;
      const head = store.headSha;
      const isMoved = head !== null && head !== recorded;
      if (edited !== null || (isMoved && !(await isPublished(context, worktree, submodule, head))))
        held.add(path);
      return ok(undefined);
    },
  );
  if (!looked.ok) return looked;
  const staged = new Set(changed.filter((entry) => entry.index !== '.').map((entry) => entry.path));
  const recorded = gitlinks.value.filter(({ path }) => staged.has(path) && !held.has(path));
  for (const gitlink of recorded) {
    if (!(await isRecordedPublished(context, worktree, gitlink))) held.add(gitlink.path);
  }
  return ok([...held]);
}

/** Paths of a commit that refer to another repository's commit which only this worktree has. */
export async function unpublishedGitlinks(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  commit: Sha,
  paths: readonly PathBytes[],
): Promise<GitResult<readonly PathBytes[]>> {
  if (paths.length === 0) return ok([]);
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', commit, '--'];
  const listed = await context.git([...args, ...paths.map((path) => toBytes(path).toString())]);
  if (listed.code !== 0) return err(failureOf(listed, `list the submodules of ${commit}`));
  const unpublished: PathBytes[] = [];
  for (const gitlink of parseGitlinks(listed.stdout)) {
    if (!(await isRecordedPublished(context, worktree, gitlink))) unpublished.push(gitlink.path);
  }
  return ok(unpublished);
}

async function isRecordedPublished(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  gitlink: Gitlink,
): Promise<boolean> {
  const { path, recorded } = gitlink;
  const submodule = readSubmodule(modulesFolder(worktree), worktree.path, gitlink);
  const gitDir = submodule?.gitDir ?? join(modulesFolder(worktree), path);
  const store = exists(gitDir) ? await copyOfStore(context, gitDir) : null;
  if (store === null) return isOfUser(context, worktree, { path, gitDir: null }, recorded);
  try {
    return await isPublished(context, worktree, { path, gitDir, store }, recorded);
  } finally {
    await rm(store.path, { recursive: true, force: true });
  }
}

/**
 * Whether a branch fetched from or pushed to its remote contains the commit, or the user's
 * repository does.
 */
async function isPublished(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  submodule: Pick<LentSubmodule, 'path' | 'gitDir' | 'store'>,
  commit: Sha,
): Promise<boolean> {
  const args = [`--git-dir=${submodule.store.path}`, 'rev-list', '--max-count=1'];
  const own = await context.git([...args, commit, '--not', '--remotes']);
  if (own.code === 0 && own.stdout.length === 0) return true;
  return isOfUser(context, worktree, submodule, commit);
}

async function isOfUser(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  { path, gitDir }: Pick<LentSubmodule, 'path' | 'gitDir'>,
  commit: Sha,
): Promise<boolean> {
  const pointer = join(context.root, toBytes(path).toString(), '.git');
  const theirs = join(context.commonDir, 'modules');
  const places = [
    lstatOrNull(pointer)?.isDirectory() === true ? pointer : parseGitFile(pointer),
    join(theirs, toBytes(path).toString()),
    gitDir === null ? null : join(theirs, relative(modulesFolder(worktree), gitDir)),
  ];
  for (const place of new Set(places)) {
    const copy = place === null ? null : await copyOfStore(context, place);
    if (copy === null) continue;
    const look = [`--git-dir=${copy.path}`, 'cat-file', '-e', `${commit}^{commit}`];
    const found = await context.git(look);
    await rm(copy.path, { recursive: true, force: true });
    if (found.code === 0) return true;
  }
  return false;
}

/** A submodule that differs from the base. */
interface Used {
  readonly folder: string;
  readonly gitDir: string | null;
  readonly head: Sha | null;
  readonly path: PathBytes;
  readonly isEdited: boolean;
}

/** The kept work of a worktree's submodules, so that they may be emptied. */
export interface KeptSubmodules {
  readonly present: readonly Used[];
}

/** Keeps every commit and edit that only this worktree's submodules contain. */
export async function keepSubmodules(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
): Promise<GitResult<KeptSubmodules>> {
  if (!mayHaveSubmodules(worktree)) return ok({ present: [] });
  const gitlinks = await listGitlinks(context, worktree);
  if (!gitlinks.ok) return gitlinks;
  const present: Used[] = [];
  const looked = await eachSubmodule(
    context,
    submodulePlace(worktree),
    gitlinks.value,
    async (submodule) => {
      const { path, folder, gitDir, store, edited } = submodule;
      present.push({ path, folder, gitDir, head: store.headSha, isEdited: edited !== null });
      return keepStore(context, store.path, label, { head: store.headSha, edited });
    },
  );
  if (!looked.ok) return looked;
  const known = new Set(present.map(({ gitDir }) => gitDir));
  const others = (await storesBelow(modulesFolder(worktree))).filter(
    (gitDir) => !known.has(gitDir),
  );
  for (const gitDir of others) {
    const copy = await copyOfStore(context, gitDir);
    if (copy === null) continue;
    try {
      const state = { head: copy.headSha, edited: null };
      const kept = await keepStore(context, copy.path, label, state);
      if (!kept.ok) return kept;
    } finally {
      await rm(copy.path, { recursive: true, force: true });
    }
  }
  return ok({ present });
}

async function keepStore(
  context: RepositoryContext,
  store: string,
  label: string,
  state: { readonly head: Sha | null; readonly edited: Sha | null },
): Promise<GitResult<void>> {
  const inStore = [`--git-dir=${store}`];
  const failed = 'keep the commits of a submodule';
  let tip = state.head;
  if (state.edited !== null) {
    const parents = tip === null ? [] : ['-p', tip];
    const made = await context.git([...inStore, 'commit-tree', state.edited, ...parents], {
      input: 'drover: edits inside a submodule\n',
      env: ownIdentity,
    });
    const edits = printedId(made, failed);
    if (!edits.ok) return edits;
    tip = edits.value;
  }
  const tips = ['--exclude=refs/remotes/*', '--all', ...(tip === null ? [] : [tip])];
  const list = ['rev-list', '--max-count=1', ...tips, '--not', '--remotes'];
  const own = await context.git([...inStore, ...list]);
  if (own.code !== 0) return err(failureOf(own, failed));
  if (own.stdout.length === 0) return ok(undefined);
  if (tip !== null) {
    const named = await context.git([...inStore, 'update-ref', 'refs/drover/tip', tip]);
    if (named.code !== 0) return err(failureOf(named, failed));
  }
  const sources = ['refs/heads/*', 'refs/tags/*', 'refs/stash*', 'refs/drover/*'];
  return keepHistory(context, store, sources, `${label}/submodules`);
}

const foldersMax = 1_000;

/** Git folders at any depth below a folder, because their names may contain slashes. */
async function storesBelow(modules: string): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = [modules];
  for (let looked = 0; looked < foldersMax; looked += 1) {
    const folder = waiting.pop();
    if (folder === undefined) break;
    if (exists(join(folder, 'HEAD')) && exists(join(folder, 'objects'))) {
      found.push(folder);
      waiting.push(join(folder, 'modules'));
      continue;
    }
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    waiting.push(
      ...entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name)),
    );
  }
  return found;
}

/**
 * Removes everything that differs from the next commit, so that a task does not see the previous
 * one's files, and an older commit of a submodule is not a change. The setup must restore it.
 */
export async function emptySubmodules(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  { present }: KeptSubmodules,
  next: Sha,
): Promise<GitResult<void>> {
  if (present.length === 0) return ok(undefined);
  const top = present.filter(({ path }) => !present.some((other) => isInside(path, other.path)));
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', next, '--'];
  const listed = await context.git([...args, ...top.map(({ path }) => toBytes(path).toString())]);
  if (listed.code !== 0) return err(failureOf(listed, `list the submodules of ${next}`));
  const wanted = new Map(
    parseGitlinks(listed.stdout).map(({ path, recorded }) => [path, recorded]),
  );
  for (const submodule of top) {
    const { path, folder, gitDir, head } = submodule;
    const isUsed = present.some(
      (one) => one.isEdited && (one === submodule || isInside(one.path, path)),
    );
    if (!isUsed && head !== null && wanted.get(path) === head) continue;
    await context.trash.take(folder, worktree.path);
    await mkdir(folder);
    if (gitDir !== null && !gitDir.startsWith(folder))
      await context.trash.take(gitDir, worktree.path);
    await forgetSetup(worktree);
  }
  await rmdir(modulesFolder(worktree)).catch(() => undefined);
  return ok(undefined);
}

function isInside(path: PathBytes, other: PathBytes): boolean {
  return path.startsWith(`${other}/`);
}
