// The mark in the environment of a project's processes, so that other projects on the machine do
// not treat them as their own.

import { createHash } from 'node:crypto';

const markChars = 12;

/** `root`: the main checkout's real path. */
export function projectMark(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, markChars);
}

/** A run's name for people, without the project's prefix, which is redundant inside the project. */
export function withoutMark(run: string, root: string): string {
  const mark = `${projectMark(root)}/`;
  return run.startsWith(mark) ? run.slice(mark.length) : run;
}
