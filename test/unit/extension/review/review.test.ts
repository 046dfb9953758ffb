// The pure parts of a review: addresses of files at a commit, pairs of a change, and comments as the agent gets them.

import assert from 'node:assert/strict';
import {
  conflictPairs,
  filePairs,
  reviewTitle,
} from '../../../../extension/review/changed-files.ts';
import {
  composeComments,
  readDrafts,
  type DraftComment,
} from '../../../../extension/review/comment-text.ts';
import { readUri, toUriParts, type GitFile } from '../../../../extension/review/git-uri.ts';
import type { ChangeView } from '../../../../server/protocol/panel-views.ts';
import { taskView } from '../../../doubles/views.ts';

const sha = 'a'.repeat(40);
const head = 'b'.repeat(40);
const root = '/home/person/a project';

suite('review: addresses', () => {
  const paths = [
    'src/a.ts',
    'a b/c#d?e=f&g%20h.txt',
    '%2e%2e/x',
    'quote"\'`$(x).ts',
    '\u202egnp.exe',
    'ü/日本語.md',
    '-rf',
    'new\nline',
    'command:x',
    'back\\slash',
  ];
  for (const path of paths) {
    test(`an address is read back unchanged: ${JSON.stringify(path)}`, () => {
      const file: GitFile = { root, sha, path, review: 'task-1', side: 'head' };
      assert.deepEqual(readUri(toUriParts(file, path)), file);
    });
  }

  const refused: readonly (readonly [string, object])[] = [
    ['a path that climbs', { path: '../secret' }],
    ['a path that climbs further in', { path: 'a/../../secret' }],
    ['an absolute path', { path: '/etc/passwd' }],
    ['an empty path', { path: '' }],
    ['a path with an end in it', { path: 'a\0b' }],
    ['a name in place of a commit', { sha: 'HEAD' }],
    ['an option in place of a commit', { sha: '--output=x' }],
    ['another side', { side: 'both' }],
    ['no root', { root: 7 }],
  ];
  for (const [name, change] of refused) {
    test(`an address is refused: ${name}`, () => {
      const query = JSON.stringify({
        root,
        sha,
        path: 'a.ts',
        review: 't',
        side: 'base',
        ...change,
      });
      assert.equal(readUri({ scheme: 'drover-git', path: '/a.ts', query }), null);
    });
  }

  test('an address that is not JSON or has another scheme is refused', () => {
    assert.equal(readUri({ scheme: 'drover-git', path: '/a', query: 'a=b' }), null);
    assert.equal(readUri({ scheme: 'drover-git', path: '/a', query: 'null' }), null);
    const parts = toUriParts({ root, sha, path: 'a', review: 't', side: 'base' }, 'a');
    assert.equal(readUri({ ...parts, scheme: 'file' }), null);
  });
});

suite('review: changes', () => {
  const change: ChangeView = {
    id: 'task-1',
    kind: 'task',
    title: 'Print',
    base: sha,
    head,
    state: 'review',
    files: [
      { path: 'new.ts', old_path: null, status: 'added' },
      { path: 'gone.ts', old_path: null, status: 'removed' },
      { path: 'to.ts', old_path: 'from.ts', status: 'renamed' },
      { path: 'same.ts', old_path: null, status: 'modified' },
    ],
    truncated: false,
    size: null,
  };

  test('a change has its base on the left and the version that would land on the right', () => {
    const pairs = filePairs(root, change).map(({ original, modified }) => [
      original === null ? null : readUri(original),
      modified === null ? null : readUri(modified),
    ]);
    const at = (side: 'base' | 'head', path: string): GitFile => {
      return { root, review: 'task-1', sha: side === 'base' ? sha : head, path, side };
    };
    assert.deepEqual(pairs, [
      [null, at('head', 'new.ts')],
      [at('base', 'gone.ts'), null],
      [at('base', 'from.ts'), at('head', 'to.ts')],
      [at('base', 'same.ts'), at('head', 'same.ts')],
    ]);
    assert.equal(reviewTitle(change), 'Print (to review)');
  });

  test('a change in conflict is shown beside the landed version', () => {
    const task = taskView({ id: 't', commit_sha: head, conflict_files: ['a.ts', 'b.ts'] });
    const pairs = conflictPairs(root, task, sha);
    assert.deepEqual(
      pairs.map(({ original }) => (original === null ? null : readUri(original)?.sha)),
      [sha, sha],
    );
    assert.deepEqual(conflictPairs(root, task, null), []);
    assert.deepEqual(conflictPairs(root, { ...task, commit_sha: null }, sha), []);
  });
});

suite('review: comments', () => {
  const draft = (change: Partial<DraftComment>): DraftComment => ({
    id: 'c1',
    review: 'task-1',
    root,
    sha: head,
    path: 'src/a.ts',
    startLine: 4,
    endLine: 4,
    quoted: 'const a = 1;',
    text: 'Name it.',
    ...change,
  });

  const cases: readonly (readonly [string, readonly DraftComment[], string, string])[] = [
    ['nothing', [], '', ''],
    ['only a general word', [], ' Again. ', 'Again.'],
    ['one', [draft({})], '', 'src/a.ts:5\n> const a = 1;\nName it.'],
    [
      'several lines',
      [draft({ startLine: 1, endLine: 2, quoted: 'a\nb' })],
      'All in all:',
      'All in all:\n\nsrc/a.ts:2-3\n> a\n> b\nName it.',
    ],
    [
      'a path that could be taken for something else',
      [draft({ path: 'a\nb: do this', quoted: '' })],
      '',
      '"a\\nb: do this":5\nName it.',
    ],
  ];
  for (const [name, drafts, general, wanted] of cases) {
    test(`comments are composed: ${name}`, () => {
      assert.equal(composeComments(drafts, general), wanted);
    });
  }

  test('comments are in the order of files and lines, and long quotes are cut', () => {
    const many = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
    const text = composeComments([
      draft({ id: 'z', path: 'z.ts', quoted: '' }),
      draft({ id: 'y', startLine: 8, endLine: 8, quoted: '' }),
      draft({ id: 'x', startLine: 1, endLine: 1, quoted: many }),
    ]);
    const places = text.split('\n').filter((line) => /\.ts:/.test(line));
    assert.deepEqual(places, ['src/a.ts:2', 'src/a.ts:9', 'z.ts:5']);
    assert.equal(text.split('\n').filter((line) => line.startsWith('> ')).length, 13);
  });

  test('comments are restored after a reload, without damaged ones', () => {
    const good = draft({});
    const kept = [good, { ...good, startLine: -1 }, { ...good, text: 7 }, null, 'x'];
    assert.deepEqual(readDrafts(JSON.parse(JSON.stringify(kept))), [good]);
    assert.deepEqual(readDrafts({ not: 'a list' }), []);
  });
});
