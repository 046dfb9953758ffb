// The wording of what people and agents read, as far as a list can hold it: phrases that need a second reading.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** What stands instead is in the message of the failure. */
const avoided: readonly (readonly [RegExp, string])[] = [
  [/\b(nobody|somebody|whoever)\b/iu, 'name the actor: "No user is signed in"'],
  [/\bat work\b/iu, 'running'],
  [/\bin this moment\b/iu, 'now, just'],
  [/\b(go|goes|gone) on with\b/iu, 'continue, resume'],
  [/\b(is|are|was|were) told\b/iu, 'receives, is given'],
  [/\b(give|gives|given|gave) back\b/iu, 'release, return'],
  [/\banew\b/iu, 'again, start over'],
  [/\bso many times\b/iu, 'this many'],
  [/\bthere (is|are) no\b/iu, '"X does not exist", "No X"'],
  [/\b(has|have) to be\b/iu, 'must be'],
  [/(?<!-)\b(colour|initialis|labelled\b)/iu, 'US spelling'],
];

const literal = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/gu;

function sourceFiles(): readonly string[] {
  return ['server', 'extension', 'webview'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.d)\.(ts|mjs)$/u.test(name))
      .map((name) => join(folder, name)),
  );
}

/** The texts of more than two words in the code, without its comments. */
function sentencesOf(code: string): readonly string[] {
  const lines = code.split('\n').filter((line) => !/^\s*(\/\/|\/?\*)/u.test(line));
  return [...lines.join('\n').matchAll(literal)]
    .map((found) => (found[1] ?? found[2] ?? found[3] ?? '').replaceAll(/\$\{[^}]*\}/gu, '…'))
    .filter((text) => text.trim().split(/\s+/u).length > 2);
}

suite('words', () => {
  test('no text of the product uses a phrase of the list', () => {
    const found = sourceFiles().flatMap((file) =>
      sentencesOf(readFileSync(join(root, file), 'utf8')).flatMap((sentence) =>
        avoided
          .filter(([phrase]) => phrase.test(sentence))
          .map(([, instead]) => `${file}: "${sentence.slice(0, 160)}" (${instead})`),
      ),
    );
    assert.deepEqual(found, []);
  });

  test('each phrase of the list would be found', () => {
    const bad = [
      'Nobody is signed in there.',
      'The backend is at work now.',
      'It changed in this moment.',
      'Tasks are gone on with.',
      'The agent is told this.',
      'Tasks are given back first.',
      'It begins anew there.',
      'It failed so many times.',
      'There is no task x.',
      'id has to be a text',
      'Terminal colours mean nothing',
    ];
    for (const [index, sentence] of bad.entries()) {
      const [text] = sentencesOf(`throw new Error('${sentence}');`);
      assert.match(text ?? '', avoided[index]?.[0] ?? /^$/u);
    }
  });
});
