// Moves one of Drover's own refs without a process, by git's rules for a ref that is a file: a lock
// beside it, the old value compared under the lock, and a rename. Each snapshot moves one.

import { closeSync, fsync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { droverRefRoot } from '../../core/work/ref-names.ts';
import type { RepositoryContext } from '../context.ts';
import { factsOf, readText } from '../files/small-files.ts';
import type { Sha } from '../sha.ts';

const flushed = promisify(fsync);

export interface OneMove {
  readonly ref: string;
  readonly next: Sha | null;
  /** Null: there must be none. */
  readonly old: Sha | null;
}

/** False: nothing was done. Then git tries, and reports the reason. */
export async function moveHere(
  context: RepositoryContext,
  { ref, next, old }: OneMove,
): Promise<boolean> {
  if (next === null || !ref.startsWith(droverRefRoot)) return false;
  if (!context.refsAreFiles || context.ownRefsAreLogged || context.signatures() === null)
    return false;
  if (context.prunes.isSuspect() || !context.commits.isLoose(next)) return false;
  const file = join(context.commonDir, ref);
  const lock = `${file}.lock`;
  let opened: number;
  try {
    mkdirSync(dirname(file), { recursive: true });
    opened = openSync(lock, 'wx');
  } catch {
    return false;
  }
  try {
    try {
      if (valueAt(context, ref) !== old || (old === null && isInTheWay(context, ref)))
        throw new Error(`${ref} cannot be moved here`);
      writeSync(opened, `${next}\n`);
      // After a power cut, the name must not lead to an empty file.
      await flushed(opened);
    } finally {
      closeSync(opened);
    }
    renameSync(lock, file);
    return true;
  } catch {
    rmSync(lock, { force: true });
    return false;
  }
}

/** A text that is no id (of a symbolic ref, say) equals no old value. */
function valueAt({ commonDir, packedRefs }: RepositoryContext, ref: string): string | null {
  const file = join(commonDir, ref);
  const facts = factsOf(file);
  if (facts === null) return packedRefs.find(ref);
  return facts.isFile() ? (readText(file)?.trim() ?? '') : '';
}

/** A packed ref is no folder and no file, but one of the two names may be a folder of the other. */
function isInTheWay({ packedRefs }: RepositoryContext, ref: string): boolean {
  const parts = ref.split('/');
  const above = parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
  return packedRefs.hasBelow(ref) || above.some((name) => packedRefs.find(name) !== null);
}
