// Digests of Drover's notes in a slot when its folder was lent. A note that differs afterwards was
// written by the confined program and would mislead the slot's next user.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exists, readPlain } from '../../files/small-files.ts';
import { slotNotes } from '../refs/slot-notes.ts';

/** By name. A missing name means that no file existed. */
export type NoteDigests = Readonly<Record<string, string>>;

/** The notes, and the settings that git reads only for this worktree. */
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
