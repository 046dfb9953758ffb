// Small pure parts: targets of commands, settings, refusals, reconnecting, files that others name.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackendFailure, gone, toFailure } from '../../../extension/backend/failure.ts';
import { Reconnecting } from '../../../extension/backend/reconnecting.ts';
import { landedEpic, readTarget } from '../../../extension/commands/target.ts';
import { namedPlaces } from '../../../extension/links/named-places.ts';
import { fileInside } from '../../../extension/links/file-inside.ts';
import {
  settingNames,
  settingTable,
  settingValue,
  settingVariables,
  type ExtensionSettings,
} from '../../../extension/project/settings-table.ts';
import { noteSession } from '../../../extension/webviews/host-restart.ts';
import { reasonOfRefusal, unavailable } from '../../../extension/project/unavailable.ts';
import { epicView } from '../../doubles/views.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('extension targets', () => {
  const cases: readonly (readonly [string, readonly unknown[], readonly string[], unknown])[] = [
    ['nothing', [], [], { ids: [], attempt: null, isExplicit: false }],
    ['the selection', [], ['a', 'b'], { ids: ['a', 'b'], attempt: null, isExplicit: false }],
    ['an id', ['x'], ['a'], { ids: ['x'], attempt: null, isExplicit: true }],
    [
      'a row of a webview',
      [{ webview: 'drover.tree', webviewSection: 'task', taskId: 'x', status: 'ready' }],
      [],
      { ids: ['x'], attempt: null, isExplicit: true },
    ],
    ['an epic row', [{ epicId: 'e' }], [], { ids: ['e'], attempt: null, isExplicit: true }],
    ['an attempt', [{ task: 'x', attempt: 2 }], [], { ids: ['x'], attempt: 2, isExplicit: true }],
    [
      'a row inside of the selection: all of it',
      [{ taskId: 'a' }],
      ['a', 'b'],
      { ids: ['a', 'b'], attempt: null, isExplicit: true },
    ],
    ['junk', [{ taskId: 3, ids: [4] }], [], { ids: [], attempt: null, isExplicit: false }],
  ];
  for (const [name, args, selection, wanted] of cases) {
    test(`targets are read from ${name}`, () => {
      assert.deepEqual(readTarget(args, selection), wanted);
    });
  }

  test('undo applies to an epic that landed as a whole, from its menu and by selection', () => {
    const epics = [
      epicView({ id: 'open' }),
      epicView({ id: 'landed', landing_state: 'landed' }),
      epicView({ id: 'review', landing_state: 'needs_review' }),
    ];
    const found = (args: readonly unknown[], selection: readonly string[]): string | undefined =>
      landedEpic(epics, readTarget(args, selection).ids)?.id;
    assert.equal(found([{ webviewSection: 'epic', epicId: 'landed' }], []), 'landed');
    assert.equal(found([], ['landed']), 'landed');
    assert.equal(found([], ['open', 'review', 'a task']), undefined);
  });
});

suite('extension settings', () => {
  test('settings fall back to defaults for invalid values', () => {
    assert.equal(settingValue('agent', 'rm -rf'), '');
    assert.equal(settingValue('agent', 'claude'), 'claude');
    assert.equal(settingValue('workers', -1), 0);
    assert.equal(settingValue('workers', '3'), 0);
    assert.equal(settingValue('showPreflight', 'no'), true);
    assert.equal(settingValue('gate', 7), '');
  });

  test('settings reach a run as variables, and have no effect if they are empty', () => {
    const fallbacks = Object.fromEntries(
      settingNames.map((name) => [name, settingTable[name].fallback]),
    ) as unknown as ExtensionSettings;
    assert.deepEqual(settingVariables(fallbacks), {});
    assert.deepEqual(
      settingVariables({ ...fallbacks, agent: 'demo', workers: 4, gate: 'npm test' }),
      { DROVER_AGENT_TYPE: 'demo', DROVER_WORKERS: '4', DROVER_GATE: 'npm test' },
    );
  });
});

suite('extension failures', () => {
  const wire = (code: unknown, data?: unknown): Error =>
    Object.assign(new Error('words'), { code, data });
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['a refusal', wire(-32010, { kind: 'cycle' }), 'cycle'],
    ['a refusal without a kind', wire(-32010), 'refused'],
    ['a connection that ended', wire(-32097), 'gone'],
    ['a closed wire', wire(1), 'gone'],
    ['a fault of the socket', wire('ECONNRESET'), 'gone'],
    ['a fault of the backend', wire(-32603), 'internal'],
    ['our own mistake', new TypeError('words'), 'internal'],
    ['a failure as it is', new BackendFailure('protocol', 'words'), 'protocol'],
    ['what is no error', 'words', 'gone'],
  ];
  for (const [name, error, kind] of cases) {
    test(`know ${name}`, () => {
      const failure = toFailure(error);
      assert.equal(failure.kind, kind);
      const isWire = name === 'a connection that ended' || name === 'a closed wire';
      assert.equal(failure.message, isWire ? gone().message : 'words');
    });
  }

  test('a failure leads to a state with a next step', () => {
    assert.equal(reasonOfRefusal('protocol'), 'backend_version');
    assert.equal(reasonOfRefusal('greeting'), 'backend_version');
    assert.equal(reasonOfRefusal('socket'), 'backend_failed');
    const state = unavailable('backend_failed', 'The socket path is too long.');
    assert.equal(state.message, 'The socket path is too long.');
    assert.equal(state.action?.command, 'drover.reconnect');
  });
});

suite('extension reconnecting', () => {
  test('it retries at once, then at growing intervals, and stops eventually', () => {
    let nowMs = 0;
    const reconnecting = new Reconnecting(() => nowMs);
    const delays = Array.from({ length: 13 }, () => reconnecting.nextDelayMs());
    assert.deepEqual(delays.slice(0, 7), [0, 100, 400, 1_000, 2_000, 5_000, 5_000]);
    assert.equal(delays.at(-1), null);
    reconnecting.connected();
    nowMs += 20_000;
    assert.equal(reconnecting.nextDelayMs(), 0);
  });

  test('it does not restart for a connection that breaks at once', () => {
    const reconnecting = new Reconnecting(() => 0);
    assert.equal(reconnecting.nextDelayMs(), 0);
    reconnecting.connected();
    assert.equal(reconnecting.nextDelayMs(), 100);
    reconnecting.reset();
    assert.equal(reconnecting.nextDelayMs(), 0);
  });
});

suite('extension: files of others', () => {
  let folder = '';
  suiteSetup(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-inside-')));
    for (const name of ['repo', 'worktree', 'repo-beside']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'repo', 'a.txt'), '');
    writeFileSync(join(folder, 'worktree', 'b.txt'), '');
    writeFileSync(join(folder, 'repo-beside', 'c.txt'), '');
    writeFileSync(join(folder, 'secret.txt'), '');
    symlinkSync(join(folder, 'secret.txt'), join(folder, 'repo', 'link.txt'));
  });
  suiteTeardown(() => removeFolder(folder));

  const cases: readonly (readonly [string, string | null])[] = [
    ['a.txt', 'repo/a.txt'],
    ['WT/b.txt', 'worktree/b.txt'],
    ['../secret.txt', null],
    ['link.txt', null],
    ['../repo-beside/c.txt', null],
    ['missing.txt', null],
    ['.', null],
    ['a.txt\0', null],
  ];
  for (const [path, wanted] of cases) {
    test(`${JSON.stringify(path)} is ${wanted === null ? 'refused' : 'opened'}`, async () => {
      const folders = [join(folder, 'repo'), join(folder, 'worktree')];
      const named = path.replace('WT', join(folder, 'worktree'));
      const found = await fileInside(named, folders);
      assert.equal(found, wanted === null ? null : join(folder, wanted));
    });
  }
});

suite('extension host restarts', () => {
  test('panels are lost only with the extension host of the same window', () => {
    const kept = new Map<string, unknown>();
    const memory = {
      get: <T>(key: string): T | undefined => kept.get(key) as T | undefined,
      update: async (key: string, value: unknown) => void kept.set(key, value),
    };
    const note = (session: string): string => noteSession(memory as never, session);
    assert.deepEqual(['one', 'one', 'two', 'two'].map(note), ['new', 'same', 'new', 'same']);
    assert.equal(note('someValue.sessionId'), 'unknown');
  });
});

suite('places that output names', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['a stack of Node', '    at f (/w/src/a.ts:3:7)', ['/w/src/a.ts 3']],
    ['a compiler', 'src/b.ts(4,2): error TS2345: no', ['src/b.ts 4']],
    ['pytest', 'tests/test_x.py:12: AssertionError', ['tests/test_x.py 12']],
    ['an address', 'file:///w/c.mjs:9:1', ['/w/c.mjs 9']],
    ['the same place once', 'a.go:3: x\na.go:3: y', ['a.go 3']],
    ['neither the runtime nor dependencies', 'node:internal/x.js:3:4\nnode_modules/m/i.js:1:1', []],
    ['neither times nor versions', '# duration_ms 535.32\n1.5.3:7 12:30', []],
  ];
  for (const [name, text, places] of cases) {
    test(`know ${name}`, () => {
      assert.deepEqual(
        namedPlaces(text).map(({ path, line }) => `${path} ${line}`),
        places,
      );
    });
  }
});
