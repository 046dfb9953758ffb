// Writes a commit just as git's commit-tree does, for every task that lands.

import { writeObject } from './write-object.ts';
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
  return writeObject(objectsDir, 'commit', body, commit.tree.length / 2);
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
