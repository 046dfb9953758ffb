// Copies a result to the attempt's worktree: only files that may be transferred, never through a
// link, and removes only files that were uploaded and are absent from a complete result.

import {
  chmodSync,
  copyFileSync,
  constants,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { exclusionReason, staysInside } from './exclusion.ts';
import type { SentEntry } from './pack.ts';
import type { JobResult, ResultFile } from './unpack.ts';
import { Parents } from './upload-plan.ts';

export interface ImportRequest {
  readonly root: string;
  readonly sent: ReadonlyMap<string, SentEntry>;
  readonly result: JobResult;
  readonly submodules: readonly string[];
  /** Returns those of the paths that git ignores in the worktree. */
  readonly ignored: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
}

export interface Imported {
  readonly written: number;
  /** The written files, to compare a later result with. */
  readonly taken: ReadonlyMap<string, SentEntry>;
  readonly removed: number;
  /** Sentences about returned files that were not accepted, with the reasons. */
  readonly notices: readonly string[];
}

/** Maximum number of paths that one notice names. */
const namedMax = 10;

export async function importResult(request: ImportRequest): Promise<Imported> {
  const { result, sent } = request;
  const refused = new Refused();
  const wanted = [...result.files.keys(), ...result.links.keys()].filter((path) =>
    mayCome(request, path, refused),
  );
  const ignored = await request.ignored(wanted.filter((path) => !sent.has(path)));
  for (const path of ignored) refused.add('git ignores it', path);
  const taken = new Set(wanted.filter((path) => !ignored.has(path)));
  const removed = result.isComplete ? removeAbsent(request, refused) : 0;
  const now = new Map<string, SentEntry>();
  let written = 0;
  for (const [path, file] of result.files) {
    if (!taken.has(path) || !writeFile(request, path, file, refused)) continue;
    written += 1;
    now.set(path, { kind: 'file', sha256: file.sha256, isExecutable: file.isExecutable });
  }
  // Last, so that nothing can be written through a link.
  for (const [path, target] of result.links) {
    if (!taken.has(path) || !writeLink(request, path, target, refused)) continue;
    written += 1;
    now.set(path, { kind: 'link', target });
  }
  return { written, taken: now, removed, notices: [...result.notices, ...refused.notices()] };
}

function mayCome(request: ImportRequest, path: string, refused: Refused): boolean {
  const sent = request.sent.has(path);
  const reason = exclusionReason(path, sent);
  if (reason === 'secret') refused.add('its name looks like a secret', path);
  if (reason !== null) return false;
  const submodule = request.submodules.find(
    (folder) => path === folder || path.startsWith(`${folder}/`),
  );
  if (submodule !== undefined) {
    refused.add('it lies in a submodule', path);
    return false;
  }
  if (sent || lstatSync(join(request.root, path), { throwIfNoEntry: false }) === undefined) {
    return true;
  }
  refused.add('it exists here and was not uploaded', path);
  return false;
}

function removeAbsent({ root, sent, result }: ImportRequest, refused: Refused): number {
  let removed = 0;
  const parents = new Parents(root);
  for (const path of sent.keys()) {
    if (result.files.has(path) || result.links.has(path)) continue;
    if (!parents.arePlain(path)) continue;
    try {
      unlinkSync(join(root, path));
    } catch (error) {
      if (!isMissing(error)) refused.add('it could not be removed', path);
      continue;
    }
    removed += 1;
    removeEmptyFolders(root, dirname(path));
  }
  return removed;
}

function removeEmptyFolders(root: string, folder: string): void {
  for (let path = folder; path !== '.' && path !== ''; path = dirname(path)) {
    try {
      rmdirSync(join(root, path));
    } catch {
      return;
    }
  }
}

function writeFile(
  { root, sent }: ImportRequest,
  path: string,
  file: ResultFile,
  refused: Refused,
): boolean {
  const before = sent.get(path);
  const isSame =
    before?.kind === 'file' &&
    before.sha256 === file.sha256 &&
    before.isExecutable === file.isExecutable;
  const { stored } = file;
  if (isSame || stored === null) return false;
  const place = join(root, path);
  return attempt(root, path, refused, () => {
    copyFileSync(stored, place, constants.COPYFILE_EXCL);
    chmodSync(place, file.isExecutable ? 0o755 : 0o644);
  });
}

function writeLink(
  { root }: ImportRequest,
  path: string,
  target: string,
  refused: Refused,
): boolean {
  if (!staysInside(path, target)) {
    refused.add('it is a link out of the tree', path);
    return false;
  }
  const place = join(root, path);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() === true && readlinkSync(place) === target) return false;
  return attempt(root, path, refused, () => symlinkSync(target, place));
}

/** Clears a path and writes to it. Every parent folder is a real one. */
function attempt(root: string, path: string, refused: Refused, write: () => void): boolean {
  try {
    if (!makeFolders(root, path)) {
      refused.add('it is below something that is not a folder', path);
      return false;
    }
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) {
      refused.add('a folder has its name', path);
      return false;
    }
    if (stats !== undefined) unlinkSync(join(root, path));
    write();
    return true;
  } catch {
    refused.add('it could not be written', path);
    return false;
  }
}

/**
 * Creates one folder at a time, because a recursive call would follow links. Returns false if
 * something else exists at a path.
 */
function makeFolders(root: string, path: string): boolean {
  const names = path.split('/').slice(0, -1);
  for (let count = 1; count <= names.length; count += 1) {
    const folder = join(root, ...names.slice(0, count));
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) mkdirSync(folder);
    else if (!stats.isDirectory()) return false;
  }
  return true;
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Paths that were not accepted, by reason. */
class Refused {
  readonly #byReason = new Map<string, string[]>();

  add(reason: string, path: string): void {
    const paths = this.#byReason.get(reason) ?? [];
    paths.push(path);
    this.#byReason.set(reason, paths);
  }

  notices(): string[] {
    return [...this.#byReason].map(([reason, paths]) => {
      const named = paths.slice(0, namedMax).join(', ');
      const more = paths.length > namedMax ? ` and ${paths.length - namedMax} more` : '';
      return `Not taken from the worker (${reason}): ${named}${more}.`;
    });
  }
}
