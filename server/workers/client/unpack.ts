// Unpacks a result into a scratch folder. The archive is untrusted: names are validated, links are
// recorded but not created, every size is limited, and nothing is written through anything that the
// archive created.

import { createHash } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { err, ok, type Result } from '../../core/failure.ts';
import { jobFolder } from '../../core/work/job-files.ts';
import { isText, safePath } from './exclusion.ts';
import { manifestProblems, readManifest } from './manifest.ts';
import type { SentEntry } from './pack.ts';

export interface ResultCaps {
  readonly fileBytes: number;
  readonly totalBytes: number;
  readonly entries: number;
  /** Unpacked to packed bytes. Checked above `ratioFromBytes`. */
  readonly ratio: number;
  readonly ratioFromBytes: number;
}

const mebibyte = 1024 * 1024;
export const resultCaps: ResultCaps = {
  fileBytes: 20 * mebibyte,
  totalBytes: 1024 * mebibyte,
  entries: 200_000,
  ratio: 200,
  ratioFromBytes: 32 * mebibyte,
};

export interface ResultFile {
  /**
   * The path of its content below the scratch folder. Null if it is unchanged since it was sent.
   */
  readonly stored: string | null;
  readonly sha256: string;
  readonly isExecutable: boolean;
}

export interface JobResult {
  readonly files: ReadonlyMap<string, ResultFile>;
  /** Path to target, as in the archive. */
  readonly links: ReadonlyMap<string, string>;
  /** Content of Drover's own files, by name below `.drover-job/`. */
  readonly jobFiles: ReadonlyMap<string, string>;
  /** The manifest was received and matches, so missing files were removed by the job. */
  readonly isComplete: boolean;
  readonly notices: readonly string[];
}

/** Files up to this size are kept in memory until their hash is known. */
const smallBytes = 1024 * 1024;
/** No file system accepts a longer path. */
const nameCharsMax = 4_096;
/**
 * Limit for all names, their folders and link targets together, because they are kept in memory.
 */
const allNameCharsMax = 64 * mebibyte;

const hostile = (what: string): Error => new Error(`The worker sent an unsafe archive: ${what}.`);

/**
 * `scratch` must exist and be empty. The error is a sentence. Files are written only below
 * `scratch`. For small unchanged files, only the hash is kept.
 */
export async function unpackResult(
  archive: Readable,
  scratch: string,
  caps: ResultCaps = resultCaps,
  sent: ReadonlyMap<string, SentEntry> = new Map(),
): Promise<Result<JobResult, string>> {
  const reader = new ResultReader(scratch, caps, sent);
  try {
    await reader.read(archive);
  } catch (error) {
    archive.destroy();
    return err(error instanceof Error ? error.message : String(error));
  }
  return ok(reader.result());
}

class ResultReader {
  readonly #scratch: string;
  readonly #caps: ResultCaps;
  readonly #sent: ReadonlyMap<string, SentEntry>;
  readonly #files = new Map<string, ResultFile>();
  readonly #links = new Map<string, string>();
  readonly #folders = new Set<string>();
  readonly #jobFiles = new Map<string, string>();
  /** Paths that are not UTF-8, with a replacement character for each invalid byte. */
  readonly #unnamed: string[] = [];
  #packed = 0;
  #nameChars = 0;
  #ownBytes = 0;
  #unpacked = 0;
  #entries = 0;

  constructor(scratch: string, caps: ResultCaps, sent: ReadonlyMap<string, SentEntry>) {
    this.#scratch = scratch;
    this.#caps = caps;
    this.#sent = sent;
    mkdirSync(join(scratch, 'files'));
  }

  async read(archive: Readable): Promise<void> {
    const counting = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#packed += chunk.length;
        done(this.#isEndless() ? hostile('it is larger than is allowed') : null, chunk);
      },
    });
    const bounding = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#unpacked += chunk.length;
        done(this.#isBomb() ? hostile('it unpacks to more than is allowed') : null, chunk);
      },
    });
    const entries = extract();
    const failed = pipeline(archive, counting, createGunzip(), bounding, entries).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    try {
      for await (const entry of entries) await this.#take(entry.header, entry as never);
    } catch (error) {
      archive.destroy();
      await failed;
      throw error;
    }
    const error = await failed;
    if (error !== null) throw error;
  }

  /** Headers and padding are added to the content: at most three blocks per entry. */
  get #bytesMax(): number {
    return this.#caps.totalBytes + this.#caps.entries * 1_536;
  }

  /** An archive may grow forever without unpacking to anything. */
  #isEndless(): boolean {
    return this.#packed > this.#bytesMax;
  }

  #isBomb(): boolean {
    const { ratio, ratioFromBytes } = this.#caps;
    if (this.#unpacked > this.#bytesMax) return true;
    return this.#unpacked > ratioFromBytes && this.#unpacked > this.#packed * ratio;
  }

  async #take(header: Header, content: Readable): Promise<void> {
    this.#entries += 1;
    if (this.#entries > this.#caps.entries) throw hostile('it has too many entries');
    this.#countName(header.name);
    this.#countName(header.linkname ?? '');
    const path = safePath(header.name);
    if (path === null) throw hostile(`the name ${JSON.stringify(header.name.slice(0, 200))}`);
    const type = header.type ?? 'file';
    if (path === '') return drain(content);
    if (path.split('/').some((name) => name.toLowerCase() === '.git')) return drain(content);
    if (!isText(path)) {
      this.#unnamed.push(path);
      return drain(content);
    }
    if (type === 'directory') {
      this.#addFolders(path, true);
      return drain(content);
    }
    if (type !== 'file' && type !== 'contiguous-file' && type !== 'symlink') {
      throw hostile(`${path} is a ${type}`);
    }
    this.#addFolders(path, false);
    if (this.#files.has(path) || this.#links.has(path) || this.#folders.has(path)) {
      throw hostile(`${path} occurs twice`);
    }
    if (type === 'symlink') {
      this.#links.set(path, header.linkname ?? '');
      return drain(content);
    }
    if ((header.size ?? 0) > this.#caps.fileBytes) {
      throw new Error(
        `The result's file ${path} exceeds max size (${header.size} > ${this.#caps.fileBytes} bytes).`,
      );
    }
    await this.#storeFile(path, header, content);
  }

  #countName(name: string): void {
    if (name.length > nameCharsMax) throw hostile(`a name of ${name.length} characters`);
    this.#nameChars += name.length;
    if (this.#nameChars > allNameCharsMax) throw hostile('its names are too long');
  }

  /** A path that is a file or a link cannot also be a folder, so nothing is ever below a link. */
  #addFolders(path: string, isFolder: boolean): void {
    const names = path.split('/');
    for (let count = 1; count < names.length + (isFolder ? 1 : 0); count += 1) {
      const folder = names.slice(0, count).join('/');
      if (this.#files.has(folder) || this.#links.has(folder)) {
        throw hostile(`${path} is below something that is not a folder`);
      }
      if (this.#folders.has(folder)) continue;
      this.#countName(folder);
      this.#folders.add(folder);
    }
  }

  async #storeFile(path: string, header: Header, content: Readable): Promise<void> {
    const isOwn = path.startsWith(`${jobFolder}/`);
    if (isOwn) this.#ownBytes += header.size ?? 0;
    // These are kept in memory. Drover's own files are only a list of hashes and a few lines.
    if (this.#ownBytes > 2 * this.#caps.fileBytes) throw hostile(`its ${jobFolder} is too large`);
    if (isOwn) {
      const name = path.slice(jobFolder.length + 1);
      this.#jobFiles.set(name, (await contentOf(content)).toString('utf8'));
      return;
    }
    const isExecutable = ((header.mode ?? 0) & 0o100) !== 0;
    const isSmall = (header.size ?? 0) <= smallBytes;
    const { sha256, stored } = isSmall
      ? this.#storeSmall(path, isExecutable, await contentOf(content))
      : await this.#storeLarge(content);
    this.#files.set(path, { stored, sha256, isExecutable });
  }

  #storeSmall(path: string, isExecutable: boolean, content: Buffer): Stored {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const sent = this.#sent.get(path);
    const isSame =
      sent?.kind === 'file' && sent.sha256 === sha256 && sent.isExecutable === isExecutable;
    if (isSame) return { sha256, stored: null };
    const { file, stored } = this.#newFile();
    try {
      writeAll(file, content);
    } finally {
      closeSync(file);
    }
    return { sha256, stored };
  }

  async #storeLarge(content: Readable): Promise<Stored> {
    const hash = createHash('sha256');
    const { file, stored } = this.#newFile();
    try {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        hash.update(chunk);
        writeAll(file, chunk);
      }
    } finally {
      closeSync(file);
    }
    return { sha256: hash.digest('hex'), stored };
  }

  /** Synchronous calls, which are short and several times faster for a tree of small files. */
  #newFile(): { readonly file: number; readonly stored: string } {
    // Numbered, so that no name from the archive is used on our disk.
    const stored = join(this.#scratch, 'files', String(this.#files.size));
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    return { file: openSync(stored, flags, 0o600), stored };
  }

  result(): JobResult {
    const text = this.#jobFiles.get('manifest.sha256');
    const manifest = text === undefined ? null : readManifest(text);
    const problems =
      manifest === null
        ? ['the list of its files is missing or damaged']
        : manifestProblems(manifest, this.#files);
    const shown = problems.slice(0, 5).join(', ');
    const more = problems.length > 5 ? ` and ${problems.length - 5} more` : '';
    return {
      files: this.#files,
      links: this.#links,
      jobFiles: this.#jobFiles,
      isComplete: problems.length === 0,
      notices: [
        ...(this.#unnamed.length === 0 ? [] : [unnamedNotice(this.#unnamed)]),
        ...(problems.length === 0 ? [] : [`The result is incomplete: ${shown}${more}.`]),
      ],
    };
  }
}

interface Stored {
  readonly sha256: string;
  readonly stored: string | null;
}

async function contentOf(content: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function writeAll(file: number, content: Buffer): void {
  for (let at = 0; at < content.length;) at += writeSync(file, content, at);
}

function unnamedNotice(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).join(', ');
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return `Not taken, as the names are not UTF-8: ${shown}${more}.`;
}

async function drain(content: Readable): Promise<void> {
  content.resume();
  await new Promise<void>((resolve, reject) => {
    content.once('end', resolve);
    content.once('error', reject);
  });
}
