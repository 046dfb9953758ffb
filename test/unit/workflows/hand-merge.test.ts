// The merge that a person is advised to make is one that git accepts.

import assert from 'node:assert/strict';
import type { GitRepository } from '../../../server/git/port.ts';
import { missingBaseSentence } from '../../../server/workflows/attempt/missing-base-sentence.ts';
import { handMerge } from '../../../server/workflows/lines/hand-merge.ts';

/** Every branch is at a commit of its own; `related`: they share one. */
function engineWhere(related: boolean): { readonly git: GitRepository } {
  const git = {
    readRef: async (ref: string) => `tip of ${ref}`,
    isAncestor: async (sha: string, tip: string) =>
      sha === 'landed' && tip.endsWith('/drover/epic/E'),
    mergeBase: async () => (related ? 'base' : null),
  };
  return { git: git as unknown as GitRepository };
}

suite('merges by hand', () => {
  const from = { branch: 'main', tip: 'a' };
  const into = { branch: 'drover/epic/E', tip: 'b' };
  const blocker = { id: 't1', sha: 'landed', landedOn: 'drover/epic/E' };

  test('are plain where both share a commit', async () => {
    const engine = engineWhere(true);
    assert.equal(await handMerge(engine, from, into), 'merge main into drover/epic/E by hand');
    assert.equal(
      await missingBaseSentence(engine, 't2', blocker, 'main'),
      'the commit of its blocker t1 is on drover/epic/E, not in main; merge drover/epic/E into main, then drover resolve t2',
    );
  });

  test('name the option that git wants where they share none', async () => {
    const engine = engineWhere(false);
    assert.equal(
      await handMerge(engine, from, into),
      'merge main into drover/epic/E by hand (git merge --allow-unrelated-histories main: they share no commit)',
    );
    assert.equal(
      await missingBaseSentence(engine, 't2', blocker, 'main'),
      'the commit of its blocker t1 is on drover/epic/E, not in main; merge drover/epic/E into main (git merge --allow-unrelated-histories drover/epic/E: they share no commit), then drover resolve t2',
    );
  });
});
