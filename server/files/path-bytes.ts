// Paths inside a worktree as git outputs them: bytes, each as one character of a string, so that
// unusual names survive a round trip.

import { Buffer } from 'node:buffer';

/** One character per byte (latin1). Passed back to git unchanged; displayed with `shown`. */
export type PathBytes = string;

export function toBytes(path: PathBytes): Buffer {
  return Buffer.from(path, 'latin1');
}

export function shown(path: PathBytes): string {
  return toBytes(path).toString('utf8');
}

export function asBytes(path: string): PathBytes {
  return Buffer.from(path, 'utf8').toString('latin1');
}

/** The absolute path for Node's file functions, which accept bytes. */
export function absoluteBytes(root: string, path: PathBytes): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), toBytes(path)]);
}

/** Input for `-z --stdin`: each path ends with a zero byte. */
export function zeroEnded(paths: readonly PathBytes[]): Buffer {
  return toBytes(paths.map((path) => `${path}\0`).join(''));
}

/** Splits output made with `-z`. */
export function splitZero(bytes: Buffer): PathBytes[] {
  const parts = bytes.toString('latin1').split('\0');
  if (parts.at(-1) === '') parts.pop();
  return parts;
}

/** Empty for a path at the top level. */
export function parentFolder(path: PathBytes): PathBytes {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** Closest first, without the top. */
export function* foldersAbove(path: PathBytes): Generator<PathBytes> {
  for (let folder = parentFolder(path); folder !== ''; folder = parentFolder(folder)) yield folder;
}
