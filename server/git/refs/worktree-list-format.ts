// Parses `git worktree list --porcelain -z`.

import type { WorktreeEntry } from '../port.ts';

export interface ListedWorktree extends WorktreeEntry {
  readonly bare: boolean;
  readonly locked: boolean;
}

export function parseWorktreeList(output: Buffer): ListedWorktree[] {
  const worktrees: ListedWorktree[] = [];
  for (const block of output.toString('utf8').split('\0\0')) {
    const lines = block.split('\0').filter((line) => line !== '');
    const value = (key: string): string | null => {
      const line = lines.find((each) => each === key || each.startsWith(`${key} `));
      return line === undefined ? null : line.slice(key.length + 1);
    };
    const path = value('worktree');
    if (path === null) continue;
    const head = value('HEAD');
    worktrees.push({
      path,
      head: head === null || /^0+$/.test(head) ? null : head,
      branch: value('branch'),
      prunable: value('prunable') !== null,
      bare: value('bare') !== null,
      locked: value('locked') !== null,
    });
  }
  return worktrees;
}
