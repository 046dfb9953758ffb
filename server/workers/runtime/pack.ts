// Packs the workspace for `GET /workspace` (worker contract §6, §9). Either the sent data is
// complete and correct, or the connection is closed: a failing walk or a shrinking file never
// produces a valid archive.

import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { chunkBytes, gathered } from '../gathered.ts';
import { paxHeader } from './pax-header.ts';

/** The fastest level, because compression limits a download on most networks. */
const gzipLevel = 1;
/** The range that tar supports. Times outside of it are clamped. */
const secondsMax = 2 ** 31 - 1;
const modeBits = 0o7777;
const slash = Buffer.from('/');
/** Short and plain, so that the archive adds no header of its own. */
const standIn = 'name';

export interface PackOptions {
  readonly folder: string;
  readonly output: Writable;
  /** Throws if the workspace has been replaced. */
  readonly check: () => void;
}

/** @throws if the archive is not complete; the output is then destroyed */
export async function packTree({ folder, output, check }: PackOptions): Promise<void> {
  const archive = pack();
  const packed = new TreePacker(folder, archive, check).run().catch((error: unknown) => {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  });
  const gzip = createGzip({ level: gzipLevel, chunkSize: chunkBytes });
  await Promise.all([pipeline(archive, gathered, gzip, output), packed]);
}

/**
 * Each entry waits until the previous one is sent. The calls in between are synchronous, which are
 * short and several times faster for a tree of small files.
 */
class TreePacker {
  readonly #root: string;
  readonly #archive: Pack;
  readonly #check: () => void;

  constructor(root: string, archive: Pack, check: () => void) {
    this.#root = root;
    this.#archive = archive;
    this.#check = check;
  }

  async run(): Promise<void> {
    if (!lstatSync(this.#root).isDirectory()) throw new Error('the workspace is not a folder');
    await this.#walk(null);
    this.#check();
    this.#archive.finalize();
  }

  /** Null = the workspace itself. Names are bytes, because not all of them are UTF-8. */
  async #walk(folder: Buffer | null): Promise<void> {
    const at = folder === null ? Buffer.from(this.#root) : this.#at(folder);
    const names = ifThere(() => readdirSync(at, { encoding: 'buffer' })) ?? [];
    for (const name of names.sort((a, b) => a.compare(b))) {
      this.#check();
      await this.#add(folder === null ? name : Buffer.concat([folder, slash, name]));
    }
  }

  #at(path: Buffer): Buffer {
    return Buffer.concat([Buffer.from(this.#root), slash, path]);
  }

  async #add(path: Buffer): Promise<void> {
    const at = this.#at(path);
    const stat = ifThere(() => lstatSync(at));
    if (stat === null) return;
    const seconds = Math.min(Math.max(stat.mtimeMs / 1000, 0), secondsMax);
    const times = { mode: stat.mode & modeBits, mtime: new Date(seconds * 1000) };
    if (stat.isDirectory()) {
      await this.#entry({ ...this.#named(path), ...times, type: 'directory' });
      await this.#walk(path);
    } else if (stat.isSymbolicLink()) {
      const target = ifThere(() => readlinkSync(at, { encoding: 'buffer' }));
      if (target !== null) {
        await this.#entry({ ...this.#named(path, target), ...times, type: 'symlink' });
      }
    } else if (stat.isFile()) await this.#addFile(path, times);
    // Sockets, pipes and devices have nothing to send.
  }

  /**
   * For the next entry. Its header can only contain text, so other bytes go into a separate
   * preceding header, which overrides it.
   */
  #named(path: Buffer, target?: Buffer): Pick<EntryHeader, 'name' | 'linkname'> {
    const name = path.toString();
    const linkname = target?.toString();
    const isText = isUtf8(path) && (target === undefined || isUtf8(target));
    if (isText) return linkname === undefined ? { name } : { name, linkname };
    this.#archive.push(paxHeader({ path, ...(target !== undefined && { linkpath: target }) }));
    return linkname === undefined ? { name: standIn } : { name: standIn, linkname: standIn };
  }

  async #addFile(path: Buffer, times: Pick<EntryHeader, 'mode' | 'mtime'>): Promise<void> {
    // The name may now be a link or a pipe.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = ifThere(() => openSync(this.#at(path), flags));
    if (file === null) return;
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) return;
      const header = { ...this.#named(path), ...times, type: 'file', size: stat.size } as const;
      await this.#sendFile(file, header);
    } finally {
      closeSync(file);
    }
  }

  async #sendFile(file: number, header: EntryHeader): Promise<void> {
    const { name, size = 0 } = header;
    if (size <= chunkBytes) {
      await this.#entry(header, readExactly(file, size, name));
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const entry = this.#archive.entry(header, settle(resolve, reject));
      entry.on('error', reject);
      void copyTo(entry, file, size, name).then(() => entry.end(null), reject);
    });
  }

  async #entry(header: EntryHeader, content?: Buffer): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const done = settle(resolve, reject);
      const entry =
        content === undefined
          ? this.#archive.entry(header, done)
          : this.#archive.entry(header, content, done);
      // If the archive is destroyed because its reader disconnected, the entry is destroyed too.
      entry.on('error', reject);
    });
  }
}

type EntryHeader = Parameters<Pack['entry']>[0];
type Entry = ReturnType<Pack['entry']>;

function settle(resolve: () => void, reject: (error: Error) => void) {
  return (error?: Error | null): void => {
    if (error === null || error === undefined) resolve();
    else reject(error);
  };
}

async function copyTo(entry: Entry, file: number, size: number, name: string): Promise<void> {
  for (let sent = 0; sent < size;) {
    const part = readExactly(file, Math.min(chunkBytes, size - sent), name);
    sent += part.length;
    if (!entry.write(part)) await drained(entry);
  }
}

/**
 * A file that grows is truncated to its earlier size. One that shrinks no longer matches its
 * header.
 */
function readExactly(file: number, size: number, name: string): Buffer {
  const content = Buffer.allocUnsafe(size);
  for (let at = 0; at < size;) {
    const bytes = readSync(file, content, at, size - at, null);
    if (bytes === 0) throw new Error(`${name} became shorter while it was read`);
    at += bytes;
  }
  return content;
}

async function drained(stream: Entry): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onDrain = (): void => {
      stream.off('close', onClose);
      resolve();
    };
    const onClose = (): void => {
      stream.off('drain', onDrain);
      reject(new Error('the archive was closed'));
    };
    stream.once('drain', onDrain).once('close', onClose);
  });
}

/** Null for a file that was removed since it was listed, and so is no longer part of the tree. */
function ifThere<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
