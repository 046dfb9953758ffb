// The upload as a stream: a gzipped tar of the plan and of the job's own files, with the limits
// checked again.

import { createHash } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { jobFolder } from '../../core/work/job-files.ts';
import { chunkBytes, gathered } from '../gathered.ts';
import { brokenCap, uploadCaps, type UploadCaps } from './exclusion.ts';
import type { PlanEntry, UploadPlan } from './upload-plan.ts';

/** A file that Drover adds below `.drover-job/`. */
export interface JobFile {
  readonly name: string;
  readonly content: string;
}

/** A sent entry: content hash (SHA-256, hex) and mode of a file, target of a link. */
export type SentEntry =
  | { readonly kind: 'file'; readonly sha256: string; readonly isExecutable: boolean }
  | { readonly kind: 'link'; readonly target: string };

export interface Upload {
  /** Destroyed with an error if a file does not match the plan. */
  readonly body: Readable;
  /** Resolves when everything is packed. */
  readonly sent: Promise<ReadonlyMap<string, SentEntry>>;
}

/** How much of an upload is packed before it is read, while its worker is being created. */
const aheadBytes = 1024 * 1024;

export function packUpload(
  plan: UploadPlan,
  files: readonly JobFile[],
  caps: UploadCaps = uploadCaps,
): Upload {
  const archive = pack();
  const body = new PassThrough({ readableHighWaterMark: aheadBytes });
  const sent = writeAll(archive, plan, files, caps);
  sent.catch((error: unknown) => {
    const reason = error instanceof Error ? error : new Error(String(error));
    archive.destroy(reason);
    body.destroy(reason);
  });
  // A failing archive also fails the body. `sent` reports the reason.
  const gzip = createGzip({ level: 1, chunkSize: chunkBytes });
  pipeline(archive, gathered, gzip, body).catch(() => undefined);
  return { body, sent };
}

async function writeAll(
  archive: Pack,
  plan: UploadPlan,
  files: readonly JobFile[],
  caps: UploadCaps,
): Promise<ReadonlyMap<string, SentEntry>> {
  const sent = new Map<string, SentEntry>();
  let total = 0;
  for (const entry of plan.entries) {
    if (entry.kind === 'link') {
      await writeLink(archive, entry);
      sent.set(entry.path, { kind: 'link', target: entry.target });
      continue;
    }
    const { sha256, bytes } = await writeFile(archive, plan.root, entry, total, caps);
    total += bytes;
    sent.set(entry.path, { kind: 'file', sha256, isExecutable: entry.isExecutable });
  }
  for (const { name, content } of files) {
    await new Promise<void>((resolve, reject) => {
      const header = { name: `${jobFolder}/${name}`, mode: 0o644, mtime: new Date(0) };
      archive.entry(header, content, (error) => (error ? reject(error) : resolve()));
    });
  }
  archive.finalize();
  return sent;
}

async function writeLink(
  archive: Pack,
  entry: Extract<PlanEntry, { kind: 'link' }>,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const header = {
      name: entry.path,
      type: 'symlink',
      linkname: entry.target,
      mtime: new Date(0),
    } as const;
    archive.entry(header, (error) => (error ? reject(error) : resolve()));
  });
}

async function writeFile(
  archive: Pack,
  root: string,
  entry: Extract<PlanEntry, { kind: 'file' }>,
  before: number,
  caps: UploadCaps,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  // Synchronous calls, which are short and several times faster for a tree of small files.
  const file = openSync(join(root, entry.path), flags);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw changed(entry.path);
    // It may have grown since it was planned.
    const broken = brokenCap({ path: entry.path, bytes: stats.size }, before + stats.size, caps);
    if (broken !== null) throw new Error(broken);
    const header = {
      name: entry.path,
      size: stats.size,
      mode: entry.isExecutable ? 0o755 : 0o644,
      mtime: new Date(0),
    };
    const sha256 =
      stats.size <= chunkBytes
        ? await writeSmall(archive, header, file)
        : await writeLarge(archive, header, file);
    return { sha256, bytes: stats.size };
  } finally {
    closeSync(file);
  }
}

interface FileHeader {
  readonly name: string;
  readonly size: number;
  readonly mode: number;
  readonly mtime: Date;
}

const changed = (path: string): Error => new Error(`The file ${path} changed while it was packed.`);

async function writeSmall(archive: Pack, header: FileHeader, file: number): Promise<string> {
  const content = Buffer.alloc(header.size);
  for (let at = 0; at < header.size;) {
    const bytes = readSync(file, content, at, header.size - at, null);
    if (bytes === 0) throw changed(header.name);
    at += bytes;
  }
  await new Promise<void>((resolve, reject) => {
    const done = (error?: Error | null): void => (error ? reject(error) : resolve());
    // If the archive is destroyed because the upload was refused, the entry is destroyed too.
    archive.entry(header, content, done).on('error', reject);
  });
  return createHash('sha256').update(content).digest('hex');
}

async function writeLarge(archive: Pack, header: FileHeader, file: number): Promise<string> {
  const hash = createHash('sha256');
  const range = { fd: file, autoClose: false, start: 0, end: header.size - 1 };
  const source = createReadStream('', range);
  source.on('data', (chunk) => hash.update(chunk));
  await new Promise<void>((resolve, reject) => {
    const target = archive.entry(header, (error) => (error ? reject(error) : resolve()));
    pipeline(source, target).catch(reject);
  });
  return hash.digest('hex');
}
