// Moves refs through one persistent git process. Each transaction is all or nothing, under git's
// own locks.

import type { Conversation } from '../git-command.ts';
import type { Sha } from '../sha.ts';

export interface RefChange {
  readonly ref: string;
  /** Null = delete. */
  readonly next: Sha | null;
  /** The expected value; null with a `next` = the ref must not exist. */
  readonly old: Sha | null;
}

/** `git`: an `update-ref --stdin -z` process. Returns false if it refused, for whatever reason. */
export async function moveRefs(git: Conversation, changes: readonly RefChange[]): Promise<boolean> {
  const input = `start\0${transactionText(changes)}commit\0`;
  const done = await git.ask({
    input,
    read: (output) => (output.includes('commit: ok\n') ? true : null),
  });
  return done.ok;
}

/** The format of `update-ref --stdin -z`. */
export function transactionText(changes: readonly RefChange[]): string {
  return changes
    .map(({ ref, next, old }) => {
      if (next === null) return `delete ${ref}\0${old ?? ''}\0`;
      return old === null ? `create ${ref}\0${next}\0` : `update ${ref}\0${next}\0${old}\0`;
    })
    .join('');
}
