// The upload as a stream: a gzipped tar of the plan and of the job's own files, with the caps
// checked once more.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { jobFolder } from '../../core/work/job-files.ts';
import { brokenCap, uploadCaps, type UploadCaps } from './exclusion.ts';
import type { PlanEntry, UploadPlan } from './upload-plan.ts';

/** A file that Drover adds below `.drover-job/`. */
export interface JobFile {
  readonly name: string;
  readonly content: string;
}

/** What was sent: content (SHA-256, hex) and mode of each file, target of each link. */
export type SentEntry =
  | { readonly kind: 'file'; readonly sha256: string; readonly isExecutable: boolean }
  | { readonly kind: 'link'; readonly target: string };

export interface Upload {
  /** Destroyed with an error where a file is not what the plan says. */
  readonly body: Readable;
  /** Resolves when everything is packed. */
  readonly sent: Promise<ReadonlyMap<string, SentEntry>>;
}

export function packUpload(
  plan: UploadPlan,
  files: readonly JobFile[],
  caps: UploadCaps = uploadCaps,
): Upload {
  const archive = pack();
  const body = new PassThrough();
  const sent = writeAll(archive, plan, files, caps);
  sent.catch((error: unknown) => {
    const reason = error instanceof Error ? error : new Error(String(error));
    archive.destroy(reason);
    body.destroy(reason);
  });
  // An archive that fails fails the body; its reason is told by `sent`.
  pipeline(archive, createGzip({ level: 1 }), body).catch(() => undefined);
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
  const file = await open(
    join(root, entry.path),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`The file ${entry.path} changed while it was packed.`);
    // It may have grown since it was planned.
    const broken = brokenCap({ path: entry.path, bytes: stats.size }, before + stats.size, caps);
    if (broken !== null) throw new Error(broken);
    const hash = createHash('sha256');
    const header = {
      name: entry.path,
      size: stats.size,
      mode: entry.isExecutable ? 0o755 : 0o644,
      mtime: new Date(0),
    };
    if (stats.size === 0) {
      await new Promise<void>((resolve, reject) => {
        archive.entry(header, '', (error) => (error ? reject(error) : resolve()));
      });
      return { sha256: hash.digest('hex'), bytes: 0 };
    }
    const source = file.createReadStream({ start: 0, end: stats.size - 1, autoClose: false });
    source.on('data', (chunk) => hash.update(chunk));
    await new Promise<void>((resolve, reject) => {
      const target = archive.entry(header, (error) => (error ? reject(error) : resolve()));
      pipeline(source, target).catch(reject);
    });
    return { sha256: hash.digest('hex'), bytes: stats.size };
  } finally {
    await file.close();
  }
}
