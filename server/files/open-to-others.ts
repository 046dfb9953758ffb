// Whether another user of the machine can change a folder's content, so that its entries could be
// replaced at any time.

import { statSync } from 'node:fs';
import { thisPlatform } from '../platform/this-platform.ts';

/** Explains why the folder cannot be used for worktrees. */
export function openToOthers(folder: string): string {
  return `Another user can write to the folder ${folder}. Set worktree_root to one that only you can write to.`;
}

/** In a folder with the sticky bit, others can add entries but not replace ours. */
export function isOpenToOthers(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  const user = process.getuid?.();
  const isOthers = user !== undefined && uid !== user && uid !== 0;
  return isOthers || (thisPlatform.hasFileModes && (mode & 0o1002) === 0o002);
}
