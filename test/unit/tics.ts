// Counts phrases that follow another language's grammar, by the same patterns at any commit: `node
// bin/node24.mjs test/unit/tics.ts [commit]`. Without a commit, it counts the work tree.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const commit = process.argv[2];

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1024 ** 3 });
}

interface Source {
  readonly path: string;
  readonly text: string;
}

function readSources(): readonly Source[] {
  const listed =
    commit === undefined ? git('ls-files') : git('ls-tree', '-r', '--name-only', commit);
  return listed
    .split('\n')
    .filter((path) => /^(?:server|extension|webview|bin|build|bench|test)\/.*\.m?ts$/u.test(path))
    .filter((path) => path !== 'test/unit/tics.ts')
    .map((path) => ({
      path,
      text:
        commit === undefined
          ? readFileSync(join(root, path), 'utf8')
          : git('show', `${commit}:${path}`),
    }));
}

/** Lines of comments, without code spans. */
function commentsOf({ text }: Source): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => /^\s*(?:\/\/|\/?\*)(.*)$/u.exec(line)?.[1] ?? [])
    .map((line) => line.replaceAll(/`[^`]*`/gu, '…').trim());
}

const testName =
  /\b(?:test|suite|check|describe)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/gu;

function testNamesOf({ text }: Source): readonly string[] {
  return [...text.matchAll(testName)].map((found) => found[1] ?? found[2] ?? '');
}

const exported = /^export (?:async )?(?:function|const|class) (\w+)/gmu;

function exportsOf({ text }: Source): readonly string[] {
  return [...text.matchAll(exported)].map((found) => found[1] ?? '');
}

const tics: Readonly<Record<string, RegExp>> = {
  what: /\bwhat\b/iu,
  where: /\bwhere\b/iu,
  '"Null: …", "; null: …"': /(?:^\*?\s*|[.;,] )(?:null|undefined|true|false|absent): /iu,
  'meanwhile, by then': /\b(?:meanwhile|by then)\b/iu,
  'is no, are no, none': /\b(?:is|are|was|were) (?:none\b|no (?!longer|more))/iu,
  'that is there': /\b(?:that|what) (?:is|are) there\b/iu,
  'Of …, As …, By … as a sentence': /^\*?\s*(?:Of|As|By|Without|Beside) /u,
  'of a person, of a user': /\bof (?:a person|a user)\b/iu,
};
const nameTics =
  /\b(?:what|where|meanwhile|nobody|somebody|told|at work|gone? on|goes on|given? back)\b/iu;
const nameEnds = /[a-z](?:Of|In|On|At|For|Now|Here|Again|Away)$/u;

const sources = readSources();
const isTest = ({ path }: Source): boolean => /^(?:test|bench)\//u.test(path);
const production = sources.filter((source) => !isTest(source)).flatMap(commentsOf);
const tests = sources.filter(isTest).flatMap(commentsOf);
const row = (name: string, ...counts: readonly number[]): void => {
  const cells = counts.map((count) => String(count).padStart(8)).join('');
  process.stdout.write(`${name.padEnd(36)}${cells}\n`);
};

process.stdout.write(`${commit ?? 'work tree'}: lines of comments in production and in tests\n`);
row('all', production.length, tests.length);
for (const [name, tic] of Object.entries(tics)) {
  const count = (lines: readonly string[]): number => lines.filter((line) => tic.test(line)).length;
  row(name, count(production), count(tests));
}
const names = sources.filter(isTest).flatMap(testNamesOf);
row(
  'test names: all, with a tic',
  names.length,
  names.filter((name) => nameTics.test(name)).length,
);
const own = sources.filter((source) => !isTest(source)).flatMap(exportsOf);
row(
  'exports: all, ending in Of, In, …',
  own.length,
  own.filter((name) => nameEnds.test(name)).length,
);
const illegal = sources
  .filter((source) => !isTest(source))
  .map(({ text }) => text.split("'illegal'").length - 1);
row(
  "'illegal'",
  illegal.reduce((sum, count) => sum + count, 0),
);
