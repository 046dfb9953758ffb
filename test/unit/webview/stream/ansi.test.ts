// Terminal colours as classes of the theme.

import assert from 'node:assert/strict';
import { colourClasses, styledLines } from '../../../../webview/shared/text/ansi.ts';

/** `[class]text|[class]text` for each line, `{n}` in front for overwritten versions. */
function shown(text: string, showOverwritten = false): string {
  return styledLines(text, { showOverwritten })
    .map(({ pieces, overwritten }) => {
      const parts = pieces.map((piece) =>
        piece.classes === '' ? piece.text : `[${piece.classes}]${piece.text}`,
      );
      return `${overwritten === 0 ? '' : `{${overwritten}}`}${parts.join('|')}`;
    })
    .join('\n');
}

suite('ansi', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['plain', 'a\nb', 'a\nb'],
    ['colours', '\u001b[31ma\u001b[0mb', '[fg-red]a|b'],
    ['bright colours', '\u001b[92ma', '[fg-bright-green]a'],
    ['grounds', '\u001b[30;47ma', '[fg-black bg-white]a'],
    ['a colour goes on over lines', '\u001b[34ma\nb\u001b[39mc', '[fg-blue]a\n[fg-blue]b|c'],
    ['bold, italic, underline', '\u001b[1;3;4ma', '[bold italic underline]a'],
    [
      'one piece keeps its style when the next adds to it',
      '\u001b[1ma\u001b[3mb',
      '[bold]a|[bold italic]b',
    ],
    ['hidden text is shown', '\u001b[8ma', 'a'],
    ['reverse changes text and ground', '\u001b[31;42;7ma', '[fg-green bg-red]a'],
    [
      'the 256 colours become the nearest of the theme',
      '\u001b[38;5;196ma\u001b[38;5;21mb',
      '[fg-bright-red]a|[fg-bright-blue]b',
    ],
    ['true colours too', '\u001b[38;2;10;120;10ma', '[fg-green]a'],
    ['greys', '\u001b[38;5;240ma\u001b[38;5;252mb', '[fg-bright-black]a|[fg-white]b'],
    ['broken numbers change nothing', '\u001b[38;5;999ma\u001b[38;2mb\u001b[99mc', 'a|b|c'],
    ['cursor moves go', '\u001b[2Ja\u001b[1Ab', 'ab'],
    ['links go', '\u001b]8;;https://example.com\u0007a\u001b]8;;\u0007', 'a'],
    ['control characters get a sign', 'a\u0000\u202eb', 'a|[sign]␀|[sign]U+202E|b'],
    [
      'an overwritten line shows its last version',
      '1%\r2%\r\u001b[32m100%\u001b[0m\nend',
      '{2}[fg-green]100%\nend',
    ],
    ['a return at the end overwrites nothing', 'a\r\nb\r', 'a\nb'],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => assert.equal(shown(text), expected));
  }

  test('overwritten text can be shown', () => {
    assert.equal(shown('rm -rf /\rls', true), 'rm -rf /|[sign]␍|ls');
  });

  test('HTML is shown as text', () => {
    assert.equal(shown('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>');
  });

  test('classes come from a closed set', () => {
    const texts = Array.from({ length: 256 }, (_, index) => `\u001b[38;5;${index};48;5;${index}mx`);
    const known = new Set(colourClasses);
    for (const line of styledLines(texts.join('\n'))) {
      for (const name of line.pieces.flatMap((piece) => piece.classes.split(' '))) {
        assert.ok(known.has(name), name);
      }
    }
  });
});
