// Git's output, parsed by pure functions.

import assert from 'node:assert/strict';
import { parseListed } from '../../../server/git/process/listed-config.ts';
import { parseCommit } from '../../../server/git/ask/objects.ts';
import { parseMergeTree } from '../../../server/git/ask/merges.ts';
import { toBytes, shown, splitZero, zeroEnded } from '../../../server/files/path-bytes.ts';
import { isNestedRepository, parseStatus } from '../../../server/git/ask/status-format.ts';
import { isNewEnough, parseVersion } from '../../../server/git/process/version.ts';
import { parseWorktreeList } from '../../../server/git/refs/worktree-list-format.ts';

const sha = 'a'.repeat(40);

suite('git formats: status', () => {
  const check = (records: readonly string[], expected: unknown): void => {
    const { head, branch, entries } = parseStatus(
      Buffer.from(records.map((each) => `${each}\0`).join('')),
    );
    const short = entries.map((entry) => [
      entry.kind,
      shown(entry.path),
      `${entry.index}${entry.worktree}`,
      ...(entry.submodule ? ['submodule'] : []),
      ...(isNestedRepository(entry) ? ['nested'] : []),
    ]);
    assert.deepEqual([head, branch, ...short], expected);
  };
  const head = [`# branch.oid ${sha}`, '# branch.head drover/t/1'];
  const ids = `100644 100644 100644 ${sha} ${sha}`;

  test('clean', () => check(head, [sha, 'drover/t/1']));
  test("unreadable folders appear only in git's warnings", () => {
    const warnings = "warning: could not open directory 'a/b c/': Permission denied\n";
    const all = `${warnings}${warnings}warning: something else\nwarning: could not open directory 'it's/': x\n`;
    assert.deepEqual(parseStatus(Buffer.from(''), all).unreadable, ['a/b c/', "it's/"]);
    assert.deepEqual(parseStatus(Buffer.from('')).unreadable, []);
  });
  test('empty output is handled', () => check([], [null, null]));
  test('a detached HEAD without a commit is read', () => {
    check(['# branch.oid (initial)', '# branch.head main'], [null, 'main']);
    check([`# branch.oid ${sha}`, '# branch.head (detached)', '# stash 2'], [sha, null]);
  });
  test('changed, staged, untracked and ignored files are read', () =>
    check(
      [
        ...head,
        `1 .M N... ${ids} a b.txt`,
        `1 A. N... ${ids} ü.txt`,
        '? new',
        '! .env',
        '? inner/',
      ],
      [
        sha,
        'drover/t/1',
        ['changed', 'a b.txt', '.M'],
        ['changed', 'ü.txt', 'A.'],
        ['untracked', 'new', '.?'],
        ['ignored', '.env', '.!'],
        ['untracked', 'inner/', '.?', 'nested'],
      ],
    ));
  test('unmerged, submodule and renamed entries are read', () =>
    check(
      [
        ...head,
        `u UU N... 100644 100644 100644 100644 ${sha} ${sha} ${sha} both sides.txt`,
        `1 .M SC.. 160000 160000 160000 ${sha} ${sha} lib`,
        `2 R. N... ${ids} R100 new name`,
        'old name',
        '? after',
      ],
      [
        sha,
        'drover/t/1',
        ['unmerged', 'both sides.txt', 'UU'],
        ['changed', 'lib', '.M', 'submodule'],
        ['changed', 'new name', 'R.'],
        ['untracked', 'after', '.?'],
      ],
    ));
  test('names with line breaks and broken records are handled', () =>
    check(
      [...head, '? a\nb', '1 short', 'x what'],
      [sha, 'drover/t/1', ['untracked', 'a\nb', '.?']],
    ));
});

suite('git formats: merge-tree', () => {
  const check = (code: number, text: string, expected: unknown): void =>
    assert.deepEqual(parseMergeTree(code, Buffer.from(text)), expected);
  const [x, y, z] = ['1', '2', '3'].map((digit) => digit.repeat(40));
  test('clean', () => check(0, `${sha}\0`, { tree: sha, conflicts: [] }));
  test('a conflict is read', () =>
    check(
      1,
      [
        sha,
        `100644 ${x} 1\ta.txt`,
        `100755 ${y} 2\ta.txt`,
        `100644 ${z} 3\ta.txt`,
        `100644 ${y} 2\ta b\nc`,
      ].join('\0'),
      {
        tree: sha,
        conflicts: [
          { path: 'a.txt', mode: '100755', base: x, ours: y, theirs: z },
          { path: 'a b\nc', mode: '100644', base: null, ours: y, theirs: null },
        ],
      },
    ));
  test('exit 1 without a tree is not a conflict', () => {
    check(1, '', null);
    check(1, 'merge-tree: x - not something we can merge', null);
    check(128, `${sha}\0`, null);
    check(0, '', null);
  });
});

suite('git formats: the rest', () => {
  test('the worktree list is read', () =>
    assert.deepEqual(
      parseWorktreeList(
        Buffer.from(
          `worktree /a b\0HEAD ${sha}\0branch refs/heads/main\0\0` +
            `worktree /c\0HEAD ${sha}\0detached\0prunable gitdir file points to non-existent location\0\0` +
            `worktree /d\0HEAD ${'0'.repeat(40)}\0branch refs/heads/new\0locked\0\0worktree /e\0bare\0\0`,
        ),
      ),
      [
        {
          path: '/a b',
          head: sha,
          branch: 'refs/heads/main',
          prunable: false,
          bare: false,
          locked: false,
        },
        { path: '/c', head: sha, branch: null, prunable: true, bare: false, locked: false },
        {
          path: '/d',
          head: null,
          branch: 'refs/heads/new',
          prunable: false,
          bare: false,
          locked: true,
        },
        { path: '/e', head: null, branch: null, prunable: false, bare: true, locked: false },
      ],
    ));
  test('configuration is read', () => {
    const item = (...parts: readonly string[]): string => parts.map((part) => `${part}\0`).join('');
    const listed = parseListed(
      Buffer.from(
        item('system', 'file:/etc/gitconfig', 'include.path\nelsewhere') +
          item('global', 'file:/h/.gitconfig', 'user.name\nA\nB') +
          item('local', 'file:.git/config', 'core.bare') +
          item('local', 'file:.git/config', 'user.name\nlast') +
          item('local', 'file:.git/config', 'include.path\n../.gitconfig') +
          item('worktree', 'file:/r/.git/config.worktree', 'includeif.gitdir:/x/.path\n~/more'),
      ),
      '/r',
      '/h',
    );
    assert.deepEqual(listed.values.get('user.name'), ['A\nB', 'last']);
    assert.deepEqual(listed.values.get('core.bare'), ['true']);
    assert.deepEqual(listed.included, ['/r/.gitconfig', '/h/more']);
  });
  test('commit objects are read', () => {
    const text = `tree ${sha}\nparent ${sha}\nparent ${'b'.repeat(40)}\nauthor x\n\nparent ${'c'.repeat(40)}\n`;
    assert.deepEqual(parseCommit(text), { tree: sha, parents: [sha, 'b'.repeat(40)] });
    assert.deepEqual(parseCommit(`tree ${sha}\nauthor x\n\n`), {
      tree: sha,
      parents: [],
    });
    assert.equal(parseCommit('abc'), null);
  });
  test('versions are read', () => {
    const check = (text: string, version: string | null, enough: boolean): void => {
      assert.equal(parseVersion(text), version);
      assert.equal(isNewEnough(version ?? '0'), enough);
    };
    check('git version 2.39.5', '2.39.5', true);
    check('git version 2.50.1 (Apple Git-155)\n', '2.50.1', true);
    check('git version 2.38.0.windows.1', '2.38.0', true);
    check('git version 2.37.7', '2.37.7', false);
    check('git version 3.0', '3.0', true);
    check('usage: git', null, false);
  });
  test('paths keep their bytes', () => {
    const bytes = Buffer.from([0x61, 0xff, 0xc3, 0xbc, 0x0a]);
    const [path = ''] = splitZero(Buffer.concat([bytes, Buffer.from([0])]));
    assert.deepEqual(toBytes(path), bytes);
    assert.deepEqual(zeroEnded([path]), Buffer.concat([bytes, Buffer.from([0])]));
    assert.deepEqual(splitZero(Buffer.from('')), []);
  });
});
