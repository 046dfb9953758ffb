// Writes a commit just as git's commit-tree does, straight into its object file: that costs a tenth
// of a process, for every task that lands.

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { looseFile } from './loose-objects.ts';
import { exists } from './small-files.ts';
import type { Sha } from '../sha.ts';

export interface NewCommit {
  readonly tree: Sha;
  readonly parents: readonly Sha[];
  /** `Name <email>`. */
  readonly author: string;
  readonly committer: string;
  readonly message: string;
  readonly atMs: number;
}

/** Null if it cannot be written like this: then git tries, and reports the reason. */
export function writeCommit(objectsDir: string, commit: NewCommit): Sha | null {
  if (commit.message.includes('\0')) return null;
  const body = Buffer.from(textOf(commit), 'utf8');
  const bytes = Buffer.concat([Buffer.from(`commit ${body.length}\0`, 'latin1'), body]);
  const sha = createHash(commit.tree.length === 40 ? 'sha1' : 'sha256')
    .update(bytes)
    .digest('hex');
  const file = looseFile(objectsDir, sha);
  if (exists(file)) return sha;
  const folder = join(objectsDir, sha.slice(0, 2));
  const unfinished = unfinishedFile(folder);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(unfinished, deflateSync(bytes), { flag: 'wx', mode: 0o444 });
    renameSync(unfinished, file);
    return sha;
  } catch {
    removeQuietly(unfinished);
    return null;
  }
}

/** A name that git's prune takes for a file left behind, in a folder of objects. */
export function unfinishedFile(folder: string): string {
  return join(folder, `tmp_obj_${randomBytes(8).toString('hex')}`);
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // It was never made.
  }
}

function textOf({ tree, parents, author, committer, message, atMs }: NewCommit): string {
  const when = gitTime(new Date(atMs));
  const head = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${author} ${when}`,
    `committer ${committer} ${when}`,
  ];
  return `${head.join('\n')}\n\n${message}`;
}

const minutesPerHour = 60;

/** Seconds, and how far the local time is from UTC. */
export function gitTime(date: Date): string {
  const offset = -date.getTimezoneOffset();
  const hours = Math.floor(Math.abs(offset) / minutesPerHour);
  const zone = hours * 100 + (Math.abs(offset) % minutesPerHour);
  const sign = offset < 0 ? '-' : '+';
  return `${Math.floor(date.getTime() / 1000)} ${sign}${String(zone).padStart(4, '0')}`;
}
