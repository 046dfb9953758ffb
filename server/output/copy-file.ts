// Updates one file of a log from its stored parts.

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PartPlace } from '../store/feed/log-parts.ts';
import { type ReadPart, readParts } from '../store/feed/read-log-parts.ts';
import type { Reads } from '../store/port.ts';

const bytesAtOnce = 2 * 1024 * 1024;

/**
 * The last part of a copy. It matches the stored one as long as that has the same offset and time.
 */
export interface CopiedEnd extends PartPlace {
  readonly atMs: number;
}

export interface FileToCopy {
  readonly file: string;
  readonly path: string;
  readonly known: CopiedEnd | null;
  /** How much is currently stored. */
  readonly stored: PartPlace;
}

export interface Copied {
  readonly end: CopiedEnd;
  readonly hasGrown: boolean;
}

/** Returns null if none of it is stored any more. */
export async function copyFile(db: Reads, request: FileToCopy): Promise<Copied | null> {
  await mkdir(dirname(request.path), { recursive: true });
  const handle = await open(request.path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const copied = await appendMissing(db, request, handle, request.known);
    if (copied !== 'differs') return copied;
  } finally {
    await handle.close();
  }
  return copyAgain(db, request);
}

/**
 * Written beside the file and then renamed, so that a reader sees either the old or the whole new
 * file.
 */
async function copyAgain(db: Reads, request: FileToCopy): Promise<Copied | null> {
  const fresh = `${request.path}.new-${randomBytes(6).toString('hex')}`;
  const handle = await open(fresh, 'wx+', 0o600);
  try {
    const copied = await appendMissing(db, request, handle, null);
    if (copied === null || copied === 'differs') return null; // just deleted or replaced
    await rename(fresh, request.path);
    return copied;
  } finally {
    await handle.close();
    await rm(fresh, { force: true });
  }
}

async function appendMissing(
  db: Reads,
  { file, stored }: FileToCopy,
  handle: FileHandle,
  known: CopiedEnd | null,
): Promise<Copied | 'differs' | null> {
  let { size } = await handle.stat();
  let last = known !== null && known.start + known.size === size ? known : null;
  let hasGrown = false;
  for (;;) {
    const textsFrom = last === null ? 0 : size;
    const parts = await readParts(db, file, { end: size, textsFrom, bytesMax: bytesAtOnce });
    const [first] = parts;
    if (first === undefined) return null;
    if (last !== null && !isSame(last, first)) {
      last = null; // It was stored again since, so read it with its text to compare.
      continue;
    }
    if (size > 0 && last === null && !(await isAt(handle, first, size))) return 'differs';
    const end = await writeParts(handle, parts, size);
    if (end === null) return 'differs';
    const endsAt = end.start + end.size;
    // The writer lost the end of its own file.
    if (endsAt < size) await handle.truncate(endsAt);
    hasGrown ||= endsAt !== size;
    if (endsAt === size || endsAt >= stored.start + stored.size) return { end, hasGrown };
    size = endsAt;
    last = end;
  }
}

export function isSame(last: CopiedEnd, part: PartPlace & { readonly at_ms: number }): boolean {
  return last.start === part.start && last.size === part.size && last.atMs === part.at_ms;
}

/** Whether the file contains as much of the part as its size allows. */
async function isAt(handle: FileHandle, part: ReadPart, size: number): Promise<boolean> {
  if (part.text === null) return false;
  const stored = Buffer.from(part.text);
  const length = Math.min(stored.length, size - part.start);
  if (length <= 0) return false;
  const here = Buffer.alloc(length);
  const { bytesRead } = await handle.read(here, 0, length, part.start);
  return bytesRead === length && here.equals(stored.subarray(0, length));
}

/**
 * Writes the parts after `size`. Resolves with the last one, or null if they are not consecutive.
 */
async function writeParts(
  handle: FileHandle,
  parts: readonly ReadPart[],
  size: number,
): Promise<CopiedEnd | null> {
  let last: CopiedEnd | null = null;
  for (const part of parts) {
    if (last !== null && part.start !== last.start + last.size) break;
    const from = Math.max(size, part.start);
    const end = part.start + part.size;
    if (end > from) {
      if (part.text === null) return null;
      const missing = Buffer.from(part.text).subarray(from - part.start);
      await writeAll(handle, missing, from);
    }
    last = { start: part.start, size: part.size, atMs: part.at_ms };
  }
  return last;
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const left = bytes.length - done;
    done += (await handle.write(bytes, done, left, position + done)).bytesWritten;
  }
}
