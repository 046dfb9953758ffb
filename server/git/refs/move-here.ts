// Moves one ref without a process, by git's rules for a ref that is a file: a lock beside it, the
// old value compared under the lock, a line in its log, and a rename. Each snapshot moves one.
//
// The lock comes into being with its content, flushed, and is gone some microseconds later: a
// process that is killed leaves none behind for the next one to wait for, and what is asked under
// the lock is still true when the ref moves.

import {
  appendFileSync,
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
import { exists, factsOf, readText } from '../files/small-files.ts';
import { gitTime } from '../files/write-commit.ts';
import { unfinishedFile } from '../files/write-object.ts';
import type { Signatures } from '../process/identity.ts';
import type { Sha } from '../sha.ts';

const flushed = promisify(fsync);

export interface RefChange {
  readonly ref: string;
  /** Null deletes. */
  readonly next: Sha | null;
  /** The value that must be found; null with a `next`: the ref must not exist. */
  readonly old: Sha | null;
}

export interface MoveHereOptions {
  /** For the log of a branch, on one line. */
  readonly reason: string;
  /**
   * Asked under the lock. A branch moves here only with it, and where no checkout holds it: the log
   * of a HEAD is not written.
   */
  readonly mayMove?: (() => boolean) | undefined;
}

/** `refused`: it may not move now. `left`: nothing was done; git tries, and reports the reason. */
export type MovedHere = 'moved' | 'refused' | 'left';

export async function moveHere(
  context: RepositoryContext,
  change: RefChange,
  options: MoveHereOptions,
): Promise<MovedHere> {
  const { ref, next } = change;
  const signatures = context.signatures();
  if (next === null || !context.refsAreFiles || signatures === null) return 'left';
  if (!context.commits.isLoose(next)) return 'left';
  const log = ref.startsWith(droverRefRoot) ? null : join(context.commonDir, 'logs', ref);
  if (log === null ? context.ownRefsAreLogged : options.mayMove === undefined || !exists(log))
    return 'left';
  const content = unfinishedFile(join(context.commonDir, 'objects'));
  try {
    await writeFlushed(content, `${next}\n`);
    const line = log === null ? null : { log, text: logLine(change, signatures, options.reason) };
    return putInPlace(context, { content, change, line, mayMove: options.mayMove });
  } catch {
    return 'left';
  } finally {
    rmSync(content, { force: true });
  }
}

/** As git writes it. */
function logLine({ next, old }: RefChange, { committer }: Signatures, reason: string): string {
  const before = old ?? '0'.repeat(next?.length ?? 0);
  return `${before} ${next} ${committer} ${gitTime(new Date())}\t${reason}\n`;
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

interface Placement {
  /** File with the content of the ref. */
  readonly content: string;
  readonly change: RefChange;
  readonly line: { readonly log: string; readonly text: string } | null;
  readonly mayMove: (() => boolean) | undefined;
}

function putInPlace(
  context: RepositoryContext,
  { content, change: { ref, old }, line, mayMove }: Placement,
): MovedHere {
  const file = join(context.commonDir, ref);
  const lock = `${file}.lock`;
  mkdirSync(dirname(file), { recursive: true });
  linkSync(content, lock);
  let isMoved = false;
  try {
    const isAsBefore = valueAt(context, ref) === old;
    if (!isAsBefore || (old === null && isInTheWay(context, ref))) return 'left';
    if (mayMove?.() === false) return 'refused';
    if (line !== null) appendFileSync(line.log, line.text);
    renameSync(lock, file);
    isMoved = true;
    return 'moved';
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
