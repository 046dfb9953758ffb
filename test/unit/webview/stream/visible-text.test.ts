// Agents' text cannot hide, move, link or turn anything.

import assert from 'node:assert/strict';
import {
  onlyColours,
  visibleLine,
  visiblePieces,
  visibleText,
} from '../../../../webview/shared/looks/visible-text.ts';

suite('visible text', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['plain text stays', 'a\tb\nc', 'a\tb\nc'],
    ['colours go', '\u001b[31mred\u001b[0m', 'red'],
    ['cursor moves go', 'a\u001b[2J\u001b[1;1Hb\u001b[3Ac', 'abc'],
    ['window titles go', '\u001b]0;owned\u0007x', 'x'],
    ['links lose their target', '\u001b]8;;command:evil\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['clipboard writes go', '\u001b]52;c;ZXZpbA==\u0007y', 'y'],
    ['device strings go', '\u001bPq#0\u001b\\z', 'z'],
    ['short escapes go', '\u001bc\u001b7\u001b(Bw', 'w'],
    ['an unfinished sequence is shown', 'a\u001b]0;never ends', 'a␛]0;never ends'],
    ['a lone escape is shown', 'a\u001b', 'a␛'],
    ['NUL is shown', 'a\u0000b', 'a␀b'],
    ['DEL is shown', 'a\u007fb', 'a␡b'],
    ['eight-bit controls are shown', 'a\u009b31mb', 'aU+009B31mb'],
    ['text that turns the direction is shown', 'a\u202eb\u2066c', 'aU+202EbU+2066c'],
    ['characters without width are shown', 'a\u200bb\ufeffc', 'aU+200BbU+FEFFc'],
    ['tags are shown', 'a\u{e0041}', 'aU+E0041'],
    ['emoji with joiners stay', '👩‍💻', '👩‍💻'],
    ['other scripts stay', 'שלום ‌مرحبا', 'שלום ‌مرحبا'],
    ['line ends of Windows are line ends', 'a\r\nb', 'a\nb'],
    ['a bare carriage return is shown', 'a\rb', 'a␍b'],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => assert.equal(visibleText(text), expected));
  }

  test('only colors are left for the coloring', () => {
    assert.equal(
      onlyColours('\u001b[1;31ma\u001b[2K\u001b[38:5:208mb'),
      '\u001b[1;31ma\u001b[38;5;208mb',
    );
  });

  test('control characters are distinguished from the same letters as text', () => {
    assert.deepEqual(visiblePieces('U+202E\u202e'), [
      { text: 'U+202E', isSign: false },
      { text: 'U+202E', isSign: true },
    ]);
  });

  test('one line stays one line', () => {
    assert.equal(visibleLine('  a\n\tb \u2028c '), 'a b c');
  });

  test('a megabyte of incomplete sequences takes negligible time', () => {
    const text = '\u001b]'.repeat(500_000);
    assert.equal(visibleText(text).length, text.length);
  });
});
