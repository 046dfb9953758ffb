// Which unit tests import a file, near ones first: they notice most changes of it, and take a moment.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Imports on the way from a test to the file. */
const stepsMax = 2;
const testsMax = 12;
const imported = /(?:from|import\()\s*'(\.{1,2}\/[^']+\.ts)'/g;

/** Paths below the root: at most twelve, none that is more than two imports away. */
export function nearestTests(root: string, changed: string): readonly string[] {
  const tests = readdirSync(join(root, 'test/unit'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .sort();
  const target = resolve(root, changed);
  return tests
    .map((name) => ({ name, steps: stepsTo(join(root, 'test/unit', name), target) }))
    .filter(({ steps }) => steps <= stepsMax)
    .sort((a, b) => a.steps - b.steps)
    .slice(0, testsMax)
    .map(({ name }) => join('test/unit', name));
}

function stepsTo(test: string, target: string): number {
  let files = [test];
  for (let steps = 1; steps <= stepsMax; steps += 1) {
    files = files.flatMap(importsOf);
    if (files.includes(target)) return steps;
  }
  return Infinity;
}

function importsOf(file: string): string[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(imported)].map(([, path]) => resolve(dirname(file), path ?? ''));
}
