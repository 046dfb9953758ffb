// Reads and compares new trees directly from their object files: every folder that a task changes
// has one, until git packs them.

import { inflateSync } from 'node:zlib';
import { looseFile } from './loose-objects.ts';
import type { PathBytes } from './paths.ts';
import { readPlain } from './small-files.ts';

export interface TreeChange {
  readonly path: PathBytes;
  /** Neither: it is in both, and differs. */
  readonly only: 'first' | 'second' | null;
}

/** Of a tree. */
export interface Entry {
  /** As git writes it: `40000` for a folder. */
  readonly mode: string;
  readonly id: string;
}

const treeBytesMax = 4 * 1024 * 1024;
export const folderMode = '40000';

/** Files that differ; null if some tree has no file of its own, or more than `most` differ. */
export function changesBetween(
  objectsDir: string,
  first: string,
  second: string,
  most: number,
): readonly TreeChange[] | null {
  const found: TreeChange[] = [];
  const idBytes = first.length / 2;
  const visit = (prefix: PathBytes, one: string | null, two: string | null): boolean => {
    if (one === two) return true;
    const ones = one === null ? new Map<string, Entry>() : readTree(objectsDir, one, idBytes);
    const twos = two === null ? new Map<string, Entry>() : readTree(objectsDir, two, idBytes);
    if (ones === null || twos === null) return false;
    for (const name of new Set([...ones.keys(), ...twos.keys()])) {
      if (!compare(`${prefix}${name}`, ones.get(name), twos.get(name))) return false;
    }
    return true;
  };
  const compare = (path: PathBytes, one: Entry | undefined, two: Entry | undefined): boolean => {
    if (one?.id === two?.id && one?.mode === two?.mode) return true;
    const folders = [one, two].map((entry) => (entry?.mode === folderMode ? entry.id : null));
    if (
      folders.some((id) => id !== null) &&
      !visit(`${path}/`, folders[0] ?? null, folders[1] ?? null)
    )
      return false;
    const files = [one, two].map((entry) => entry !== undefined && entry.mode !== folderMode);
    if (files[0] === true || files[1] === true) {
      const only = files[0] === true ? (files[1] === true ? null : 'first') : 'second';
      found.push({ path, only });
    }
    return found.length <= most;
  };
  return visit('', first, second) ? found : null;
}

/** By name. Null if the tree has no file of its own, or not that of a tree. */
export function readTree(
  objectsDir: string,
  id: string,
  idBytes: number,
): ReadonlyMap<PathBytes, Entry> | null {
  const packed = readPlain(looseFile(objectsDir, id), treeBytesMax);
  if (packed === null) return null;
  let bytes: Buffer;
  try {
    bytes = inflateSync(packed, { maxOutputLength: treeBytesMax });
  } catch {
    return null;
  }
  if (bytes.toString('latin1', 0, 5) !== 'tree ') return null;
  return parseTree(bytes.subarray(bytes.indexOf(0) + 1), idBytes);
}

/** The content of a tree: `<mode> <name>\0<id>` for each entry. Null: it is none. */
export function parseTree(bytes: Buffer, idBytes: number): ReadonlyMap<PathBytes, Entry> | null {
  const entries = new Map<string, Entry>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const zero = bytes.indexOf(0, space);
    const next = zero + 1 + idBytes;
    if (space < 0 || zero < 0 || next > bytes.length) return null;
    const mode = bytes.toString('latin1', at, space);
    entries.set(bytes.toString('latin1', space + 1, zero), {
      mode,
      id: bytes.toString('hex', zero + 1, next),
    });
    at = next;
  }
  return entries;
}
