// The setup state of a slot: the dependencies that it was set up with, and the files that the setup
// created. The note is in the slot's private git folder, so it is deleted with the worktree. Its
// list is compared with the folder, so that a cleaned or changed slot is set up again.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { isAbsolute, join, normalize, sep } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { isSetupInput } from '../../core/work/setup-inputs.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import { ownWorktree } from '../keep/own-worktree.ts';
import { forgetSetup, noteVersion, readNote, writeNote } from '../keep/setup-note.ts';
import {
  absoluteBytes,
  parentFolder,
  foldersAbove,
  type PathBytes,
  shown,
  splitZero,
  zeroEnded,
} from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { copySealed, dropUnsealed, setupRoots, sealSetup } from './sealed-setup.ts';
import { collectTraces, unversioned } from '../keep/setup-traces.ts';
import { readPlain } from '../../files/small-files.ts';
import { readStatus } from '../ask/status.ts';
import { noteSubmodules } from '../nested/submodules.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { SetupLook, SetupRequest, Traces } from '../slot-port.ts';

export async function lookAtSetup(
  context: RepositoryContext,
  request: SetupRequest,
): Promise<GitResult<SetupLook>> {
  const found = await ownWorktree(context, request.path);
  if (!found.ok) return found;
  const worktree = found.value;
  const fingerprint = await fingerprintOf(context, worktree, request);
  if (!fingerprint.ok) return fingerprint;
  const status = await readStatus(context, worktree.path, { ignored: true });
  if (!status.ok) return status;
  const changed = status.value.entries
    .filter(({ kind }) => kind === 'changed' || kind === 'unmerged')
    .map(({ path }) => path);
  const look = { fingerprint: fingerprint.value, changed };
  const note = readNote(worktree);
  const traces = await collectTraces(worktree, unversioned(status.value.entries), request.leave);
  const present = new Map(traces);
  const knows = note !== null && note.fingerprint === fingerprint.value;
  const stands = knows && [...note.made].every(([path, trace]) => present.get(path) === trace);
  if (stands) {
    if (request.only) await removeExtra(context, worktree, present, note.made, request.leave);
    return ok({ ...look, stands, before: new Map() });
  }
  await forgetSetup(worktree);
  // Leftovers of another setup or candidate must not become part of this one.
  if (request.only) await removeExtra(context, worktree, present, new Map(), request.leave);
  const wanted = { fingerprint: look.fingerprint, head: status.value.head };
  const copied = request.seal === undefined ? null : await copySealed(context, worktree, wanted);
  if (copied !== null) {
    await writeNote(worktree, { fingerprint: look.fingerprint, made: copied });
    return ok({ ...look, stands: true, before: new Map() });
  }
  if (request.only) return ok({ ...look, stands, before: new Map() });
  const isClean = status.value.entries.every(({ kind }) => kind === 'ignored');
  const sealable = request.seal === 'base' && isClean;
  if (sealable) {
    const dropped = await dropUnsealed(context, worktree, unversioned(status.value.entries));
    for (const path of present.keys()) if (isBelowAny(path, dropped)) present.delete(path);
  }
  // Files that no setup created belong to an earlier task and must not be attributed to the setup.
  const before = new Map([...present].filter(([path]) => note?.made.has(path) !== true));
  return ok({ ...look, stands, before, sealable });
}

/**
 * Called after the setup has succeeded. Reverts its changes to tracked files and records its
 * results.
 */
export async function keepSetup(
  context: RepositoryContext,
  request: SetupRequest,
  look: SetupLook,
): Promise<GitResult<void>> {
  const found = await ownWorktree(context, request.path);
  if (!found.ok) return found;
  const worktree = found.value;
  const status = await readStatus(context, worktree.path, { ignored: true });
  if (!status.ok) return status;
  const { entries } = status.value;
  const before = new Set(look.changed);
  const tracked = entries.filter(({ kind }) => kind === 'changed' || kind === 'unmerged');
  const changed = tracked.map(({ path }) => path).filter((path) => !before.has(path));
  const restored = await restore(context, worktree, changed);
  if (!restored.ok) return restored;
  const present = await collectTraces(worktree, unversioned(entries), request.leave);
  const made = new Map([...present].filter(([path, trace]) => look.before.get(path) !== trace));
  const inside = await noteSubmodules(context, worktree);
  if (!inside.ok) return inside;
  await writeNote(worktree, { fingerprint: look.fingerprint, made });
  const { head } = status.value;
  const isCandidate = request.seal === 'use' && request.only && head !== null;
  if (look.sealable === true || isCandidate) {
    const roots = setupRoots(unversioned(entries), made);
    const of = isCandidate ? head : null;
    await sealSetup(context, worktree, { fingerprint: look.fingerprint, roots, made, of });
  }
  return ok(undefined);
}

function isBelowAny(path: PathBytes, roots: readonly PathBytes[]): boolean {
  return roots.some((root) => path === root || path.startsWith(`${root}/`));
}

async function restore(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  paths: readonly PathBytes[],
): Promise<GitResult<void>> {
  if (paths.length === 0) return ok(undefined);
  const output = await context.git(
    [
      '--literal-pathspecs',
      'restore',
      '--source=HEAD',
      '--staged',
      '--worktree',
      '--pathspec-from-file=-',
      '--pathspec-file-nul',
    ],
    { at: worktree.path, input: zeroEnded(paths) },
  );
  if (output.code === 0) return ok(undefined);
  return err(failureOf(output, `undo what the setup changed in ${worktree.path}`));
}

/**
 * Identifies the state: the command, the tree's manifests and lock files, and additional files from
 * the settings.
 */
async function fingerprintOf(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  request: SetupRequest,
): Promise<GitResult<string>> {
  const hash = createHash('sha256').update(`${noteVersion}\0${request.command ?? ''}\0`);
  if (request.command === null) return ok(hash.digest('hex'));
  const listed = await context.git(['ls-files', '-s', '-z'], { at: worktree.path });
  if (listed.code !== 0) return err(failureOf(listed, `list the files of ${worktree.path}`));
  for (const entry of splitZero(listed.stdout)) {
    // Includes submodules, because the setup usually checks out their commit.
    const isInput = isSetupInput(entry.slice(entry.indexOf('\t') + 1));
    if (isInput || entry.startsWith('160000 ')) hash.update(`${entry}\0`);
  }
  for (const input of [...request.inputs].sort()) {
    hash.update(`${input}\0`).update(contentOf(worktree.path, input));
  }
  return ok(hash.digest('hex'));
}

function contentOf(root: string, input: string): Buffer | string {
  const clean = normalize(input);
  if (isAbsolute(clean) || clean === '..' || clean.startsWith(`..${sep}`)) return 'outside';
  return readPlain(join(root, clean)) ?? 'absent';
}

/** Removes unwanted files. A folder without wanted files is removed as a whole. */
async function removeExtra(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  present: Traces,
  wanted: Traces,
  leave: readonly string[],
): Promise<void> {
  const stays = new Set([
    ...wanted.keys(),
    ...leave.flatMap((path) => [...foldersAbove(bytesOfSetting(path))]),
  ]);
  for (const [path, trace] of present) {
    if (stays.has(path)) continue;
    const parent = parentFolder(path);
    // It is deleted with its folder.
    if (parent !== '' && present.has(parent) && !stays.has(parent)) continue;
    // Deleting the thousands of files of a build here would delay the gate.
    if (trace === '' && (await isTaken(context, worktree, path))) continue;
    await rm(absoluteBytes(worktree.path, path), { recursive: true, force: true });
  }
}

/** Returns false if it still exists, because it could not be renamed. */
async function isTaken(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  folder: PathBytes,
): Promise<boolean> {
  return context.trash.take(join(worktree.path, shown(folder)), worktree.path).catch(() => false);
}

function bytesOfSetting(path: string): PathBytes {
  return Buffer.from(normalize(path)).toString('latin1');
}
