// Reads an untrusted file: only a regular file, up to a limit. A device, a pipe or a huge file can
// neither block the reader nor fill its memory.

import { constants, type FileHandle, open } from 'node:fs/promises';

export type PlainFile =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly reason: PlainFileRefusal };

export type PlainFileRefusal =
  | { readonly kind: 'folder' }
  | { readonly kind: 'link' }
  /** A pipe, a socket or a device. */
  | { readonly kind: 'special' }
  | { readonly kind: 'too_long'; readonly bytes: number }
  /** The system's error code, such as `EACCES`. */
  | { readonly kind: 'unreadable'; readonly code: string };

export interface PlainFileLimits {
  readonly bytesMax: number;
  /**
   * Whether the last segment of the path may be a link, whose target must meet the same conditions.
   */
  readonly links: 'follow' | 'refuse';
}

const chunkBytes = 64 * 1024;

export async function readPlainFile(path: string, limits: PlainFileLimits): Promise<PlainFile> {
  let file: FileHandle;
  try {
    file = await open(path, flagsFor(limits.links));
  } catch (error) {
    return notOpened(error as NodeJS.ErrnoException);
  }
  try {
    return await readOpened(file, limits.bytesMax);
  } catch (error) {
    return refused({ kind: 'unreadable', code: codeOf(error) });
  } finally {
    await file.close();
  }
}

/**
 * Opening a pipe would wait for a writer. Windows supports neither flag, but has no pipes at file
 * paths.
 */
function flagsFor(links: PlainFileLimits['links']): number {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants as Partial<typeof constants>;
  return (O_RDONLY ?? 0) | (O_NONBLOCK ?? 0) | (links === 'refuse' ? (O_NOFOLLOW ?? 0) : 0);
}

async function readOpened(file: FileHandle, bytesMax: number): Promise<PlainFile> {
  const facts = await file.stat();
  if (facts.isDirectory()) return refused({ kind: 'folder' });
  if (!facts.isFile()) return refused({ kind: 'special' });
  if (facts.size > bytesMax) return refused({ kind: 'too_long', bytes: facts.size });
  const chunks: Buffer[] = [];
  // It may grow while it is read.
  for (let length = 0; length <= bytesMax;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, null);
    if (bytesRead === 0) return { kind: 'read', bytes: Buffer.concat(chunks) };
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return refused({ kind: 'too_long', bytes: (await file.stat()).size });
}

function notOpened(error: NodeJS.ErrnoException): PlainFile {
  switch (error.code) {
    // ENOTDIR: a segment of the path is a file, so this file does not exist either.
    case 'ENOENT':
    case 'ENOTDIR':
      return { kind: 'missing' };
    case 'ELOOP':
      return refused({ kind: 'link' });
    case 'EISDIR':
      return refused({ kind: 'folder' });
    // A socket, or a device without a driver.
    case 'ENXIO':
    case 'ENODEV':
      return refused({ kind: 'special' });
    default:
      return refused({ kind: 'unreadable', code: codeOf(error) });
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

function refused(reason: PlainFileRefusal): PlainFile {
  return { kind: 'refused', reason };
}
