// Index entries with flags that make git ignore them: status does not show changes in their files.

import type { PathBytes } from './paths.ts';
import { readPlain } from './small-files.ts';

/** Null: the file cannot be parsed here (compressed paths, a shared part); ask git instead. */
export function unwatchedEntries(file: string, shaBytes: 20 | 32): PathBytes[] | null {
  const bytes = readPlain(file, indexBytesMax);
  if (bytes === null) return [];
  if (bytes.length < headerBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3) return null;
  const found: PathBytes[] = [];
  let at = headerBytes;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + statBytes + shaBytes;
    if (flagsAt + 2 > bytes.length) return null;
    const flags = bytes.readUInt16BE(flagsAt);
    const isExtended = (flags & extendedFlag) !== 0;
    const pathAt = flagsAt + (isExtended ? 4 : 2);
    const end = bytes.indexOf(0, pathAt);
    if (end === -1) return null;
    const skips = isExtended && (bytes.readUInt16BE(flagsAt + 2) & skipWorktreeFlag) !== 0;
    if ((flags & assumeValidFlag) !== 0 || skips) found.push(bytes.toString('latin1', pathAt, end));
    // Each entry is filled up with one to eight zero bytes.
    at += Math.floor((end - at + 8) / 8) * 8;
  }
  return found;
}

/** What a program has put in its place may have no end. */
const indexBytesMax = 1024 * 1024 * 1024;
const headerBytes = 12;
/** Times, device, inode, mode, owner and size. */
const statBytes = 40;
const assumeValidFlag = 0x8000;
const extendedFlag = 0x4000;
const skipWorktreeFlag = 0x4000;
