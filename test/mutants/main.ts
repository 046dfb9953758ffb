// `npm run mutants [-- --count 80 --seed 1 --in server/git/files]`: changes one place of the
// product at a time on a copy of the checkout, and runs the tests until one fails: first the unit
// tests that import the changed file, the slowest last. Prints each change with the suite and the
// test that detected it, and at the end the undetected changes. To run a part: `--from 20`, `--at
// 4,17` (mutants with these numbers), `--suites near,unit`, `--known-green`; `--soak FILE,…`
// instead runs files at the soak's size (`simulation`: 600 seeds).

import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { removeFolder } from '../remove-folder.ts';
import { applied, drawMutations, lineOf } from './mutations.ts';
import { nearestTests } from './nearest-tests.ts';
import { gateSuites, runSuite, soakSuites, type Suite, unitMocha } from './suites.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '80' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    at: { type: 'string' },
    suites: { type: 'string' },
    soak: { type: 'string' },
    /** The suites have passed without a change, so this is not tested again. */
    'known-green': { type: 'boolean', default: false },
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
const left = ['node_modules', '.git', 'out', 'dist', 'lib', '.tsbuild'];

function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'drover-mutants-'));
  const isWanted = (path: string): boolean => !left.some((name) => path.split('/').includes(name));
  for (const name of readdirSync(root).filter(isWanted)) {
    const filter = (path: string): boolean => isWanted(path.slice(root.length + 1));
    cpSync(join(root, name), join(copy, name), { recursive: true, filter });
  }
  for (const name of linked.filter((each) => existsSync(join(root, each)))) {
    symlinkSync(join(root, name), join(copy, name));
  }
  return copy;
}

/**
 * The suites of this part that can detect a change to this file, or all of them if `changed` is
 * null.
 */
function suitesFor(copy: string, changed: string | null): readonly Suite[] {
  if (values.soak !== undefined) return soakSuites(values.soak.split(','));
  const near = changed === null ? [] : nearestTests(copy, changed);
  const all = [
    ...(near.length === 0 ? [] : [{ name: 'near', args: [...unitMocha, ...near] }]),
    ...gateSuites,
  ];
  const wanted = values.suites?.split(',') ?? all.map(({ name }) => name);
  const isOf = ({ of }: Suite): boolean =>
    changed === null || (of?.some((folder) => changed.startsWith(`${folder}/`)) ?? true);
  return all.filter((suite) => wanted.includes(suite.name) && isOf(suite));
}

/** The suite that detects a change to this file, with the test. Returns null if none does. */
async function noticedBy(copy: string, changed: string | null): Promise<string | null> {
  for (const suite of suitesFor(copy, changed)) {
    const { isGreen, by } = await runSuite(suite, copy);
    if (!isGreen) return by === '' ? suite.name : `${suite.name} (${by})`;
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
process.once('exit', () => removeFolder(copy));
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));
const before = values['known-green'] ? null : await noticedBy(copy, null);
if (before !== null) {
  console.error(`Without any change, ${before} fails: first make it pass.`);
  process.exit(1);
}
const chance = new SeededChance(Number(values.seed));
const mutants = drawMutations(sourceFiles(copy), Number(values.count), chance);
const wanted = values.at?.split(',').map(Number) ?? null;
const survivors: string[] = [];
let count = 0;
for (const [index, { file, mutation }] of mutants.entries()) {
  const at = index + 1;
  if (at < Number(values.from) || wanted?.includes(at) === false) continue;
  count += 1;
  writeFileSync(join(copy, file.path), applied(file.text, mutation));
  const what = `${at} ${file.path}:${lineOf(file.text, mutation)} "${mutation.from.trim()}" → "${mutation.to.trim()}"`;
  const by = await noticedBy(copy, file.path);
  writeFileSync(join(copy, file.path), file.text);
  console.log(`${what}: ${by ?? 'SURVIVES'}`);
  if (by === null) survivors.push(what);
}
console.log(`\n${count - survivors.length} of ${count} noticed; not noticed:`);
for (const what of survivors) console.log(`  ${what}`);
