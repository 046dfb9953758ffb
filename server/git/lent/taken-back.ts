// Imports the work of a confined program from its own git folder: its objects by a strict import
// and never by copying files, its branch by compare-and-swap, its other refs as rescue refs. Its
// configuration and hooks are never read.

import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import { parseRefs } from '../refs/copied-store.ts';
import type { GitResult } from '../port.ts';
import { readRef, updateRefs } from '../refs/refs.ts';
import { chainCommit, keepCommit, labelOfBranch } from '../keep/work-chain.ts';
import { exists, lstatOrNull, readText } from '../../files/small-files.ts';
import { lentName } from '../refs/told-place.ts';
import { keepPlainFiles, writePlain } from '../../files/plain-folder.ts';
import { readHead } from '../refs/worktree-heads.ts';
import { findWorktree, type LinkedWorktree } from '../refs/worktree-link.ts';
import { importObjects } from './import-objects.ts';
import { dropForgedNotes, type NoteDigests } from './note-digests.ts';
import { scratchFolder } from './scratch.ts';

export const lentNoteName = 'drover-lent.json';

/** The state that was lent: the branch of HEAD (null = detached) and its tip. */
export interface LentNote {
  readonly branch: string | null;
  readonly tip: string | null;
  /** Drover's notes about the slot. Null if an earlier release did not list them. */
  readonly notes: NoteDigests | null;
}

const otherRefsMax = 50;

/** Returns at once if nothing was lent. The program must have ended. */
export async function importLentWork(
  context: RepositoryContext,
  path: string,
): Promise<GitResult<void>> {
  const found = findWorktree(context, path);
  if (!('worktree' in found)) return ok(undefined);
  const { worktree } = found;
  const folder = join(worktree.gitDir, lentName);
  const noteFile = join(worktree.gitDir, lentNoteName);
  if (lstatOrNull(folder) === null && lstatOrNull(noteFile) === null) return ok(undefined);
  const note = readNote(worktree);
  // Neither Drover nor git may follow a link that the program created here.
  await keepPlainFiles(worktree.gitDir);
  if (note.notes !== null) await dropForgedNotes(worktree.gitDir, note.notes);
  if (!(await isPlain(worktree, 'HEAD'))) await standOn(worktree, note);
  const taken = await importFrom(context, worktree, folder, note);
  const scratch = scratchFolder(context, worktree);
  await rm(scratch, { recursive: true, force: true });
  if (taken.ok) {
    context.trash.sweep(dirname(scratch));
    await context.trash.take(folder, scratch);
    const remade = (await isPlain(worktree, 'index'))
      ? taken
      : await remakeIndex(context, worktree);
    if (!remade.ok) return remade;
  } else {
    if (taken.error.retryable) return taken;
    // Objects that git refuses (broken or forged) stay for people. The worktree's files are the
    // work.
    await rename(folder, `${folder}.refused-${Date.now()}`);
    await standOn(worktree, note);
    const remade = await remakeIndex(context, worktree);
    if (!remade.ok) return remade;
  }
  await rm(noteFile, { force: true });
  return ok(undefined);
}

/**
 * Returns false if the program removed the file, or replaced it by something else, which is then
 * removed.
 */
async function isPlain({ gitDir }: LinkedWorktree, name: string): Promise<boolean> {
  const file = join(gitDir, name);
  if (lstatOrNull(file)?.isFile() === true) return true;
  await rm(file, { recursive: true, force: true });
  return false;
}

async function remakeIndex(
  context: RepositoryContext,
  { path }: LinkedWorktree,
): Promise<GitResult<void>> {
  const read = await context.git(['read-tree', 'HEAD'], { at: path });
  return read.code === 0 ? ok(undefined) : err(failureOf(read, `make the index of ${path} again`));
}

/** Whether the worktree has commits that are not imported yet. */
export function isLent(worktree: LinkedWorktree): boolean {
  return exists(join(worktree.gitDir, lentName));
}

function readNote(worktree: LinkedWorktree): LentNote {
  try {
    const parsed = JSON.parse(readText(join(worktree.gitDir, lentNoteName)) ?? '') as LentNote;
    return {
      branch: parsed.branch ?? null,
      tip: parsed.tip ?? null,
      notes: parsed.notes ?? null,
    };
  } catch {
    return { branch: null, tip: null, notes: null };
  }
}

async function standOn(worktree: LinkedWorktree, note: LentNote): Promise<void> {
  const head = note.branch === null ? note.tip : `ref: ${note.branch}`;
  if (head !== null) await writePlain(join(worktree.gitDir, 'HEAD'), `${head}\n`);
}

async function importFrom(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  folder: string,
  note: LentNote,
): Promise<GitResult<void>> {
  const objects = join(folder, 'objects');
  // Without its folder, the program left no commits. Its files are in the worktree.
  if (lstatOrNull(objects)?.isDirectory() !== true) return ok(undefined);
  await rm(join(objects, 'info'), { recursive: true, force: true });
  const moved = await importObjects(context, scratchFolder(context, worktree), objects);
  if (!moved.ok) return moved;
  const refs = parseRefs(folder);
  const own = note.branch === null ? undefined : refs[note.branch];
  if (note.branch !== null && own !== undefined && own !== note.tip) {
    const change = { ref: note.branch, next: own, old: note.tip };
    const set = await updateRefs(context, [change], 'drover: work of a confined agent');
    if (!set.ok) {
      const kept = await chainCommit(context, own, labelOfBranch(note.branch), 'agent');
      if (!kept.ok) return kept;
    }
  }
  const head = readHead(worktree.gitDir);
  if (head.branch !== null && head.branch !== note.branch) {
    const sha = refs[head.branch] ?? null;
    const detached = sha ?? (note.branch === null ? note.tip : `ref: ${note.branch}`);
    if (detached !== null) await writePlain(join(worktree.gitDir, 'HEAD'), `${detached}\n`);
  }
  return keepOthers(context, refs, note);
}

/** Keeps branches, tags and stashes that the program created beside its own branch. */
async function keepOthers(
  context: RepositoryContext,
  refs: Readonly<Record<string, string>>,
  note: LentNote,
): Promise<GitResult<void>> {
  const tip = note.branch === null ? null : await readRef(context, note.branch);
  const others = new Set(Object.values(refs).filter((sha) => sha !== tip && sha !== note.tip));
  for (const sha of [...others].slice(0, otherRefsMax)) {
    const label = note.branch === null ? 'detached' : labelOfBranch(note.branch);
    const kept = await keepCommit(context, sha, label, 'agent');
    if (!kept.ok && kept.error.retryable) return kept;
  }
  return ok(undefined);
}
