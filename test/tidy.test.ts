// Rules of tidiness that no linter checks: READMEs of rooms have one sentence, and there are no
// cycles and no dead code.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repeatsIn } from './repeated-lines.ts';
import { sharedLets } from './shared-lets.ts';
import {
  deadExports,
  importCircles,
  importedNames,
  namesHandedOn,
  readSources,
  root,
  sourceTops,
} from './source-files.ts';

const filesPerRoomMax = 25;
/** Functions that use most of it, and those built with it. Only ever fewer. */
const wholeEngineMax = 30;
const widthMax = 100;
/** A function whose nested functions assign more of its `let`s than this is a class in disguise. */
const sharedLetsMax = 2;
/** Pairs of places that share six lines word for word. The number may only fall. */
const repeatsMax = 1;

/**
 * Files that re-export names of others, with the reason. Every other name is imported from one
 * place only.
 */
const handingOn: Readonly<Record<string, string>> = {
  'server/store/port.ts': 'the wall round the store: what workflows and requests may take of it',
  'server/protocol/api.ts': 'the wire: its views beside its requests',
  'server/main/wire.ts': 'loaded as one, once there is a backend',
  'server/main/connect.ts': 'what commands load of the backend',
  'server/main/editor.ts': 'what the extension loads of the server',
};

suite('tidy', () => {
  const sources = readSources();
  const code = sources.filter(({ path }) => path.endsWith('.ts'));
  const rooms = Map.groupBy(code, ({ path }) => dirname(path));

  test('no room has more than 25 files', () => {
    const full = [...rooms].filter(([, files]) => files.length > filesPerRoomMax);
    assert.deepEqual(
      full.map(([room, files]) => `${room}: ${files.length}`),
      [],
    );
  });

  test('the README of a room states one invariant below its name', () => {
    for (const room of rooms.keys()) {
      const path = join(root, room, 'README.md');
      if (!existsSync(path)) continue;
      const [title, invariant = '', ...more] = readFileSync(path, 'utf8').split('\n\n');
      assert.equal(title, `# ${room}`);
      assert.match(invariant, /\.$/mu, `${room}: a sentence`);
      assert.deepEqual(more, [], `${room}: the walls are in architecture.test.ts`);
    }
  });

  test('no import cycles, not even of types', () => {
    assert.deepEqual(importCircles(sources), []);
    const planted = [
      { path: 'a.ts', text: '', imports: ['b.ts'] },
      { path: 'b.ts', text: '', imports: ['c.ts'] },
      { path: 'c.ts', text: '', imports: ['a.ts'] },
    ];
    assert.deepEqual(importCircles(planted), [['a.ts', 'b.ts', 'c.ts']]);
  });

  test('every export is used by a production file', () => {
    assert.deepEqual(deadExports(sources), []);
  });

  test('production code has few identical duplicates', () => {
    const repeats = repeatsIn(code);
    const list = repeats.map(({ first, second, lines }) => `${lines} lines: ${first} ~ ${second}`);
    assert.ok(repeats.length <= repeatsMax, `${repeats.length} pairs:\n${list.join('\n')}`);
    const body = Array.from({ length: 7 }, (_, at) => `const value${at} = read(${at});`).join('\n');
    const planted = [
      { path: 'a.ts', text: `// Says it.\nimport { read } from './r.ts';\n${body}\n`, imports: [] },
      { path: 'b.ts', text: `${body.replaceAll(';\n', '; // again\n')}\n`, imports: [] },
      { path: 'c.ts', text: `go();\n\n${body}\nstop();\n`, imports: [] },
    ];
    assert.deepEqual(repeatsIn(planted), [{ first: 'a.ts:3', second: 'c.ts:3', lines: 7 }]);
  });

  test('a name can be imported from only one place', () => {
    const handed = namesHandedOn(code);
    const others = handed.filter(({ by }) => handingOn[by] === undefined);
    assert.deepEqual(
      others.map(({ by, name }) => `${by}: ${name}`),
      [],
    );
    const ofStore = handed.filter(({ by }) => by === 'server/store/port.ts');
    const outside = code.filter(({ path }) => !path.startsWith('server/store/'));
    const twoWays = outside.flatMap((file) =>
      importedNames(file)
        .filter(({ name, from }) =>
          ofStore.some((one) => one.from === from && [name, '*'].includes(one.name)),
        )
        .map(({ name }) => `${file.path}: take ${name} from server/store/port.ts`),
    );
    assert.deepEqual(twoWays, []);
    const text = "export type { A, B as C } from './b.ts';\nimport { type D, E } from '../e.ts';\n";
    const planted = { path: 'x/a.ts', text, imports: [] };
    assert.deepEqual(namesHandedOn([planted]), [
      { by: 'x/a.ts', name: 'A', from: 'x/b.ts' },
      { by: 'x/a.ts', name: 'B', from: 'x/b.ts' },
    ]);
    assert.deepEqual(importedNames(planted), [
      { name: 'D', from: 'e.ts' },
      { name: 'E', from: 'e.ts' },
    ]);
  });

  test('tests remove folders with one function, which waits for processes that still write', () => {
    const others = readSources(['test'])
      .filter(({ path }) => path.endsWith('.ts') && path !== 'test/remove-folder.ts')
      // `fs.`: the text of a script that runs elsewhere.
      .filter(({ text }) => /(?<!\bfs\.)\brm(?:Sync)?\([^;]*recursive: true/u.test(text));
    assert.deepEqual(
      others.map(({ path }) => `${path}: take removeFolder`),
      [],
    );
  });

  test('every dependency is used', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const used = readSources([...sourceTops, 'bin', 'bench', 'build', 'test']).map(
      ({ text }) => text,
    );
    const scripts = ['esbuild.config.mjs', 'package.json']
      .map((name) => readFileSync(join(root, name), 'utf8').replace(/"dev\w+": \{[^}]*\}/u, ''))
      .join('\n');
    // The linter loads its typed rules by itself, and the compiler the types.
    const isLoaded = (name: string): boolean =>
      name === 'oxlint-tsgolint' || name.startsWith('@types/');
    const unused = Object.keys(manifest.devDependencies).filter(
      (name) =>
        !isLoaded(name) &&
        ![`'${name}'`, `'${name}/`, `node_modules/${name}/`].some((way) =>
          used.some((text) => text.includes(way)),
        ) &&
        !scripts.includes(name),
    );
    assert.deepEqual(unused, []);
    assert.equal(manifest.dependencies, undefined, 'what is bundled is a devDependency');
  });

  test('every path in the map, the decisions and the pages exists', () => {
    const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.startsWith('adr/'))
      .map((name) => join('docs', name));
    const missing = ['ARCHITECTURE.md', 'README.md', 'SECURITY.md', ...pages].flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8');
      const named = text.matchAll(/`((?:server|extension|webview)\/[\w./-]+\.ts)`/gu);
      const linked = text.matchAll(/\]\(([^):#]+)(?:#[^)]*)?\)/gu);
      return [
        ...[...named].map(([, path = '']) => path),
        ...[...linked].map(([, path = '']) => join(dirname(page), path)),
      ]
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${page}: ${path}`);
    });
    assert.deepEqual(missing, []);
  });

  test('every decision has a status, names its successor, and is wrapped', () => {
    const folder = join(root, 'docs', 'adr');
    const faults = readdirSync(folder).flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      const status = /^Status: ([^\n]+)/mu.exec(text)?.[1] ?? '';
      const isNamed = status.startsWith('accepted') || /^superseded .*\[ADR \d+\]/u.test(status);
      const wide = text
        .split('\n')
        .filter((line) => line.length > widthMax && !line.startsWith('|'));
      return [
        ...(isNamed ? [] : [`${name}: ${status}`]),
        ...wide.map((line) => `${name}: ${line}`),
      ];
    });
    assert.deepEqual(faults, []);
  });

  test('private members of a class are #fields, because the keyword hides nothing at run time', () => {
    // Nothing else keeps a constructor private to its class, and `protected` has no field of its
    // own.
    const keyword = /^\s+(?:declare )?private (?!constructor\b)/mu;
    const found = code.filter(({ text }) => keyword.test(text)).map(({ path }) => path);
    assert.deepEqual(found, []);
    assert.match('class A {\n  private readonly a = 1;\n}', keyword);
    assert.doesNotMatch('class A {\n  private constructor() {}\n}', keyword);
  });

  test('code with state is a class, not functions that assign variables of an enclosing function', () => {
    const found = sharedLets(code).filter(({ lets }) => lets.length > sharedLetsMax);
    assert.deepEqual(
      found.map(({ at, lets }) => `${at}: ${lets.join(', ')}`),
      [],
    );
    const planted = `
      export function watch(a: number) {
        let seen = 0, last = 0, hidden = 0, own = 0;
        let list: number[] = [];
        own = a;
        const look = () => { seen += 1; [last] = [seen]; };
        const hide = (hidden: number) => { hidden = 1; list.push(hidden); };
        return { look, hide, add: () => { list = [...list, own]; } };
      }
      const turn = () => { let at = 0; return () => { at++; }; };`;
    assert.deepEqual(sharedLets([{ path: 'a.ts', text: planted, imports: [] }]), [
      { at: 'a.ts: watch', lets: ['seen', 'last', 'list'] },
      { at: 'a.ts: turn', lets: ['at'] },
    ]);
  });

  test('a function names the parts of the engine that it uses', () => {
    const workflows = code.filter(({ path }) => /^server\/(workflows|rpc\/handlers)\//u.test(path));
    const taking = workflows.flatMap(({ path, text }) =>
      [...text.matchAll(/[ ({]engine: Engine\b/gu)].map(() => path),
    );
    const whole = `${taking.length} functions take the whole engine; take Uses<'store' | …>`;
    assert(taking.length <= wholeEngineMax, whole);
  });

  test('workflows are registered in one place, which fences their writes', () => {
    const registering = code.flatMap(({ path, text }) =>
      [...text.matchAll(/\.workflow[<(]/gu)].map(() => path),
    );
    assert.deepEqual(registering, ['server/workflows/engine.ts']);
  });

  test('only one room reads the name of the platform', () => {
    const asking =
      /\bprocess\.platform\b|\bos\.platform\(|import \{[^}]*\bplatform\b[^}]*\} from 'node:os'/u;
    // The second file runs on any Node, before there is code that could load the room.
    const may = new Set(['server/platform/this-platform.ts', 'bin/system.mjs']);
    const found = [...code, ...readSources(['bin', 'build'])].filter(({ path, text }) => {
      const body = text.replaceAll(/^\s*(\/\/|\/?\*).*$/gmu, '');
      return !may.has(path) && asking.test(body);
    });
    assert.deepEqual(
      found.map(({ path }) => `${path}: ask thisPlatform for an ability`),
      [],
    );
    assert.match("if (process.platform === 'win32') return;", asking);
  });

  test('no comment is wider than 100 columns', () => {
    const wide = code.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          /^\s*(\/\/|\/\*\*?|\*) /u.test(line) && line.length > widthMax && !line.includes('://')
            ? [`${path}:${at + 1}`]
            : [],
        ),
    );
    assert.deepEqual(wide, []);
  });
});
