// Moves one of Drover's own refs without a process, by git's rules for a ref that is a file: a lock
// beside it, the old value compared under the lock, and a rename. Each snapshot moves one.
//
// The lock comes into being with its content, flushed, and is gone some microseconds later: a
// process that is killed leaves none behind for the next one to wait for.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
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
  // A name that git's prune takes for a file left behind.
  const content = join(context.commonDir, 'objects', `tmp_obj_${randomBytes(8).toString('hex')}`);
  try {
    await writeFlushed(content, `${next}\n`);
    return putInPlace(context, content, ref, old);
  } catch {
    return false;
  } finally {
    rmSync(content, { force: true });
  }
}

/** After a power cut, no name may lead to an empty file. */
async function writeFlushed(file: string, text: string): Promise<void> {
  const opened = openSync(file, 'wx');
  try {
    writeSync(opened, text);
    await flushed(opened);
  } finally {
    closeSync(opened);
  }
}

function putInPlace(
  context: RepositoryContext,
  content: string,
  ref: string,
  old: Sha | null,
): boolean {
  const file = join(context.commonDir, ref);
  const lock = `${file}.lock`;
  mkdirSync(dirname(file), { recursive: true });
  linkSync(content, lock);
  let isMoved = false;
  try {
    const isAsBefore = valueAt(context, ref) === old;
    if (!isAsBefore || (old === null && isInTheWay(context, ref))) return false;
    renameSync(lock, file);
    isMoved = true;
    return true;
  } finally {
    // A lock that is there after the move is another process's.
    if (!isMoved) rmSync(lock, { force: true });
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
