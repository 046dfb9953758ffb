// Which commands of git move a branch or write what they have read of it.

import assert from 'node:assert/strict';
import { moverOf } from '../../../server/git/moves/git-processes.ts';

suite('commands of git that a move of a branch waits for', () => {
  for (const [line, command] of [
    ['git merge side', 'merge'],
    ['git -C /elsewhere -c a=b --no-pager rebase -i HEAD~2', 'rebase'],
    ['/usr/lib/git-core/git --git-dir .git --work-tree . switch main', 'switch'],
    ['git --git-dir=.git pull', 'pull'],
    ['git log merge', null],
    ['git status', null],
    ['git -c merge', null],
    ['git', null],
  ] as const)
    test(line, () => assert.equal(moverOf(line.split(' ')), command));
});
