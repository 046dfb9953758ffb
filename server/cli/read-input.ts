// Reads files named on the command line up to a limit, because a device without end or a huge file
// must be refused.

import { open, type FileHandle } from 'node:fs/promises';
import { Refusal } from '../core/failure.ts';

export interface InputLimits {
  readonly bytesMax: number;
  /** Starts the refusal, for example "The file plan.jsonl cannot be imported". */
  readonly fault: string;
}

const chunkBytes = 1024 * 1024;

/** The whole file. A `Refusal` explains why it cannot be read. */
export async function readInputFile(path: string, limits: InputLimits): Promise<Buffer> {
  let file: FileHandle | null = null;
  try {
    file = await open(path, 'r');
    if ((await file.stat()).isDirectory()) throw inputRefusal(limits, 'it is a folder');
    return await readToLimit(file, limits);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw inputRefusal(limits, reasonOf(error));
  } finally {
    await file?.close();
  }
}

async function readToLimit(file: FileHandle, limits: InputLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    bytes += bytesRead;
    if (bytes > limits.bytesMax) throw tooLong(limits);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

export function tooLong(limits: InputLimits): Refusal {
  return inputRefusal(limits, `it has more than ${limits.bytesMax} bytes; shorten or split it`);
}

export function inputRefusal({ fault }: InputLimits, reason: string): Refusal {
  return new Refusal('file', `${fault}: ${reason}.`);
}

/** Decodes the bytes. Refuses invalid UTF-8 instead of changing it. */
export function textOfBytes(bytes: Buffer, limits: InputLimits): string {
  if (bytes.length > limits.bytesMax) throw tooLong(limits);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw inputRefusal(limits, 'it is not UTF-8; save it as UTF-8');
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'the file does not exist; name an existing one';
    case 'EACCES':
    case 'EPERM':
      return 'you do not have permission to read it; make it readable';
    default:
      return message;
  }
}
