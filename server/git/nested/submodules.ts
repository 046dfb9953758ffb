// Reads submodules that are checked out in a worktree, which git's status of the worktree ignores.
// Git is never started in them: their objects are lent to a bare repository of Drover.

import { readFileSync, realpathSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, printedId } from '../failures.ts';
import { unwatchedEntries } from '../ask/unwatched.ts';
import { intoIndex } from '../ask/into-index.ts';
import { bareStore, copyOfStore, type CopyOfHistory } from '../refs/copied-store.ts';
import { shown, splitZero, type PathBytes } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import { exists, lstatOrNull, listNames, readText } from '../../files/small-files.ts';
import { copyIndex } from '../ask/own-index.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import { isSha, type Sha } from '../sha.ts';

/** The commit of another repository that an index refers to at a path. */
export interface Gitlink {
  readonly path: PathBytes;
  readonly recorded: Sha;
}

/** A submodule, or whatever replaced it. */
export interface Submodule extends Gitlink {
  readonly folder: string;
  /** Its own git folder. Null if it is not checked out or its history cannot be read. */
  readonly gitDir: string | null;
}

/** Maximum nesting depth of submodules. */
const depthMax = 4;
const gitlinkMode = '160000';

export function modulesFolder(worktree: LinkedWorktree): string {
  return join(worktree.gitDir, 'modules');
}

/** Checks without a process, because most worktrees have no submodules. */
export function mayHaveSubmodules(worktree: LinkedWorktree): boolean {
  return exists(join(worktree.path, '.gitmodules')) || exists(modulesFolder(worktree));
}

export async function listGitlinks(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<GitResult<readonly Gitlink[]>> {
  const listed = await context.git(['ls-files', '-s', '-z'], { at: worktree.path });
  if (listed.code !== 0) return err(failureOf(listed, `list the files of ${worktree.path}`));
  return ok(parseGitlinks(listed.stdout));
}

/** Parses `ls-files -s -z` and `ls-tree -z`: mode, (type,) id, (stage,) path. */
export function parseGitlinks(listing: Buffer): readonly Gitlink[] {
  return splitZero(listing).flatMap((entry) => {
    if (!entry.startsWith(gitlinkMode)) return [];
    const tab = entry.indexOf('\t');
    const recorded = entry.slice(0, tab).split(' ').find(isSha);
    return recorded === undefined ? [] : [{ path: entry.slice(tab + 1), recorded }];
  });
}

/**
 * Returns null for a link, a folder behind one, or a submodule whose history is stored elsewhere.
 */
export function readSubmodule(
  modules: string,
  root: string,
  { path, recorded }: Gitlink,
): Submodule | null {
  const folder = join(root, shown(path));
  if (lstatOrNull(folder)?.isDirectory() !== true || realFolder(folder) !== folder) return null;
  const pointer = join(folder, '.git');
  const facts = lstatOrNull(pointer);
  if (facts === null) return { path, recorded, folder, gitDir: null };
  if (facts.isDirectory()) return { path, recorded, folder, gitDir: pointer };
  const gitDir = parseGitFile(pointer);
  if (gitDir === null || !isBelow(modules, gitDir)) return null;
  return { path, recorded, folder, gitDir: lstatOrNull(gitDir)?.isDirectory() ? gitDir : null };
}

function realFolder(folder: string): string | null {
  try {
    return realpathSync.native(folder);
  } catch {
    return null;
  }
}

/** The target of a `.git` file. */
export function parseGitFile(pointer: string): string | null {
  const named = /^gitdir: (.+)$/m.exec(readText(pointer) ?? '')?.[1]?.trim();
  if (named === undefined || named === '') return null;
  return isAbsolute(named) ? named : resolve(dirname(pointer), named);
}

function isBelow(folder: string, path: string): boolean {
  const real = realFolder(path) ?? path;
  const way = relative(folder, real);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The contents of a submodule, lent to a bare repository of Drover. */
export interface LentSubmodule extends Submodule {
  readonly store: CopyOfHistory;
  /**
   * Tree of its files if it differs from both its HEAD and the state after the setup; null
   * otherwise.
   */
  readonly edited: Sha | null;
  readonly inner: readonly Gitlink[];
}

export interface SubmodulePlace {
  /** The folder with the submodules' git folders. */
  readonly modules: string;
  readonly root: string;
  /** Path and tree of the state after the setup. */
  readonly left: ReadonlySet<string>;
}

/**
 * Calls `look` with each submodule below `root`, inner ones first. The bare repositories exist only
 * during the call.
 */
export async function eachSubmodule(
  context: RepositoryContext,
  place: SubmodulePlace,
  gitlinks: readonly Gitlink[],
  look: (submodule: LentSubmodule) => Promise<GitResult<void>>,
  depth = 0,
): Promise<GitResult<void>> {
  for (const gitlink of gitlinks) {
    const submodule = readSubmodule(place.modules, place.root, gitlink);
    if (submodule === null) continue;
    if (submodule.gitDir === null && listNames(submodule.folder).every((name) => name === '.git'))
      continue;
    const store = await lend(context, submodule);
    try {
      const lent = await readFiles(context, submodule, store, place.left);
      if (!lent.ok) return lent;
      if (depth < depthMax) {
        const inner = lent.value.inner.map(({ path, recorded }) => ({
          path: `${gitlink.path}/${path}`,
          recorded,
        }));
        const looked = await eachSubmodule(context, place, inner, look, depth + 1);
        if (!looked.ok) return looked;
      }
      const done = await look(lent.value);
      if (!done.ok) return done;
    } finally {
      await rm(store.path, { recursive: true, force: true });
    }
  }
  return ok(undefined);
}

async function lend(
  context: RepositoryContext,
  { gitDir, recorded }: Submodule,
): Promise<CopyOfHistory> {
  const copy = gitDir === null ? null : await copyOfStore(context, gitDir);
  return copy ?? { path: await bareStore(recorded.length === 64), headSha: null };
}

async function readFiles(
  context: RepositoryContext,
  submodule: Submodule,
  store: CopyOfHistory,
  left: ReadonlySet<string>,
): Promise<GitResult<LentSubmodule>> {
  const inStore = [`--git-dir=${store.path}`, `--work-tree=${submodule.folder}`];
  const failed = `read the submodule ${submodule.folder}`;
  const isLent = await lendIndex(context, submodule, store, inStore);
  if (!isLent && store.headSha !== null) {
    const read = await context.git([...inStore, 'read-tree', store.headSha]);
    if (read.code !== 0) return err(failureOf(read, failed));
  }
  // `add` is not used, because it starts git inside submodules, where git obeys their
  // configuration.
  const look = ['ls-files', '-z', '--modified', '--deleted', '--others', '--exclude-standard'];
  const changed = await context.git([...inStore, ...look]);
  if (changed.code !== 0) return err(failureOf(changed, failed));
  const paths = [...new Set(splitZero(changed.stdout))].filter((path) => !path.endsWith('/'));
  const added = await intoIndex(context, submodule.folder, paths, { settings: inStore });
  if (added.code !== 0) return err(failureOf(added, failed));
  const written = printedId(await context.git([...inStore, 'write-tree']), failed);
  if (!written.ok) return written;
  const tree = written.value;
  const listed = await context.git([...inStore, 'ls-files', '-s', '-z']);
  if (listed.code !== 0) return err(failureOf(listed, failed));
  const inner = parseGitlinks(listed.stdout);
  const before = store.headSha === null ? null : await treeIn(context, store.path, store.headSha);
  const isDifferent = before === null ? listed.stdout.length > 0 : before !== tree;
  const isEdited = isDifferent && !left.has(`${submodule.path} ${tree}`);
  return ok({ ...submodule, store, edited: isEdited ? tree : null, inner });
}

/**
 * With its index, only changed files are read. Returns false if the index may hide changes or does
 * not exist.
 */
async function lendIndex(
  context: RepositoryContext,
  { gitDir }: Submodule,
  store: CopyOfHistory,
  inStore: readonly string[],
): Promise<boolean> {
  if (gitDir === null || store.headSha === null) return false;
  const copy = join(store.path, 'index');
  if (!(await copyIndex(join(gitDir, 'index'), copy))) return false;
  const unwatched = await unwatchedEntries(context, {}, inStore);
  if (unwatched?.length === 0) return true;
  await rm(copy, { force: true });
  return false;
}

async function treeIn(context: RepositoryContext, store: string, commit: Sha): Promise<Sha | null> {
  const args = [`--git-dir=${store}`, 'rev-parse', '--verify', '-q', `${commit}^{tree}`];
  const output = await context.git(args);
  return output.code === 0 ? output.stdout.toString('utf8').trim() : null;
}

/**
 * Records changes that the setup made inside submodules, so that they do not count as a task's
 * work.
 */
export async function noteSubmodules(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<GitResult<void>> {
  const file = join(worktree.gitDir, slotNotes.submodules);
  await rm(file, { force: true });
  if (!exists(modulesFolder(worktree))) return ok(undefined);
  const gitlinks = await listGitlinks(context, worktree);
  if (!gitlinks.ok) return gitlinks;
  const left: string[] = [];
  const looked = await eachSubmodule(
    context,
    submodulePlace(worktree),
    gitlinks.value,
    (submodule) => {
      if (submodule.edited !== null) left.push(`${submodule.path} ${submodule.edited}\0`);
      return Promise.resolve(ok(undefined));
    },
  );
  if (!looked.ok) return looked;
  if (left.length > 0) await writeFile(file, left.join(''), { encoding: 'latin1', flag: 'wx' });
  return ok(undefined);
}

export function submodulePlace(worktree: LinkedWorktree): SubmodulePlace {
  const note = lstatOrNull(join(worktree.gitDir, slotNotes.submodules))?.isFile() === true;
  const text = note ? readFileSync(join(worktree.gitDir, slotNotes.submodules), 'latin1') : '';
  const left = new Set(text.split('\0'));
  return { modules: modulesFolder(worktree), root: worktree.path, left };
}
