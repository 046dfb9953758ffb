// The settings that git keeps for one worktree alone. What an agent has set there for its slot
// (another author, rules that hide files, a sparse checkout) must not reach the slot's next task.

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { readText } from '../files/small-files.ts';
import { slotNotes } from '../files/slot-notes.ts';
import type { LinkedWorktree } from '../files/worktree-link.ts';

const configName = 'config.worktree';

/** Call when Drover or git itself has just written the settings. */
export async function noteConfig(worktree: LinkedWorktree): Promise<void> {
  const note = join(worktree.gitDir, slotNotes.settings);
  await rm(note, { recursive: true, force: true });
  await writeFile(note, readText(join(worktree.gitDir, configName)) ?? '', { flag: 'wx' });
}

/** Until they are noted again, the settings count as they are: Drover is changing them. */
export async function forgetConfig(worktree: LinkedWorktree): Promise<void> {
  await rm(join(worktree.gitDir, slotNotes.settings), { recursive: true, force: true });
}

/** The settings as they were noted; a slot of an earlier version has no note yet. */
export async function restoreConfig(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<void> {
  const noted = readText(join(worktree.gitDir, slotNotes.settings));
  if (noted === null) return noteConfig(worktree);
  const file = join(worktree.gitDir, configName);
  if ((readText(file) ?? '') === noted) return;
  await rm(file, { recursive: true, force: true });
  if (noted !== '') await writeFile(file, noted, { flag: 'wx' });
  context.cones.forget(worktree.path);
}
