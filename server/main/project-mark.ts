// What a project's processes have in their environment, so that no other project on the machine takes them for its own.

import { createHash } from 'node:crypto';

const markChars = 12;

/** `root`: of the main checkout, as a real path. */
export function projectMark(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, markChars);
}
