// The walls that the compiler cannot enforce: which layer imports which, and the sizes of files.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { measureGitHouse } from './git-house.ts';
import { readSources, root } from './source-files.ts';
import type { Store, Tx } from '../server/store/port.ts';

/**
 * The limits of `server/git`. They may only decrease: `node bin/node24.mjs test/git-house.ts`
 * prints the current figures.
 */
const gitMost = { lines: 14594, rooms: 10, arrows: 27, floors: 6 };

const projectRooms = ['server/project', 'server/core', 'server/protocol', 'server/store'];

type IsNever<Type> = [Type] extends [never] ? true : false;

/** Layer → layers whose files it may import. `x/port` means the port file alone. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'server/core': [],
  'server/protocol': ['server/core'],
  'server/files': ['server/core', 'server/platform'],
  'server/platform': ['server/core'],
  'server/config': ['server/core'],
  'server/durable': ['server/core', 'server/platform'],
  'server/store': ['server/core', 'server/protocol', 'server/durable'],
  'server/git': ['server/core', 'server/files', 'server/platform'],
  'server/agents': [
    'server/core',
    'server/files',
    'server/platform',
    'server/protocol/agent-events',
  ],
  'server/sandbox': ['server/core', 'server/platform'],
  'server/workers': ['server/core', 'server/files', 'server/platform'],
  'server/forge': ['server/core', 'server/platform'],
  'server/web': ['server/core', 'server/files', 'server/protocol'],
  'server/workflows': [
    'server/core',
    'server/durable/port',
    'server/store/port',
    'server/git/port',
    'server/git/sha',
    'server/git/slot-port',
    'server/git/snapshot-port',
    'server/agents/port',
    'server/protocol/agent-events',
  ],
  'server/rpc': [
    'server/core',
    'server/protocol',
    'server/config',
    'server/platform',
    'server/store',
    'server/workflows',
  ],
  'server/cli': [
    'server/core',
    'server/platform',
    'server/protocol',
    'server/config',
    'server/store',
    'server/rpc',
    'server/workflows',
  ],
  // The rooms of a backend beside its engine: each layer works with an opened project.
  'server/output': ['server/core', 'server/store', 'server/agents'],
  'server/project': [
    'server/core',
    'server/protocol',
    'server/files',
    'server/platform',
    'server/config',
    'server/durable',
    'server/store',
    'server/git',
    'server/agents',
    'server/output',
  ],
  'server/confinement': [
    'server/core',
    'server/protocol',
    'server/project',
    'server/agents',
    'server/sandbox',
    'server/rpc/transport/address',
  ],
  'server/webhooks': projectRooms,
  'server/telemetry': [...projectRooms, 'server/webhooks/post'],
  'server/remote': [
    'server/core',
    'server/protocol',
    'server/project',
    'server/files',
    'server/platform',
    'server/agents',
    'server/git',
    'server/workers',
  ],
  'server/fleet': [
    ...projectRooms,
    'server/platform',
    'server/durable',
    'server/git',
    'server/workflows',
    'server/output',
  ],
  'server/upkeep': [...projectRooms, 'server/files', 'server/git', 'server/platform'],
  'server/agent-tools': [
    'server/core',
    'server/protocol',
    'server/agents/port',
    'server/rpc',
    'server/workflows',
    'server/project',
  ],
  'server/planning': ['server/core', 'server/protocol', 'server/agents', 'server/project'],
  'server/doctor': [
    ...projectRooms,
    'server/agents',
    'server/git',
    'server/fleet',
    'server/forge-work',
    'server/confinement',
  ],
  'server/forge-work': [...projectRooms, 'server/forge', 'server/platform', 'server/workflows'],
  // Composition: its files are listed below, and only `cli` imports it.
  'server/main': [],
  extension: ['server/core', 'server/platform', 'server/protocol', 'webview/messages'],
  'webview/messages': ['server/core', 'server/protocol'],
  webview: ['server/core', 'server/protocol'],
};

/** Files that may import everything and wire it by hand, listed by name. */
const entries: ReadonlySet<string> = new Set([
  'extension/work/main.ts',
  'server/cli/process-surroundings.ts',
  // Its texts import files of the sample.
  'server/project/sample.ts',
  ...[
    'backend',
    'backend-main',
    'compose',
    'connect',
    'data-handlers',
    'data-project',
    'demo',
    'editor',
    'handlers',
    'mcp-main',
    'network-gate',
    'open-project',
    'served-handlers',
    'served-page',
    'remote-attempt',
    'start-backend',
    'wire',
    'worker',
    'worker-runtime-main',
  ].map((name) => `server/main/${name}.ts`),
]);

/** Only these folders contain the PostgreSQL client, with its connections and its errors. */
const mayUsePg = (file: string): boolean =>
  file.startsWith('server/store/postgres/') || file.startsWith('server/durable/fleet/');

/** Tables are queried in one place, so that the meaning of a column is known in one place. */
const mayQuery = (file: string): boolean => file.startsWith('server/store/');

const mayUseKysely = (file: string): boolean =>
  mayQuery(file) || file.startsWith('server/durable/');

const queryPattern =
  /\.\s*(?:selectFrom|insertInto|replaceInto|updateTable|deleteFrom|mergeInto|withRecursive)\s*\(/;

/** Database types; code outside the store gets an opaque handle (`server/store/port.ts`). */
const openTypePattern =
  /import[^;]*\b(?:Db|Reads|Tx)\b[^;]*from '[^']*store\/(?:rows\/one-moment|schema\/tables)\.ts'/;

const mayUseVscode = (file: string): boolean => file.startsWith('extension/');

const importPattern = /\b(?:from|import)\s*\(?\s*'([^']+)'/g;

/** The violations in one file; empty if it respects the walls. */
function violations(file: string, text: string, exempt = entries): string[] {
  const found: string[] = [];
  const layer = Object.keys(mayImport).find((name) => file.startsWith(`${name}/`));
  if (!mayQuery(file)) {
    if (queryPattern.test(text)) found.push(`${file} queries tables; give the store a verb`);
    if (openTypePattern.test(text)) found.push(`${file} takes the store's own database type`);
  }
  for (const [, target] of text.matchAll(importPattern)) {
    if (target === undefined) continue;
    if (target === 'kysely' && !mayUseKysely(file)) found.push(`${file} imports kysely`);
    if (target === 'vscode' && !mayUseVscode(file)) found.push(`${file} imports vscode`);
    if (target === 'pg' && !mayUsePg(file)) found.push(`${file} imports pg`);
    if (layer === 'server/core' && !target.startsWith('.')) found.push(`${file} imports ${target}`);
    if (!target.startsWith('.') || layer === undefined || exempt.has(file)) continue;
    const path = relative(root, resolve(root, dirname(file), target)).replace(/\.ts$/, '');
    const allowed = [layer, ...(mayImport[layer] ?? [])];
    if (!allowed.some((name) => path === name || path.startsWith(`${name}/`))) {
      found.push(`${file} may not import ${path}`);
    }
  }
  return found;
}

/** The room of a driver, if the file is in one; the kit, secrets and plans do not count. */
function driverOf(file: string): string | null {
  const room = /^server\/agents\/([^/]+)\//u.exec(file)?.[1] ?? null;
  return room === null || ['kit', 'secrets', 'plan'].includes(room) ? null : room;
}

/** Adding an agent must not require reading the existing drivers. */
function driverViolations(file: string, imports: readonly string[]): readonly string[] {
  if (!/^server\/agents\/[^/]+\//u.test(file)) return [];
  return imports
    .filter((target) => driverOf(target) !== null && driverOf(target) !== driverOf(file))
    .map((target) => `${file} imports ${target}`);
}

/** Files that are loaded with this one: its static imports, and theirs, but not types. */
function loadedBy(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, names = '', target = ''] of text.matchAll(
    /^(?:import|export)\s([^;']*?)from '(\.[^']+)'/gmu,
  )) {
    const isTypes = /^type\s/u.test(names) || /^\{(\s*type [^,}]+,?)+\s*\}\s*$/u.test(names);
    if (!isTypes) loadedBy(relative(root, resolve(root, dirname(file), target)), seen);
  }
  return seen;
}

suite('architecture', () => {
  const sources = readSources().filter(({ path }) => path.endsWith('.ts'));
  const files = sources.map(({ path }) => path);

  test('every file respects the walls between layers', () => {
    const found = sources.flatMap(({ path, text }) => violations(path, text));
    assert.deepEqual(found, []);
    const layers = Object.keys(mayImport);
    const outside = files.filter((file) => !layers.some((name) => file.startsWith(`${name}/`)));
    assert.deepEqual(outside, []);
  });

  test('no panel imports another; shared code is in webview/shared', () => {
    const panelOf = (file: string): string | undefined => /^webview\/([^/]+)\//.exec(file)?.[1];
    const common = ['shared', 'messages'];
    const panels = sources.filter(({ path }) => path.startsWith('webview/'));
    const found = panels.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('webview/') && panelOf(target) !== panelOf(path))
        .filter((target) => !common.includes(panelOf(target) ?? ''))
        .map((target) => `${path} imports ${target}`),
    );
    assert.deepEqual(found, []);
  });

  test('no agent driver imports another; shared code is in server/agents/kit', () => {
    const found = sources.flatMap(({ path, imports }) => driverViolations(path, imports));
    assert.deepEqual(found, []);
    const codex = 'server/agents/codex/driver.ts';
    assert.deepEqual(driverViolations(codex, ['server/agents/acp/driver.ts']), [
      'server/agents/codex/driver.ts imports server/agents/acp/driver.ts',
    ]);
    const kit = 'server/agents/kit/wire/usage.ts';
    assert.deepEqual(driverViolations(kit, ['server/agents/amp/run.ts']), [
      'server/agents/kit/wire/usage.ts imports server/agents/amp/run.ts',
    ]);
    assert.deepEqual(driverViolations(codex, [kit, 'server/agents/port.ts']), []);
  });

  test('every exemption from the walls is needed', () => {
    const needless = [...entries].filter(
      (file) => violations(file, readFileSync(join(root, file), 'utf8'), new Set()).length === 0,
    );
    assert.deepEqual(needless, []);
  });

  test('the check itself finds a planted violation', () => {
    const planted = violations('server/core/x.ts', "import { a } from '../git/refs.ts';");
    assert.deepEqual(planted, ['server/core/x.ts may not import server/git/refs']);
    assert.deepEqual(violations('server/git/x.ts', "import * as vscode from 'vscode';"), [
      'server/git/x.ts imports vscode',
    ]);
    assert.deepEqual(violations('server/store/x.ts', "import pg from 'pg';"), [
      'server/store/x.ts imports pg',
    ]);
  });

  test('the check finds a query, or the means for one, outside the store', () => {
    const where = 'server/workflows/x.ts';
    for (const word of ['selectFrom', 'updateTable', 'insertInto', 'deleteFrom']) {
      assert.deepEqual(violations(where, `await tx\n  .${word}('tasks')`), [
        `${where} queries tables; give the store a verb`,
      ]);
    }
    assert.deepEqual(violations(where, "import { sql } from 'kysely';"), [
      `${where} imports kysely`,
    ]);
    const open = "import type { Db } from '../store/rows/one-moment.ts';";
    assert.deepEqual(violations('server/rpc/x.ts', open), [
      "server/rpc/x.ts takes the store's own database type",
    ]);
    assert.deepEqual(violations('server/store/x.ts', "await tx.selectFrom('tasks')"), []);
  });

  test('no query needs the number of rows that a write changed, because a turn does not wait for it', () => {
    const counts = /\bnum(?:Updated|Deleted|InsertedOrUpdated|Changed)Rows\b/;
    const found = readSources(['server/store']).filter(({ text }) => counts.test(text));
    assert.deepEqual(
      found.map(({ path }) => path),
      [],
    );
  });

  test('a query on a handle that the store lends does not compile', () => {
    const closed: readonly [
      IsNever<Store['db']['selectFrom']>,
      IsNever<Tx['selectFrom']>,
      IsNever<Tx['updateTable']>,
      IsNever<Tx['insertInto']>,
      IsNever<Tx['deleteFrom']>,
    ] = [true, true, true, true, true];
    assert.equal(closed.length, 5);
  });

  test('the rooms of git form a few floors, and every arrow between them goes down', () => {
    const { lines, rooms, arrows, floors, upward } = measureGitHouse(sources);
    assert.deepEqual(upward, []);
    const figures = { lines, rooms: rooms.length, arrows: arrows.length, floors };
    for (const [name, value] of Object.entries(figures)) {
      const most = gitMost[name as keyof typeof gitMost];
      assert.ok(value <= most, `${value} ${name}, at most ${most}:\n${arrows.join('\n')}`);
    }
    const file = (path: string, ...imports: readonly string[]): (typeof sources)[number] => ({
      path: `server/git/${path}`,
      text: '',
      imports: imports.map((one) => `server/git/${one}`),
    });
    const planted = [
      file('a/x.ts', 'b/x.ts', 'port.ts'),
      file('b/x.ts'),
      file('port.ts', 'b/x.ts'),
    ];
    const found = measureGitHouse(planted);
    assert.deepEqual(found.arrows, ['a → b']);
    assert.equal(found.floors, 2);
    assert.deepEqual(found.upward, ['server/git/port.ts imports server/git/b/x.ts']);
    assert.equal(measureGitHouse([...planted, file('b/y.ts', 'a/x.ts')]).floors, Infinity);
  });

  test('no file is longer than 400 lines', () => {
    const long = sources.filter(({ text }) => text.split('\n').length > 401);
    assert.deepEqual(
      long.map(({ path }) => path),
      [],
    );
  });

  test('the first line of every file states its purpose', () => {
    const silent = sources.filter(({ text }) => !/^(\/\/|\/\*\*|#!)/.test(text));
    assert.deepEqual(
      silent.map(({ path }) => path),
      [],
    );
  });

  test('a backend without telemetry loads no telemetry code', () => {
    const loaded = loadedBy('server/main/backend-main.ts');
    assert.ok(loaded.has('server/telemetry/export.ts'));
    const found = [...loaded].filter((file) =>
      /telemetry\/exporter|history\/(otlp|spans|task-spans)|store\/history\/(ended-spans|read-history)/.test(
        file,
      ),
    );
    assert.deepEqual(found, []);
  });

  test('no panel loads the schema of its data, because the backend does the checks', () => {
    const mains = files.filter((file) => /^webview\/[^/]+\/main\.ts$/u.test(file));
    assert.ok(mains.length >= 6);
    const loaded = new Set(mains.flatMap((file) => [...loadedBy(file)]));
    assert.ok(loaded.has('server/protocol/log-line.ts'));
    const heavy = [...loaded].filter((file) =>
      /from 'zod'/u.test(readFileSync(join(root, file), 'utf8')),
    );
    assert.deepEqual(heavy, []);
  });

  test('every name has a meaning', () => {
    const empty = files.filter((file) => /(manager|service|helper|util)s?\.ts$/i.test(file));
    assert.deepEqual(empty, []);
  });
});
