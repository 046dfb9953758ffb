// Imports what a confined program made in its own git folder: its objects by a strict import, never
// by copying files; its branch by compare-and-swap; its other refs under rescue refs. Its
// configuration and hooks are never read.

import { lstat, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../process/failures.ts';
import { refsIn } from '../nested/nested-copy.ts';
import type { GitResult } from '../port.ts';
import { readRef, updateRefs } from '../refs/refs.ts';
import { chainCommit, keepCommit, labelOfBranch } from '../work/work-chain.ts';
import { exists, factsOf, readText } from '../files/small-files.ts';
import { lentName } from '../files/told-place.ts';
import { readHead } from '../refs/worktree-heads.ts';
import { findWorktree, type LinkedWorktree } from '../files/worktree-link.ts';
import { importObjects } from './import-objects.ts';

export const lentNoteName = 'drover-lent.json';

/** What was lent: the branch of HEAD (null: detached), and its tip then. */
export interface LentNote {
  readonly branch: string | null;
  readonly tip: string | null;
}

const otherRefsMax = 50;
const scratchName = 'drover-import';

/** Nothing was lent: done at once. The program must have ended. */
export async function takeBack(context: RepositoryContext, path: string): Promise<GitResult<void>> {
  const found = findWorktree(context, path);
  if (!('worktree' in found)) return ok(undefined);
  const { worktree } = found;
  const folder = join(worktree.gitDir, lentName);
  if (factsOf(folder) === null) return ok(undefined);
  const note = readNote(worktree);
  const taken = await importFrom(context, worktree, folder, note);
  const scratch = join(worktree.gitDir, scratchName);
  await rm(scratch, { recursive: true, force: true });
  if (taken.ok) {
    await rm(folder, { recursive: true, force: true });
  } else {
    if (taken.error.retryable) return taken;
    // What git refuses to take (broken or forged objects) stays for people; the files in the
    // worktree are the work.
    await rename(folder, `${folder}.refused-${Date.now()}`);
    await standOn(worktree, note);
    const read = await context.git(['read-tree', 'HEAD'], { at: worktree.path });
    if (read.code !== 0) return err(failureOf(read, `make the index of ${worktree.path} again`));
  }
  await rm(join(worktree.gitDir, lentNoteName), { force: true });
  return ok(undefined);
}

/** Worktrees with commits that are not imported yet, by their paths. */
export function isLent(worktree: LinkedWorktree): boolean {
  return exists(join(worktree.gitDir, lentName));
}

function readNote(worktree: LinkedWorktree): LentNote {
  try {
    const parsed = JSON.parse(readText(join(worktree.gitDir, lentNoteName)) ?? '') as LentNote;
    return { branch: parsed.branch ?? null, tip: parsed.tip ?? null };
  } catch {
    return { branch: null, tip: null };
  }
}

async function standOn(worktree: LinkedWorktree, note: LentNote): Promise<void> {
  const head = note.branch === null ? note.tip : `ref: ${note.branch}`;
  if (head !== null) await writeFile(join(worktree.gitDir, 'HEAD'), `${head}\n`);
}

async function importFrom(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  folder: string,
  note: LentNote,
): Promise<GitResult<void>> {
  const objects = join(folder, 'objects');
  await keepPlainFiles(objects);
  await rm(join(objects, 'info'), { recursive: true, force: true });
  const moved = await importObjects(context, join(worktree.gitDir, scratchName), objects);
  if (!moved.ok) return moved;
  const refs = refsIn(folder);
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
    if (detached !== null) await writeFile(join(worktree.gitDir, 'HEAD'), `${detached}\n`);
  }
  return keepOthers(context, refs, note);
}

/** Branches, tags and stashes that the program made beside its own branch. */
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

/** Git would wait forever for a pipe, and read the target of any link. */
async function keepPlainFiles(folder: string, depth = 0): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const facts = await lstat(path);
    if (facts.isDirectory() && depth < 2) await keepPlainFiles(path, depth + 1);
    else if (!facts.isFile()) await rm(path, { recursive: true, force: true });
  }
}
