// The merge that a person is advised to make is one that git accepts.

import assert from 'node:assert/strict';
import type { GitRepository } from '../../../server/git/port.ts';
import type { Uses } from '../../../server/workflows/kit/engine-ports.ts';
import { handMerge, handPick, missingBase } from '../../../server/workflows/line/advice.ts';

/** Every branch is at a commit of its own; `related`: they share one. */
function engineWhere(related: boolean): Uses<'git' | 'store'> {
  const git = {
    readRef: async (ref: string) => `tip of ${ref}`,
    isAncestor: async (sha: string, tip: string) =>
      sha === 'landed' && tip.endsWith('/drover/epic/E'),
    mergeBase: async () => (related ? 'base' : null),
  };
  return engineOf(git as unknown as GitRepository);
}

/** Only the epic's line is known, and the commits dropped from it. */
function engineOf(git: GitRepository, dropped: readonly string[] = []): Uses<'git' | 'store'> {
  const row = { parent_branch: null, dropped: JSON.stringify(dropped) };
  const db = {
    selectFrom: () => db,
    selectAll: () => db,
    where: () => db,
    executeTakeFirst: async () => row,
  };
  const bare = { readRef: async () => null };
  const branches = Object.assign(bare, git);
  return { git: branches, store: { db } } as unknown as Uses<'git' | 'store'>;
}

suite('merges by hand', () => {
  const from = { branch: 'main', tip: 'a' };
  const into = { branch: 'drover/epic/E', tip: 'b' };
  const blocker = { id: 't1', sha: 'landed', landedOn: 'drover/epic/E' };

  test('they are plain merges if both histories share a commit', async () => {
    const engine = engineWhere(true);
    assert.equal(await handMerge(engine, from, into), 'merge main into drover/epic/E by hand');
    assert.equal(
      await missingBase(engine, 't2', blocker, 'main'),
      'the commit of its blocker t1 is on drover/epic/E, not in main; merge drover/epic/E into main, then drover resolve t2',
    );
  });

  test('they name the option that git requires if the histories share none', async () => {
    const engine = engineWhere(false);
    assert.equal(
      await handMerge(engine, from, into),
      'merge main into drover/epic/E by hand (git merge --allow-unrelated-histories main: they share no commit)',
    );
    assert.equal(
      await missingBase(engine, 't2', blocker, 'main'),
      'the commit of its blocker t1 is on drover/epic/E, not in main; merge drover/epic/E into main (git merge --allow-unrelated-histories drover/epic/E: they share no commit), then drover resolve t2',
    );
  });

  test('they are cherry-picks if a merge restores removed commits, without merged and existing commits', async () => {
    const landing = (sha: string, before: string, theirs: string): object => ({
      sha,
      parents: [before, theirs],
      trailers: [],
    });
    const git = {
      isAncestor: async (sha: string, tip: string) => sha === tip,
      mergeBase: async () => 'secret',
      lineCommits: async () => ({
        ok: true,
        value: [
          landing('c'.repeat(40), 'take-in', 'work of c'),
          landing('take-in', 'b'.repeat(40), 'secret'),
          landing('b'.repeat(40), 'a'.repeat(40), 'work of b'),
          landing('a'.repeat(40), 'before', 'work of a'),
        ],
      }),
      merge: async ({ commit }: { readonly commit: string }) => ({
        ok: true,
        value: { kind: 'merged', tree: commit.startsWith('b') ? 'tree of main' : commit },
      }),
      treeOf: async () => ({ ok: true, value: 'tree of main' }),
    };
    const epic = { branch: 'drover/epic/E', tip: 'c'.repeat(40) };
    const main = { branch: 'main', tip: 'on main' };
    const engine = engineOf(git as unknown as GitRepository, ['secret']);
    assert.equal(
      await handPick(engine, epic, main),
      'run git cherry-pick -m 1 aaaaaaaaaaaa cccccccccccc on main (a merge of drover/epic/E brings back what was taken out of main)',
    );
  });

  for (const tips of [
    ['older', 'secret'],
    ['secret', 'older'],
  ]) {
    test(`they are cherry-picks after the newest of several removed tips: ${tips.join(', ')}`, async () => {
      const asked: string[] = [];
      const git = {
        isAncestor: async (sha: string, tip: string) =>
          sha === tip || sha === 'before' || (sha === 'older' && tip === 'secret'),
        mergeBase: async (_commit: string, tip: string) => (tip === 'on main' ? 'before' : tip),
        lineCommits: async (base: string) => {
          asked.push(base);
          return {
            ok: true,
            value: [{ sha: 'a'.repeat(40), parents: ['secret', 'work of a'], trailers: [] }],
          };
        },
        merge: async (request: { readonly commit: string }) => ({
          ok: true,
          value: { kind: 'merged', tree: request.commit },
        }),
        treeOf: async () => ({ ok: true, value: 'tree of main' }),
      };
      const engine = engineOf(git as unknown as GitRepository, tips);
      const epic = { branch: 'drover/epic/E', tip: 'a'.repeat(40) };
      const advice = await handPick(engine, epic, { branch: 'main', tip: 'on main' });
      assert.match(advice ?? '', /^run git cherry-pick -m 1 aaaaaaaaaaaa on main /);
      assert.deepEqual([...new Set(asked)], ['secret']);
    });
  }

  for (const tips of [
    ['first', 'second'],
    ['second', 'first'],
  ]) {
    test(`they cherry-pick no merge of a removed tip: ${tips.join(', ')}`, async () => {
      const git = {
        isAncestor: async (sha: string, tip: string) => sha === tip || sha === 'before',
        mergeBase: async (_commit: string, tip: string) => (tip === 'on main' ? 'before' : tip),
        lineCommits: async () => ({
          ok: true,
          value: [
            { sha: 'b'.repeat(40), parents: ['d'.repeat(40), 'work of b'], trailers: [] },
            { sha: 'd'.repeat(40), parents: ['a'.repeat(40), 'second'], trailers: [] },
            { sha: 'a'.repeat(40), parents: ['c'.repeat(40), 'work of a'], trailers: [] },
            { sha: 'c'.repeat(40), parents: ['before', 'first'], trailers: [] },
          ],
        }),
        merge: async (request: { readonly commit: string }) => ({
          ok: true,
          value: { kind: 'merged', tree: request.commit },
        }),
        treeOf: async () => ({ ok: true, value: 'tree of main' }),
      };
      const engine = engineOf(git as unknown as GitRepository, tips);
      const epic = { branch: 'drover/epic/E', tip: 'b'.repeat(40) };
      assert.equal(
        await handPick(engine, epic, { branch: 'main', tip: 'on main' }),
        'run git cherry-pick -m 1 aaaaaaaaaaaa bbbbbbbbbbbb on main (a merge of drover/epic/E brings back what was taken out of main)',
      );
    });
  }
});
