// The folder in which jobs run, and what currently uses it: an upload or a job, never both (worker
// contract §6, §9).

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { packTree } from './pack.ts';
import { unpack } from './unpack.ts';
import { UploadRefused } from './upload-refused.ts';

const run = promisify(execFile);

export type WorkspaceUse = 'upload' | 'job';

export interface WorkspaceOptions {
  readonly folder: string;
  readonly uploadBytes: number;
  readonly uploadIdleMs: number;
  /** Messages for the administrator of the instance. */
  readonly warn: (sentence: string) => void;
}

export class Workspace {
  readonly folder: string;
  readonly #options: WorkspaceOptions;
  #use: WorkspaceUse | null = null;
  /** Identifies the upload that the folder contains. */
  #generation = 0;

  /**
   * Creates the folder if it does not exist, and removes the leftovers of an earlier runtime beside
   * it.
   */
  constructor(options: WorkspaceOptions) {
    this.#options = options;
    this.folder = options.folder;
    mkdirSync(this.folder, { recursive: true });
    for (const name of readdirSync(dirname(this.folder))) {
      if (name.startsWith(this.#besidePrefix)) this.#removeLater(join(dirname(this.folder), name));
    }
  }

  get use(): WorkspaceUse | null {
    return this.#use;
  }

  /**
   * Returns false if something else uses the workspace. After a successful claim, the caller must
   * call `release`.
   */
  claim(use: WorkspaceUse): boolean {
    if (this.#use !== null) return false;
    this.#use = use;
    return true;
  }

  release(): void {
    this.#use = null;
  }

  /**
   * Replaces the old tree by the archive after all of it was checked.
   * @throws UploadRefused, with the old tree intact
   */
  async replace(archive: IncomingMessage): Promise<void> {
    const incoming = this.#newFolder();
    try {
      await unpack(archive, incoming, this.#options);
      this.#swap(incoming);
    } catch (error) {
      this.#removeLater(incoming);
      throw error;
    }
  }

  exists(): boolean {
    return lstatSync(this.folder, { throwIfNoEntry: false }) !== undefined;
  }

  /** @throws if the archive is not complete; the output is then destroyed */
  async pack(output: Writable): Promise<void> {
    const generation = this.#generation;
    const check = (): void => {
      if (generation !== this.#generation) throw new Error('another upload took the workspace');
    };
    await packTree({ folder: this.folder, output, check });
  }

  #newFolder(): string {
    const folder = this.#beside();
    try {
      mkdirSync(folder, { mode: 0o755 });
    } catch (error) {
      throw new UploadRefused(500, `failed to create ${folder}: ${codeOf(error)}`);
    }
    return folder;
  }

  #swap(incoming: string): void {
    const old = this.#beside();
    try {
      if (this.exists()) renameSync(this.folder, old);
    } catch (error) {
      const advice =
        'its parent folder must be writable, and the workspace itself must not be a mount point';
      throw new UploadRefused(
        500,
        `failed to replace ${this.folder}: ${codeOf(error)} (${advice})`,
      );
    }
    try {
      renameSync(incoming, this.folder);
    } catch (error) {
      renameSync(old, this.folder);
      throw new UploadRefused(500, `failed to replace ${this.folder}: ${codeOf(error)}`);
    }
    this.#generation += 1;
    if (existsSync(old)) this.#removeLater(old);
  }

  get #besidePrefix(): string {
    return `.${basename(this.folder)}.drover-`;
  }

  #beside(): string {
    const name = `${this.#besidePrefix}${randomBytes(6).toString('hex')}`;
    return join(dirname(this.folder), name);
  }

  /** Deleted in the background, because a large tree takes time. */
  #removeLater(path: string): void {
    removeTree(path).catch((error: unknown) => {
      this.#options.warn(`${path} could not be removed: ${codeOf(error)}.`);
    });
  }

  /** At the end of the runtime, removes the leftovers beside the workspace. */
  async removeLeftovers(): Promise<void> {
    const parent = dirname(this.folder);
    const names = readdirSync(parent).filter((name) => name.startsWith(this.#besidePrefix));
    await Promise.allSettled(names.map((name) => removeTree(join(parent, name))));
  }
}

/**
 * A command may have left folders without permissions, and paths that are too long for Node, which
 * the system's programs can remove.
 */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await run('chmod', ['-R', 'u+rwX', path]).catch(() => undefined);
    await run('rm', ['-rf', path]);
  }
}

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
