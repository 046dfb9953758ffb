// Unpacks the tar.gz of an upload into a new folder (worker contract §6, §9). Every entry is
// checked and all sizes are limited.

import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type ExtractEvents, type Header } from 'tar-stream';
import { uploadEntries } from '../wire.ts';
import { TreeWriter, type OpenFile } from './tree-writer.ts';
import { refusedEntry, UploadRefused } from './upload-refused.ts';

const gunzipChunkBytes = 64 * 1024;
/** Size of an entry's headers and padding, with long names. */
const entryOverheadBytes = 4 * 1024;

export interface UnpackLimits {
  /** Limit of the compressed body and of its files. */
  readonly uploadBytes: number;
  /** Time limit for the next bytes of the body. */
  readonly uploadIdleMs: number;
}

/**
 * The folder exists and is empty. If the upload is refused, the rest of the body is left unread, so
 * that a response can still be sent.
 * @throws UploadRefused
 */
export async function unpack(
  body: IncomingMessage,
  folder: string,
  limits: UnpackLimits,
): Promise<void> {
  const { uploadBytes: bytesMax } = limits;
  const entries = new EntryReader(new TreeWriter(folder), bytesMax);
  const count = { bytes: 0 };
  try {
    await pipeline(
      bodyOf(body, limits, count),
      createGunzip({ chunkSize: gunzipChunkBytes }),
      async (plain: AsyncIterable<Buffer>) => await entries.readAll(plain),
    );
  } catch (error) {
    throw asRefusal(error);
  } finally {
    entries.close();
  }
  if (count.bytes === 0) throw new UploadRefused(400, 'failed to read gzip: the body is empty');
}

async function* bodyOf(
  body: IncomingMessage,
  { uploadBytes: bytesMax, uploadIdleMs }: UnpackLimits,
  count: { bytes: number },
): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false });
  const seconds = Math.round(uploadIdleMs / 1000);
  const silent = new UploadRefused(408, `nothing of the body came for ${String(seconds)} s`);
  // An upload whose client disappeared would prevent all others.
  const idle = setTimeout(() => body.destroy(silent), uploadIdleMs);
  try {
    for await (const chunk of chunks) {
      count.bytes += chunk.length;
      if (count.bytes > bytesMax) throw tooLarge('the body', bytesMax);
      yield chunk;
      idle.refresh();
    }
  } finally {
    clearTimeout(idle);
  }
}

function tooLarge(what: string, bytesMax: number): UploadRefused {
  return new UploadRefused(413, `${what} has more than ${String(bytesMax)} bytes`);
}

function asRefusal(error: unknown): UploadRefused {
  if (error instanceof UploadRefused) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const what = code.startsWith('Z_') ? 'gzip' : 'tar';
  return new UploadRefused(400, `failed to read ${what}: ${message}`);
}

/** Feeds tar-stream and handles its entries as they arrive. */
class EntryReader {
  readonly #tree: TreeWriter;
  readonly #bytesMax: number;
  readonly #extract = extract();
  #failure: unknown = null;
  #isClosed = false;
  #entries = 0;
  #fileBytes = 0;
  #plainBytes = 0;

  constructor(tree: TreeWriter, bytesMax: number) {
    this.#tree = tree;
    this.#bytesMax = bytesMax;
    this.#extract.on('entry', (header, content, next) => this.#onEntry(header, content, next));
    this.#extract.on('error', (error) => this.#fail(error));
    this.#extract.on('close', () => {
      this.#isClosed = true;
    });
  }

  async readAll(plain: AsyncIterable<Buffer>): Promise<void> {
    const plainMax = this.#bytesMax + uploadEntries * entryOverheadBytes;
    for await (const chunk of plain) {
      this.#plainBytes += chunk.length;
      if (this.#plainBytes > plainMax) throw tooLarge('the unpacked body', plainMax);
      if (!this.#extract.write(chunk)) await this.#settled('drain');
      this.#throwFailure();
    }
    this.#extract.end(null);
    await this.#settled('finish');
    this.#throwFailure();
    this.#tree.finish();
  }

  close(): void {
    this.#extract.destroy();
  }

  async #settled(event: 'drain' | 'finish'): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        this.#extract.off(event, settle).off('close', settle);
        resolve();
      };
      this.#extract.on(event, settle).on('close', settle);
    });
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#extract.destroy();
  }

  #onEntry(...[header, content, next]: ExtractEvents['entry']): void {
    const guarded = (act: () => void): void => {
      try {
        act();
      } catch (error) {
        this.#fail(error);
      }
    };
    content.on('error', () => undefined);
    guarded(() => {
      const file = this.#take(header);
      content.on('data', (chunk) => guarded(() => file?.write(chunk as Buffer)));
      content.on('close', () => guarded(() => file?.close()));
      content.on('end', () => {
        guarded(() => file?.close());
        next();
      });
      content.resume();
    });
  }

  /** Null for an entry without content. */
  #take(header: Header): OpenFile | null {
    this.#entries += 1;
    if (this.#entries > uploadEntries) {
      throw new UploadRefused(413, `the archive has more than ${String(uploadEntries)} entries`);
    }
    const { name, mode, size, linkname } = header;
    switch (header.type) {
      case 'directory':
        this.#tree.directory(name);
        return null;
      case 'symlink':
        this.#tree.link(name, (linkname as string | null) ?? '');
        return null;
      case 'file':
      case 'contiguous-file':
        if (isSparse(header)) throw refusedEntry(name, 'unsupported entry type');
        this.#fileBytes += size;
        if (this.#fileBytes > this.#bytesMax) throw tooLarge('the archive', this.#bytesMax);
        return this.#tree.file(name, mode);
      default:
        throw refusedEntry(name, 'unsupported entry type');
    }
  }
}

/** Such a file arrives as an ordinary one, with its holes described elsewhere. */
function isSparse({ pax }: Header): boolean {
  const keys = typeof pax === 'object' && pax !== null ? Object.keys(pax) : [];
  return keys.some((key) => key.startsWith('GNU.sparse.'));
}
