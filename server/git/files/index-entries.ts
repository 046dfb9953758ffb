// Reads the entries of an index that git has just written for Drover.

import type { Entry } from './loose-trees.ts';
import type { PathBytes } from './paths.ts';
import { readPlain } from './small-files.ts';

/** In bytes: the signature, the version and the number of entries. */
const headerBytes = 12;
/** Times, device, inode, mode, owner and size, before the id. */
const factBytes = 40;
const modeOffset = 24;
const flagBytes = 2;
const stageBits = 0x3000;
const indexBytesMax = 4 * 1024 * 1024;

/**
 * Of version 2, as git describes it in gitformat-index. Null: it is of another version, or not
 * whole, or holds conflicts.
 */
export function indexEntries(file: string, idBytes: number): ReadonlyMap<PathBytes, Entry> | null {
  const bytes = readPlain(file, indexBytesMax);
  if (bytes === null || bytes.length < headerBytes) return null;
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || bytes.readUInt32BE(4) !== 2) return null;
  const entries = new Map<PathBytes, Entry>();
  let at = headerBytes;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + factBytes + idBytes;
    const nameAt = flagsAt + flagBytes;
    const end = bytes.indexOf(0, nameAt);
    if (end < 0 || (bytes.readUInt16BE(flagsAt) & stageBits) !== 0) return null;
    entries.set(bytes.toString('latin1', nameAt, end), {
      mode: bytes.readUInt32BE(at + modeOffset).toString(8),
      id: bytes.toString('hex', at + factBytes, flagsAt),
    });
    // Filled up with one to eight zero bytes.
    at += (((end - at) >> 3) + 1) << 3;
  }
  return entries;
}
