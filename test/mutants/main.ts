// `npm run mutants [-- --count 80 --seed 1 --from 1 --in server/git/files]`: changes one place of the product at a time on a copy of the checkout,
// and runs the tests until one fails: the unit tests that import the changed file first, what takes longest last. Prints each
// change with the suite that has noticed it, and at the end those that none has.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { applied, drawMutations, lineOf } from './mutations.ts';
import { nearestTests } from './nearest-tests.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '80' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    /** Only files whose path starts with this. */
    in: { type: 'string', default: '' },
  },
});

const root = resolve(import.meta.dirname, '../..');
const layers = ['server/core', 'server/workflows', 'server/store', 'server/git'];
const linked = [
  'node_modules',
  'test/agents-under-test/node_modules',
  'test/vscode/host/node_modules',
];
const left = ['node_modules', '.git', 'out', 'dist', '.tsbuild'];
/** A change that makes a suite run this long, for instance without an end, has been noticed. */
const suiteMaxMs = 300_000;

const mocha = ['node_modules/mocha/bin/mocha.js', '--ui', 'tdd', '--bail', '--exit'];
const unitMocha = [...mocha, '--timeout', '30000'];

interface Suite {
  readonly name: string;
  /** Ends with 0 when it has noticed nothing. */
  readonly args: readonly string[];
  /** Only for changes below one of these folders; without: for all. */
  readonly of?: readonly string[];
}

const suites: readonly Suite[] = [
  { name: 'unit', args: [...unitMocha, '--recursive', '--extension', 'ts', 'test/unit'] },
  {
    name: 'store',
    args: [...unitMocha, 'test/store-sqlite/*.test.ts'],
    of: ['server/store'],
  },
  {
    name: 'simulation',
    args: ['test/simulation/main.ts', '--seeds', '60'],
    of: ['server/core', 'server/workflows', 'server/store'],
  },
  {
    name: 'git',
    args: [...mocha, '--timeout', '240000', 'test/git/*.test.ts'],
    of: ['server/git'],
  },
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '-b', 'test'] },
  { name: 'durable', args: [...mocha, '--timeout', '240000', 'test/durable/embedded.test.ts'] },
  { name: 'build', args: ['esbuild.config.mjs'] },
  { name: 'crash', args: [...mocha, '--timeout', '600000', 'test/e2e/crash-steps.test.ts'] },
  { name: 'landing', args: [...mocha, '--timeout', '600000', 'test/e2e/landing.test.ts'] },
];

function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'drover-mutants-'));
  const isWanted = (path: string): boolean => !left.some((name) => path.split('/').includes(name));
  for (const name of readdirSync(root).filter(isWanted)) {
    const filter = (path: string): boolean => isWanted(path.slice(root.length + 1));
    cpSync(join(root, name), join(copy, name), { recursive: true, filter });
  }
  for (const name of linked) symlinkSync(join(root, name), join(copy, name));
  return copy;
}

/** The suite that notices a change of this file; null: none does. */
function noticedBy(copy: string, changed: string | null): string | null {
  const near = changed === null ? [] : nearestTests(copy, changed);
  const first = near.length === 0 ? [] : [{ name: 'near', args: [...unitMocha, ...near] }];
  const later = suites.filter(
    ({ of }) =>
      changed === null || (of?.some((folder) => changed.startsWith(`${folder}/`)) ?? true),
  );
  for (const { name, args } of [...first, ...later]) {
    const ended = spawnSync(process.execPath, args, {
      cwd: copy,
      stdio: 'ignore',
      timeout: suiteMaxMs,
    });
    if (ended.status !== 0) return name;
  }
  return null;
}

function sourceFiles(copy: string): { readonly path: string; readonly text: string }[] {
  return layers
    .flatMap((layer) =>
      readdirSync(join(copy, layer), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
        .map((name) => join(layer, name)),
    )
    .filter((path) => path.startsWith(values.in))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(copy, path), 'utf8') }));
}

const copy = copyCheckout();
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));
const before = noticedBy(copy, null);
if (before !== null) {
  console.error(`The suite ${before} fails without any change: first make it pass.`);
  process.exit(1);
}
const chance = new SeededChance(Number(values.seed));
const mutants = drawMutations(sourceFiles(copy), Number(values.count), chance);
const survivors: string[] = [];
for (const [at, { file, mutation }] of mutants.entries()) {
  if (at + 1 < Number(values.from)) continue;
  writeFileSync(join(copy, file.path), applied(file.text, mutation));
  const what = `${file.path}:${lineOf(file.text, mutation)} "${mutation.from.trim()}" → "${mutation.to.trim()}"`;
  const suite = noticedBy(copy, file.path);
  writeFileSync(join(copy, file.path), file.text);
  console.log(`${at + 1} ${suite ?? 'SURVIVES'} ${what}`);
  if (suite === null) survivors.push(what);
}
console.log(`\n${mutants.length - survivors.length} of ${mutants.length} noticed; not noticed:`);
for (const what of survivors) console.log(`  ${what}`);
