// The mark in the environment of a project's processes, so that no other project on the machine
// takes them for its own.

import { createHash } from 'node:crypto';

const markChars = 12;

/** `root`: of the main checkout, as a real path. */
export function projectMark(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, markChars);
}

/**
 * A run's name as people read it: the project's prefix of its mark means nothing within the
 * project.
 */
export function withoutMark(run: string, root: string): string {
  const mark = `${projectMark(root)}/`;
  return run.startsWith(mark) ? run.slice(mark.length) : run;
}
