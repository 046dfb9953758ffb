// What an upload would hold, decided before any instance exists: files, links, what is left out and
// why, and the caps.

import { accessSync, constants, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '../../core/failure.ts';
import { brokenCap, exclusionOf, staysInside, uploadCaps, type UploadCaps } from './exclusion.ts';

/** Paths of a tree as git sees them; relative, with slashes. */
export interface TreeListing {
  readonly tracked: readonly string[];
  /** Not tracked and not ignored. A nested repository stands here with a slash at its end. */
  readonly untracked: readonly string[];
  /** Matched by `.droverignore` files, tracked or not. */
  readonly droverIgnored: ReadonlySet<string>;
  readonly submodules: readonly string[];
}

export type PlanEntry =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly bytes: number;
      readonly isExecutable: boolean;
    }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

export interface UploadPlan {
  readonly root: string;
  readonly entries: readonly PlanEntry[];
  readonly files: number;
  readonly bytes: number;
  readonly largest: readonly { readonly path: string; readonly bytes: number }[];
  readonly excludedSecrets: readonly string[];
  /** Sentences for a person: links, special files and submodules that are left out. */
  readonly notices: readonly string[];
}

/** How many of the largest files a preview names. */
const largestShown = 5;

/** The error is a sentence that names the file. Nothing is changed. */
export function planUpload(
  root: string,
  listing: TreeListing,
  caps: UploadCaps = uploadCaps,
): Result<UploadPlan, string> {
  const entries: PlanEntry[] = [];
  const secrets: string[] = [];
  const notices = listing.submodules.map((path) => `Submodule ${path} is not uploaded.`);
  const submodules = new Set(listing.submodules);
  const parents = new Parents(root);
  let bytes = 0;
  const add = (path: string, isTracked: boolean): string | null => {
    if (submodules.has(path) || listing.droverIgnored.has(path)) return null;
    const reason = exclusionOf(path, isTracked);
    if (reason === 'secret') secrets.push(path);
    if (reason !== null) return null;
    if (path.endsWith('/')) {
      notices.push(`Nested repository ${path} is not uploaded.`);
      return null;
    }
    const stats = parents.arePlain(path)
      ? lstatSync(join(root, path), { throwIfNoEntry: false })
      : undefined;
    // Tracked, but removed or moved behind a link in the working tree.
    if (stats === undefined) return null;
    const entry = entryOf(root, path, stats);
    if (typeof entry === 'string') {
      notices.push(entry);
      return null;
    }
    if (entry.kind === 'file') {
      bytes += entry.bytes;
      const broken = brokenCap(entry, bytes, caps);
      if (broken !== null) return broken;
      if (!isReadable(join(root, path))) return `The file ${path} cannot be read.`;
    }
    entries.push(entry);
    return null;
  };
  for (const [paths, isTracked] of [
    [listing.tracked, true] as const,
    [listing.untracked, false] as const,
  ]) {
    for (const path of paths) {
      const refused = add(path, isTracked);
      if (refused !== null) return err(refused);
    }
  }
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  const files = entries.filter((entry) => entry.kind === 'file');
  const largest = files.toSorted((a, b) => b.bytes - a.bytes).slice(0, largestShown);
  return ok({
    root,
    entries,
    files: files.length,
    bytes,
    largest: largest.map((file) => ({ path: file.path, bytes: file.bytes })),
    excludedSecrets: secrets.toSorted(),
    notices,
  });
}

/** A notice instead of an entry: the file is left out. */
function entryOf(root: string, path: string, stats: Stats): PlanEntry | string {
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(join(root, path));
    return staysInside(path, target)
      ? { kind: 'link', path, target }
      : `Link ${path} leads out of the tree and is not uploaded.`;
  }
  if (!stats.isFile()) return `${path} is not a regular file and is not uploaded.`;
  return { kind: 'file', path, bytes: stats.size, isExecutable: (stats.mode & 0o100) !== 0 };
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Which folders on the way to a path are real folders: behind a link lies something else than what
 * git lists.
 */
export class Parents {
  readonly #root: string;
  readonly #plain = new Map<string, boolean>();

  constructor(root: string) {
    this.#root = root;
  }

  arePlain(path: string): boolean {
    const end = path.lastIndexOf('/');
    if (end === -1) return true;
    const folder = path.slice(0, end);
    const known = this.#plain.get(folder);
    if (known !== undefined) return known;
    const isPlain =
      this.arePlain(folder) &&
      lstatSync(join(this.#root, folder), { throwIfNoEntry: false })?.isDirectory() === true;
    this.#plain.set(folder, isPlain);
    return isPlain;
  }
}
