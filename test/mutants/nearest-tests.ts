// The tests that import a file: first those that share words with its name, then close ones. Most
// take little time, and they detect most changes.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Number of imports between a test and the file. */
const stepsMax = 6;
const testsMax = 30;
/** They import their subject; tests in other folders start programs. */
const folders = ['test/unit', 'test/store-sqlite', 'test/git'];
const imported = /(?:from|import\()\s*'(\.{1,2}\/[^']+\.ts)'/g;

/** Paths below the root: at most thirty, none more than six imports away. */
export function nearestTests(root: string, changed: string): readonly string[] {
  const tests = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name))
      .sort(),
  );
  const target = resolve(root, changed);
  return tests
    .map((name) => ({ name, steps: stepsTo(join(root, name), target) }))
    .filter(({ steps }) => steps <= stepsMax)
    .sort(
      (a, b) => sharedWords(b.name, changed) - sharedWords(a.name, changed) || a.steps - b.steps,
    )
    .slice(0, testsMax)
    .map(({ name }) => name);
}

/** Words of both names: even a test that imports everything names its subject. */
function sharedWords(test: string, changed: string): number {
  const wordsOf = (path: string): readonly string[] =>
    path.replace(/^(?:test|server)\/|(?:\.test)?\.ts$/gu, '').split(/[/-]/u);
  const words = new Set(wordsOf(changed));
  return wordsOf(test).filter((word) => words.has(word)).length;
}

function stepsTo(test: string, target: string): number {
  const seen = new Set([test]);
  let files = [test];
  for (let steps = 1; steps <= stepsMax; steps += 1) {
    files = [...new Set(files.flatMap(importsOf))].filter((file) => !seen.has(file));
    if (files.includes(target)) return steps;
    for (const file of files) seen.add(file);
  }
  return Infinity;
}

/** A file's imports do not change between mutants. */
const known = new Map<string, readonly string[]>();

function importsOf(file: string): readonly string[] {
  const read = (): string[] => {
    if (!existsSync(file)) return [];
    const text = readFileSync(file, 'utf8');
    return [...text.matchAll(imported)].map(([, path]) => resolve(dirname(file), path ?? ''));
  };
  const found = known.get(file) ?? read();
  known.set(file, found);
  return found;
}
