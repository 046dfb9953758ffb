// Names that Windows, macOS or git itself refuse, and pairs that are one file there.

import assert from 'node:assert/strict';
import {
  caseClashes,
  isLeftOutByGit,
  whyNotPortable,
} from '../../../server/core/plan/portable-names.ts';

suite('portable names', () => {
  const rows: readonly (readonly [reason: RegExp, names: readonly string[]])[] = [
    [
      /device name/u,
      ['nul', 'NUL', 'a/con', 'Con.txt', 'aux.c', 'prn', 'com1', 'lpt9.log', 'com¹', 'CONIN$'],
    ],
    [/device name/u, ['nul /x', 'src/aux/b.ts', 'nul.tar.gz']],
    [/not allow : in/u, ['a:b', 'src/12:30.log']],
    [/not allow \S in/u, ['a<b', 'a>b', 'a"b', 'a|b', 'what?', 'a*b', 'a\\b']],
    [/a control character/u, ['a\u0001b', 'a\nb', 'tab\there']],
    [/not allow a dot or a space at the end/u, ['end.', 'end ', 'a./b', 'folder /b', '...']],
    [
      /git ignores/u,
      ['.GIT', 'a/.Git/x', 'git~1', 'GIT~1/f', '.git ', '.git...', '.g\u200cit', '.git::$INDEX'],
    ],
  ];
  for (const [reason, names] of rows) {
    for (const name of names) {
      test(JSON.stringify(name), () => assert.match(whyNotPortable(name) ?? '', reason));
    }
  }

  test('ordinary and odd names that every system accepts are allowed', () => {
    const free =
      "README.md .gitignore .github/x git .gitx git~2 null console.ts auxiliary.c com10 lpt com a.con ..a Grüße/漢字 -f it's #x %41 a~1 x.nul";
    for (const name of [...free.split(' '), 'a b', ' lead', 'Grüße 🐑.txt'])
      assert.equal(whyNotPortable(name), null, name);
  });

  test('names that git itself rejects are distinguished', () => {
    for (const name of ['.GIT/config', 'a/git~1', '.g\u200cit']) assert.ok(isLeftOutByGit(name));
    for (const name of ['nul', 'a:b', '.gitmodules', 'end.']) assert.ok(!isLeftOutByGit(name));
  });

  function clash(paths: readonly string[], added: readonly string[], expected: object): void {
    const found = caseClashes([...paths, ...added], new Set(added));
    assert.deepEqual(Object.fromEntries(found), expected);
  }

  test('two paths that differ only by case are one file', () => {
    clash(['Chat.ts'], ['chat.ts'], { 'chat.ts': 'Chat.ts' });
    clash(['src/Chat.ts'], ['src/chat.ts', 'src/b.ts'], { 'src/chat.ts': 'src/Chat.ts' });
    clash(['Src/a.ts'], ['src/b.ts'], { 'src/b.ts': 'Src' });
    clash(['docs'], ['Docs/a.md'], { 'Docs/a.md': 'docs' });
    clash(['\u00e9.txt'], ['e\u0301.txt'], { 'e\u0301.txt': '\u00e9.txt' });
    clash([], ['A.ts', 'a.ts'], { 'a.ts': 'A.ts' });
  });
  test('an existing pair and a renamed file do not clash', () => {
    clash(['Chat.ts', 'chat.ts'], ['new.ts'], {});
    clash(['Src/a.ts', 'src/b.ts'], ['src/c.ts'], {});
    clash(['other.ts'], ['chat.ts'], {});
  });
});
