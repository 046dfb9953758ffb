// No text of an agent or a task can control the terminal.

import assert from 'node:assert/strict';
import { jsonLine, plainLine, plainText } from '../../../server/cli/plain-text.ts';

suite('text for a terminal', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['plain', 'plain'],
    ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
    ['windows\r\nlines', 'windows\nlines'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b[2J\u001b[Hcleared', 'cleared'],
    ['\u001b]0;title\u0007after', 'after'],
    ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['back\b\b\bspace', 'backspace'],
    ['over\rwritten', 'overwritten'],
    ['\u009b31mC1', 'C1'],
    ['bell\u0007', 'bell'],
    ['del\u007f', 'del'],
    ['turned\u202eback', 'turnedU+202Eback'],
    ['iso\u2066late\u2069', 'isoU+2066lateU+2069'],
    ['zero\u200bwidth \u{e0041}tag', 'zeroU+200Bwidth U+E0041tag'],
    ['\u0000nul', 'nul'],
    ['half an escape \u001b', 'half an escape '],
    ['日本語 🐑', '日本語 🐑'],
  ];
  for (const [given, expected] of cases) {
    test(JSON.stringify(given), () => assert.equal(plainText(given), expected));
  }

  test('one line stays one line', () => {
    assert.equal(plainLine('  a\n\tb  \r\n c '), 'a b c');
  });

  test('JSON keeps the same data and has no raw control characters', () => {
    const value = { text: 'a\u009b31m\u007f\u2028\u001b\u202e\u2066\u{e0041} 🐑' };
    const line = jsonLine(value);
    assert.deepEqual(JSON.parse(line), value);
    // Contains only printable characters.
    assert.match(line, /^[^\p{Cc}\u2028-\u202e\u2066-\u2069\u{e0041}]*$/u);
  });
});
