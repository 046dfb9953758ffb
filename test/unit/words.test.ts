// The wording of texts, comments and pages, as far as a list can check it: phrases that have to be
// read twice.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

type Phrases = readonly (readonly [RegExp, string])[];

/** Each phrase with its replacement, which the failure message names. */
const avoided: Phrases = [
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
  [/\b(shall|nevertheless)\b/iu, 'must, anyway'],
  [/\b(remote|database|server)\b.* (is|are|may be) away\b/iu, 'unreachable'],
];

/** Phrases that comments and pages avoid as well; none of their words appears in texts. */
const avoidedInProse: Phrases = [
  ...avoided.filter(([phrase]) => !/there |colour/u.test(phrase.source)),
  [/\b(begin|begins|began|begun)\b/iu, 'start'],
  [/\b(go|goes|going|gone|went) on\b/iu, 'continue, resume'],
  [/\bbe(en)? told\b/iu, 'receive, get'],
  [/\bin (that|the|the very) moment\b/iu, 'now, at the same time'],
  [/\bwish(es|ed)?\b/iu, 'request, options'],
  [/\bfor good\b/iu, 'permanently'],
  [/\blook(s|ed|ing)? at\b/iu, 'check, read'],
  [/(^\*?\s*|[.;,] )null: /iu, 'null if …, or null for …'],
  [/\bmeanwhile\b/iu, 'in the meantime, during …'],
  [/\bthat (is|are) there\b/iu, 'existing, found'],
];

/** Phrases that only comments avoid, because pages may ask a question in a heading. */
const headless: Phrases = [
  [/(^\*?\s*|[.;,] )(undefined|true|false|absent): /iu, 'undefined if …, absent for …'],
  [/^\*?\s*(What|Where)\b/u, 'name the noun: "The files that …", "The place of …"'],
];

/** Limits that only go down: the lines of comments and pages that still use such a phrase. */
const commentsMax = 0;
const headlessMax = 12;
const pagesMax = 0;

const literal = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/gu;

function sourceFiles(): readonly string[] {
  return ['server', 'extension', 'webview'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.d)\.(ts|mjs)$/u.test(name))
      .map((name) => join(folder, name)),
  );
}

/**
 * The pages that users and contributors read first. The glossary is not among them, because it
 * quotes words to avoid.
 */
function pages(): readonly string[] {
  const own = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'extension/marketplace.md'];
  const folders = ['docs', 'docs/how-to-add', 'media/walkthrough'];
  const others = folders.flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  const quoting = new Set(['docs/glossary.md']);
  return [...own, ...others.filter((name) => name.endsWith('.md') && !quoting.has(name))];
}

/** The texts of more than two words in the code, without its comments. */
function sentencesOf(code: string): readonly string[] {
  const lines = code.split('\n').filter((line) => !/^\s*(\/\/|\/?\*)/u.test(line));
  return [...lines.join('\n').matchAll(literal)]
    .map((found) => (found[1] ?? found[2] ?? found[3] ?? '').replaceAll(/\$\{[^}]*\}/gu, '…'))
    .filter((text) => text.trim().split(/\s+/u).length > 2);
}

function commentsOf(code: string): readonly string[] {
  return code
    .split('\n')
    .flatMap((line) => /^\s*(?:\/\/|\/?\*)(.*)$/u.exec(line)?.[1] ?? [])
    .map((line) => line.replaceAll(/`[^`]*`/gu, '…'));
}

/** Lines of prose without code spans, names in quotes and HTML comments. */
function proseOf(page: string): readonly string[] {
  return page.split('\n').map((line) => line.replaceAll(/`[^`]*`|"[^"]*"|<!--.*?-->/gu, '…'));
}

function phrasesIn(
  files: readonly string[],
  textsOf: (content: string) => readonly string[],
  list: Phrases,
): readonly string[] {
  return files.flatMap((file) =>
    textsOf(readFileSync(join(root, file), 'utf8')).flatMap((text) =>
      list
        .filter(([phrase]) => phrase.test(text))
        .map(([, instead]) => `${file}: "${text.trim().slice(0, 160)}" (${instead})`),
    ),
  );
}

suite('words', () => {
  test('no text of the product uses a phrase of the list', () => {
    assert.deepEqual(phrasesIn(sourceFiles(), sentencesOf, avoided), []);
  });

  test('few comments use such a phrase', () => {
    const found = phrasesIn(sourceFiles(), commentsOf, avoidedInProse);
    assert.ok(found.length <= commentsMax, `${found.length} lines:\n${found.join('\n')}`);
  });

  test('few comments use a colon or What in place of a verb', () => {
    const found = phrasesIn(sourceFiles(), commentsOf, headless);
    assert.ok(found.length <= headlessMax, `${found.length} lines:\n${found.join('\n')}`);
  });

  test('few lines of the pages use such a phrase', () => {
    const found = phrasesIn(pages(), proseOf, avoidedInProse);
    assert.ok(found.length <= pagesMax, `${found.length} lines:\n${found.join('\n')}`);
  });

  test('each phrase of the list is detected', () => {
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
      'What the agent shall do',
      'The remote origin is away.',
    ];
    assert.equal(bad.length, avoided.length);
    for (const [index, sentence] of bad.entries()) {
      const [text] = sentencesOf(`throw new Error('${sentence}');`);
      assert.match(text ?? '', avoided[index]?.[0] ?? /^$/u);
    }
    const badComments: readonly (readonly [string, number])[] = [
      ['  // Goes on where it began.', 2],
      ['  /** Null: nothing waits. */', 1],
      ['   * The branch; absent: any. Waits meanwhile.', 2],
      ['  // What is left of the file that is there.', 2],
    ];
    for (const [line, count] of badComments) {
      const [comment = ''] = commentsOf(`${line}\n  start();`);
      const found = [...avoidedInProse, ...headless].filter(([phrase]) => phrase.test(comment));
      assert.equal(found.length, count, line);
    }
  });
});
