// Measures the house, for docs/house.md: `node bin/node24.mjs test/measure-house.ts [FOLDER]` prints
// the table of this tree, or of another one.

import { dirname, resolve } from 'node:path';
import { repeatsIn } from './repeated-lines.ts';
import { sharedLets } from './shared-lets.ts';
import { deadExports, importCircles, readSources, root, sourceTops } from './source-files.ts';

const linesMax = 400;
const query = /\.\s*(?:selectFrom|insertInto|updateTable|deleteFrom)\s*\(/gu;

const at = resolve(process.argv[2] ?? root);
const sources = readSources(sourceTops, at);
const code = sources.filter(({ path }) => path.endsWith('.ts'));

const linesOf = (text: string): number => text.split('\n').length - 1;
const total = (files: typeof code): number =>
  files.reduce((sum, { text }) => sum + linesOf(text), 0);
const naming = (word: string): number => code.filter(({ text }) => text.includes(word)).length;

const perFolder = new Map<string, number>();
for (const { path } of code) perFolder.set(dirname(path), (perFolder.get(dirname(path)) ?? 0) + 1);
const sizes = [...perFolder.values()].toSorted((a, b) => a - b);

const outside = code.filter(
  ({ path }) => path.startsWith('server/') && !path.startsWith('server/store/'),
);
const queries = outside.flatMap(({ text }) => text.match(query) ?? []).length;

const disguised = sharedLets(sources).filter(({ lets }) => lets.length > 2).length;
const wholeEngine = code.flatMap(({ path, text }) =>
  /^server\/(workflows|rpc\/handlers)\//u.test(path)
    ? (text.match(/[ ({]engine: Engine\b/gu) ?? [])
    : [],
).length;

const roomOf = (path: string): string =>
  path.split('/', path.startsWith('server/') ? 2 : 1).join('/');
const rooms = new Map<string, typeof code>();
for (const file of code)
  rooms.set(roomOf(file.path), [...(rooms.get(roomOf(file.path)) ?? []), file]);

const rows: readonly (readonly [string, string | number])[] = [
  ['files of production', code.length],
  [
    'folders; files in one: median, largest',
    `${sizes.length}; ${sizes[Math.floor(sizes.length / 2)] ?? 0}, ${sizes.at(-1) ?? 0}`,
  ],
  ['queries outside the store', queries],
  ['circles of imports, of types too', importCircles(sources).length],
  ['pairs that share six lines word for word', repeatsIn(code).length],
  ['files that name `best_of`, `test_scope`', `${naming('best_of')}, ${naming('test_scope')}`],
  ['exports that nothing uses', deadExports(sources).length],
  ['functions that share three variables with those inside of them', disguised],
  ['functions that take the whole engine', wholeEngine],
  [`files over ${linesMax} lines`, code.filter(({ text }) => linesOf(text) > linesMax).length],
  ['lines of production', total(code)],
  ...[...rooms]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([room, files]) => [`lines of ${room}`, total(files)] as const),
];
for (const [name, value] of rows) console.log(`${name} | ${value}`);
