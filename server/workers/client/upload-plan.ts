// The content of an upload, decided before any instance exists: files, links, omissions with their
// reasons, and the limits.

import { accessSync, constants, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '../../core/failure.ts';
import type { LeftOut } from '../../core/work/left-out.ts';
import {
  brokenCap,
  exclusionReason,
  isText,
  staysInside,
  uploadCaps,
  type UploadCaps,
} from './exclusion.ts';

/** Paths of a tree as git lists them; relative, with forward slashes. */
export interface TreeListing {
  readonly tracked: readonly string[];
  /** Untracked and not ignored. A nested repository is listed with a trailing slash. */
  readonly untracked: readonly string[];
  /** Paths that match `.droverignore` files, tracked or not. */
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
  readonly leftOut: readonly LeftOut[];
  readonly excludedSecrets: readonly string[];
  /** Sentences for people about omitted links, special files and submodules. */
  readonly notices: readonly string[];
}

/** How many of the largest files a preview names. */
const largestShown = 5;

/** The error is a sentence that names the file. Changes nothing. */
export function planUpload(
  root: string,
  listing: TreeListing,
  caps: UploadCaps = uploadCaps,
): Result<UploadPlan, string> {
  const entries: PlanEntry[] = [];
  const submodules = new Set(listing.submodules);
  const leftOut = new LeftOutList(submodules);
  const parents = new Parents(root);
  let bytes = 0;
  const add = (path: string, isTracked: boolean): string | null => {
    if (submodules.has(path)) return null;
    if (listing.droverIgnored.has(path)) return leftOut.add(path, 'ignored');
    const reason = exclusionReason(path, isTracked);
    if (reason === 'secret') return leftOut.add(path, reason);
    if (reason !== null) return leftOut.add(excludedFolder(path, isTracked), reason);
    if (path.endsWith('/')) return leftOut.add(path, 'repository');
    if (!isText(path)) return leftOut.add(path, 'name');
    const stats = parents.arePlain(path)
      ? lstatSync(join(root, path), { throwIfNoEntry: false })
      : undefined;
    // Tracked, but removed or moved behind a link in the working tree.
    if (stats === undefined) return null;
    const entry = entryOf(root, path, stats);
    if (typeof entry === 'string') return leftOut.add(path, entry);
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
    leftOut: leftOut.all,
    excludedSecrets: leftOut.of('secret').toSorted(),
    notices: leftOut.all.flatMap((one) => noticeOf(one) ?? []),
  });
}

class LeftOutList {
  readonly all: LeftOut[];
  /** A dependency folder is omitted once for all of its files. */
  readonly #known = new Set<string>();

  constructor(submodules: ReadonlySet<string>) {
    this.all = [...submodules].map((path) => ({ path, reason: 'submodule' }));
  }

  add(path: string, reason: LeftOut['reason']): null {
    if (!this.#known.has(path)) this.all.push({ path, reason });
    this.#known.add(path);
    return null;
  }

  of(reason: LeftOut['reason']): readonly string[] {
    return this.all.filter((one) => one.reason === reason).map(({ path }) => path);
  }
}

/** The first excluded parent folder of an excluded path, else the path itself. */
function excludedFolder(path: string, isTracked: boolean): string {
  let end = path.indexOf('/');
  while (end !== -1) {
    if (exclusionReason(path.slice(0, end), isTracked) !== null) return path.slice(0, end + 1);
    end = path.indexOf('/', end + 1);
  }
  return path;
}

/** A sentence that explains an omission without a rule by the user. */
function noticeOf({ path, reason }: LeftOut): string | null {
  switch (reason) {
    case 'submodule':
      return `Submodule ${path} is not uploaded.`;
    case 'repository':
      return `Nested repository ${path} is not uploaded.`;
    case 'link':
      return `Link ${path} leads out of the tree and is not uploaded.`;
    case 'name':
      return `The name of ${path} is not UTF-8; it is not uploaded.`;
    case 'special':
      return `${path} is not a regular file and is not uploaded.`;
    case 'secret':
    case 'own':
    case 'dependency':
    case 'ignored':
      return null;
  }
}

/** Returns a reason instead of an entry if the file is omitted. */
function entryOf(root: string, path: string, stats: Stats): PlanEntry | 'link' | 'special' {
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(join(root, path));
    return staysInside(path, target) ? { kind: 'link', path, target } : 'link';
  }
  if (!stats.isFile()) return 'special';
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
 * Which parent folders of a path are real folders, because behind a link are other files than git
 * lists.
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
