// Which of Drover's notes a slot had when its folder was lent: a note that is different afterwards
// was written by the confined program, and would mislead the slot's next user.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exists, readPlain } from '../../files/small-files.ts';
import { slotNotes } from '../refs/slot-notes.ts';

/** Keyed by name; a name that is missing had no file. */
export type NoteDigests = Readonly<Record<string, string>>;

/** The notes, and the settings that git reads for this worktree alone. */
export const fixedNotes: readonly string[] = [...Object.values(slotNotes), 'config.worktree'];

export function noteDigests(gitDir: string): NoteDigests {
  return Object.fromEntries(
    fixedNotes.flatMap((name) => {
      const digest = digestOf(join(gitDir, name));
      return digest === null ? [] : [[name, digest]];
    }),
  );
}

/** Notes that Drover itself has removed since may be missing. */
export async function dropForgedNotes(gitDir: string, known: NoteDigests): Promise<void> {
  for (const name of fixedNotes) {
    const file = join(gitDir, name);
    if (!exists(file) || digestOf(file) === known[name]) continue;
    await rm(file, { recursive: true, force: true });
  }
}

function digestOf(file: string): string | null {
  const bytes = readPlain(file);
  return bytes === null ? null : createHash('sha256').update(bytes).digest('hex');
}
