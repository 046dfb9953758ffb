// Writes the entries of an upload into a new folder. Files are small and written one after another,
// so synchronous calls are used: they are several times faster, and no job runs during an upload.

import { closeSync, mkdirSync, openSync, symlinkSync, unlinkSync, writeSync } from 'node:fs';
import { join, posix } from 'node:path';
import { checkName, checkTarget, escapesTree } from './entry-rules.ts';
import { refusedEntry, shownName, UploadRefused } from './upload-refused.ts';

type Kind = 'directory' | 'file' | 'link';

/** Permission bits. setuid, setgid and sticky are dropped. */
const permissionBits = 0o777;
/** The file system's errors for an invalid name. */
const badNameCodes: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'EILSEQ', 'EINVAL', 'EEXIST']);

export class TreeWriter {
  readonly #root: string;
  readonly #kinds = new Map<string, Kind>();
  readonly #links = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  directory(name: string): void {
    const path = cleanName(name);
    if (path !== '') this.#ensureDirectory(path, name);
  }

  link(name: string, target: string): void {
    const path = cleanName(name);
    const reason = checkTarget(target);
    if (reason !== null) throw refusedEntry(name, reason);
    this.#claim(path, 'link', name);
    this.#links.set(path, target);
    this.#call(name, () => symlinkSync(target, join(this.#root, path)));
  }

  /** Later data is written to the returned file, which the caller closes. */
  file(name: string, mode: number): OpenFile {
    const path = cleanName(name);
    const at = join(this.#root, path);
    if (this.#kinds.get(path) === 'file') this.#call(name, () => unlinkSync(at));
    else this.#claim(path, 'file', name);
    const file = this.#call(name, () => openSync(at, 'wx', mode & permissionBits));
    let isOpen = true;
    const close = (): void => {
      if (isOpen) closeSync(file);
      isOpen = false;
    };
    return {
      write: (chunk) => this.#call(name, () => writeAll(file, chunk)),
      close: () => this.#call(name, close),
    };
  }

  /** Called after the last entry, because links can only be checked when all others are known. */
  finish(): void {
    for (const path of this.#links.keys()) {
      if (escapesTree(path, this.#links))
        throw refusedEntry(path, 'the link leads out of the workspace');
    }
  }

  #claim(path: string, kind: Kind, name: string): void {
    const there = path === '' ? 'directory' : this.#kinds.get(path);
    if (there !== undefined) throw refusedEntry(name, `the name is taken by a ${there}`);
    this.#ensureParent(path, name);
    this.#kinds.set(path, kind);
  }

  #ensureParent(path: string, name: string): void {
    const parent = posix.dirname(path);
    if (parent !== '.') this.#ensureDirectory(parent, name);
  }

  #ensureDirectory(path: string, name: string): void {
    const there = this.#kinds.get(path);
    if (there === 'directory') return;
    if (there !== undefined) throw refusedEntry(name, `${shownName(path)} is a ${there}`);
    this.#ensureParent(path, name);
    this.#call(name, () => mkdirSync(join(this.#root, path), { mode: 0o755 }));
    this.#kinds.set(path, 'directory');
  }

  #call<T>(name: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      if (badNameCodes.has(code)) {
        throw refusedEntry(name, `the file system refuses the name (${code})`);
      }
      throw new UploadRefused(500, `failed to write file: ${shownName(name)}: ${code}`);
    }
  }
}

export interface OpenFile {
  readonly write: (chunk: Uint8Array) => void;
  /** May be called again. */
  readonly close: () => void;
}

function cleanName(name: string): string {
  const checked = checkName(name);
  if (!checked.ok) throw refusedEntry(name, checked.error);
  return checked.value;
}

function writeAll(file: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
}
