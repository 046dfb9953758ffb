// The settings that git keeps for a single worktree. An agent's settings for its slot (another
// author, rules that hide files, a sparse checkout) must not affect the slot's next task.

import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { readText, removeEntry, writeNew } from '../../files/small-files.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';

const configName = 'config.worktree';

/** Call after Drover or git has written the settings. */
export async function noteConfig(worktree: LinkedWorktree): Promise<void> {
  const note = join(worktree.gitDir, slotNotes.settings);
  await writeNew(note, readText(join(worktree.gitDir, configName)) ?? '');
}

/** Accepts the current settings until they are noted again, because Drover is changing them. */
export async function forgetConfig(worktree: LinkedWorktree): Promise<void> {
  await removeEntry(join(worktree.gitDir, slotNotes.settings));
}

/** Restores the noted settings. A slot of an earlier version has no note. */
export async function restoreConfig(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<void> {
  const noted = readText(join(worktree.gitDir, slotNotes.settings));
  if (noted === null) return noteConfig(worktree);
  const file = join(worktree.gitDir, configName);
  if ((readText(file) ?? '') === noted) return;
  if (noted === '') await removeEntry(file);
  else await writeNew(file, noted);
  context.cones.delete(worktree.path);
}
