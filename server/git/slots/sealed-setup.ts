// Sealed copies of setup states, beside the slots. The result of a setup is installed once for the
// manifests of a tree and copied into all other slots and gate folders. Only relocatable files are
// sealed: `node_modules`, and ignored lock files, which do not name their own folder. A Python
// environment names it in every script, so a copy would run another task's code. An installation
// that a gate made for a candidate is used only by slots whose commit contains the candidate's.

import { randomUUID } from 'node:crypto';
import { lstatSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isSetupInput } from '../../core/work/setup-inputs.ts';
import type { RepositoryContext } from '../context.ts';
import { foldersAbove, shown, type PathBytes } from '../../files/path-bytes.ts';
import { programOnPath } from '../../files/program-path.ts';
import { runToEnd } from '../../platform/run-to-end.ts';
import { collectTraces } from '../keep/setup-traces.ts';
import { isAncestor } from '../ask/ancestry.ts';
import { isSha, type Sha } from '../sha.ts';
import { exists } from '../../files/small-files.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { Traces } from '../slot-port.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

const statesName = '.drover-setups';
const manifestEnding = '.manifest';
/** Maximum number of states kept. The least recently used one is removed. */
const statesMax = 3;
const entriesMax = 300_000;
const copyMaxMs = 600_000;
const looksAtOnce = 1_000;

interface SetupToSeal {
  readonly fingerprint: string;
  /** Folders that contain everything that the setup created. */
  readonly roots: readonly PathBytes[];
  readonly made: Traces;
  /** The candidate whose gate made it. Null if it was made for a commit of the line. */
  readonly of: Sha | null;
}

interface StatePlace {
  readonly folder: string;
  readonly state: string;
  readonly manifest: string;
}

function placeOf(
  worktree: LinkedWorktree,
  { fingerprint, of }: Pick<SetupToSeal, 'fingerprint' | 'of'>,
): StatePlace {
  const folder = join(dirname(worktree.path), statesName);
  const name = fingerprint.slice(0, 32);
  const state = join(folder, of === null ? name : `${name}-${of}`);
  return { folder, state, manifest: `${state}${manifestEnding}` };
}

/** The location of the state that may be used at this commit, if it exists. */
async function usablePlace(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  { fingerprint, head }: { readonly fingerprint: string; readonly head: Sha | null },
): Promise<StatePlace> {
  const own = placeOf(worktree, { fingerprint, of: null });
  if (head === null || exists(own.manifest)) return own;
  const prefix = `${basename(own.state)}-`;
  for (const name of await readdir(own.folder).catch((): string[] => [])) {
    if (!name.startsWith(prefix) || !name.endsWith(manifestEnding)) continue;
    const of = name.slice(prefix.length, -manifestEnding.length);
    if (isSha(of) && (await isAncestor(context, of, head)))
      return placeOf(worktree, { fingerprint, of });
  }
  return own;
}

/** Untracked entries in which the setup created something. */
export function setupRoots(entries: readonly PathBytes[], made: Traces): readonly PathBytes[] {
  const roots = new Set<PathBytes>();
  const known = new Set(entries);
  for (const path of made.keys()) {
    for (const each of [path, ...foldersAbove(path)]) if (known.has(each)) roots.add(each);
  }
  return [...roots];
}

/** An ignored lock file is written by the installation and belongs to it. */
function isMovable(root: PathBytes): boolean {
  const name = shown(root);
  return (basename(name) === 'node_modules' || isSetupInput(name)) && !name.includes('\uFFFD');
}

/**
 * Called before a setup whose state will be sealed, which must not include changes of earlier
 * attempts.
 */
export async function dropUnsealed(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  entries: readonly PathBytes[],
): Promise<readonly PathBytes[]> {
  const dropped = entries.filter(isMovable);
  for (const root of dropped)
    await context.trash.take(join(worktree.path, shown(root)), worktree.path);
  return dropped;
}

/**
 * Keeps a copy of the setup's result if it is relocatable. If that fails, the next slot runs its
 * own setup.
 */
export async function sealSetup(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  setup: SetupToSeal,
): Promise<void> {
  const { roots, made } = setup;
  if (roots.length === 0 || !roots.every(isMovable) || made.size > entriesMax) return;
  const { folder, state, manifest } = placeOf(worktree, setup);
  if (exists(manifest) && exists(state)) return;
  const staging = `${state}.new-${randomUUID()}`;
  try {
    if (await leadsToItself(worktree, setup)) return;
    await mkdir(staging, { recursive: true });
    for (const root of roots) {
      if (!(await copyTree(join(worktree.path, shown(root)), join(staging, shown(root))))) return;
    }
    await rm(state, { recursive: true, force: true });
    const traces = await collectTraces({ path: staging }, roots, []);
    await rename(staging, state);
    await writeFile(manifest, manifestText(roots, traces), 'latin1');
    await removeOldest(context, worktree, folder);
  } catch {
    await rm(manifest, { force: true });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Copies the sealed state with this fingerprint into a worktree at this commit. Returns null if
 * none exists or it was changed.
 */
export async function copySealed(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  wanted: { readonly fingerprint: string; readonly head: Sha | null },
): Promise<Traces | null> {
  const { state, manifest } = await usablePlace(context, worktree, wanted);
  const text = await readFile(manifest, 'latin1').catch(() => null);
  if (text === null) return null;
  try {
    const roots = (text.split('\0\0', 1)[0] ?? '').split('\0');
    const sealed = await collectTraces({ path: state }, roots, []);
    if (manifestText(roots, sealed) !== text) {
      await rm(manifest, { force: true });
      return null;
    }
    for (const root of roots) {
      const to = join(worktree.path, shown(root));
      await context.trash.take(to, worktree.path);
      if (!(await copyTree(join(state, shown(root)), to))) return null;
    }
    const now = new Date();
    await utimes(manifest, now, now);
    return await collectTraces(worktree, roots, []);
  } catch {
    return null;
  }
}

function manifestText(roots: readonly PathBytes[], traces: Traces): string {
  const lines = [...traces].map(([path, trace]) => `${path}\0${trace}`).sort();
  return `${roots.join('\0')}\0\0${lines.join('\0')}`;
}

/** Preserves all times. Shares blocks if the file system can. */
async function copyTree(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true });
  return (await run('cp', [...thisPlatform.copyTreeOptions, '--', from, to], dirname(from))) === 0;
}

async function run(name: string, args: readonly string[], cwd: string): Promise<number> {
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' };
  const { problem, code } = await runToEnd({
    program: programOnPath(name, env),
    args,
    cwd,
    env,
    input: null,
    maxOutputBytes: 64 * 1024,
    timeoutMs: copyMaxMs,
    signal: null,
  });
  return problem === null ? (code ?? -1) : -1;
}

/** Whether a file contains the folder's path, or a link is absolute or leads out of the folder. */
async function leadsToItself(worktree: LinkedWorktree, setup: SetupToSeal): Promise<boolean> {
  let looked = 0;
  for (const [path, trace] of setup.made) {
    if (trace === '') continue;
    const file = join(worktree.path, shown(path));
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      const target = readlinkSync(file);
      const end = resolve(dirname(file), target);
      if (isAbsolute(target) || !end.startsWith(`${worktree.path}/`)) return true;
    }
    looked += 1;
    if (looked % looksAtOnce === 0) await yieldToEventLoop();
  }
  const roots = setup.roots.map(shown);
  const found = await run('grep', ['-rqF', '-e', worktree.path, '--', ...roots], worktree.path);
  // The search failed, so the result may not be relocatable.
  return found !== 1;
}

async function removeOldest(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  folder: string,
): Promise<void> {
  const manifests = (await readdir(folder)).filter((name) => name.endsWith(manifestEnding));
  const dated = await Promise.all(
    manifests.map(async (name) => ({ name, atMs: (await stat(join(folder, name))).mtimeMs })),
  );
  dated.sort((one, other) => other.atMs - one.atMs);
  for (const { name } of dated.slice(statesMax)) {
    await rm(join(folder, name), { force: true });
    await context.trash.take(join(folder, name.slice(0, -manifestEnding.length)), worktree.path);
  }
}
