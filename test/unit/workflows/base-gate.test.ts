// The gate on the tip that tasks start from: a short one is waited for, a long one runs beside the
// agents until it turns red.

import assert from 'node:assert/strict';
import { ok } from '../../../server/core/failure.ts';
import {
  endBaseGate,
  keepGateVerdict,
  newestRun,
  readBaseGate,
  type RunRow,
} from '../../../server/store/port.ts';
import { baseState } from '../../../server/workflows/landing/base-gate.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { memoryStore, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';

const tip = 'c'.repeat(40);
const verdict = {
  command: 'check',
  ok: 1,
  exit_code: 0,
  output_tail: '',
  flaky: 0,
  at_ms: 1,
};

suite('the gate on the tip that tasks start from', () => {
  let project: TestStore;
  let engine: Engine;
  let run: RunRow;
  let started: string[];
  let names: string[];
  let nowMs: number;

  setup(async () => {
    project = await memoryStore();
    [started, names, nowMs] = [[], ['package.json'], 1_000];
    engine = {
      machineId: '',
      store: project.store,
      clock: { now: () => nowMs },
      settings: () => ({ gateCommand: 'check' }),
      git: {
        readRef: () => Promise.resolve(tip),
        treeOf: () => Promise.resolve(ok('a'.repeat(40))),
        namesAtRoot: () => Promise.resolve(ok(names)),
      },
      durable: {
        startIn: (_tx: unknown, _name: string, id: string) => {
          started.push(id);
          return Promise.resolve();
        },
        wake: () => {},
        get: () => Promise.resolve({ state: 'running' }),
      },
    } as unknown as Engine;
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values({
        id: 'run-1',
        state: 'active',
        started_at_ms: 1,
        workers: 2,
        land: 'task',
        target_branch: 'main',
        line: 'main',
        base_sha: tip,
        flags: '{}',
      })
      .execute();
    const row = await newestRun(project.store.db);
    assert.ok(row);
    run = row;
  });
  teardown(() => project.close());

  const kindAt = async (ms: number): Promise<string> => {
    nowMs = ms;
    return (await baseState(engine, run)).kind;
  };
  const end = async (state: 'green' | 'red'): Promise<void> => {
    const known = await readBaseGate(project.store.db, 'main');
    await project.store.transaction((tx) =>
      endBaseGate(tx, 'main', known?.workflow ?? '', { state, reason: state }),
    );
  };

  test('it is waited for, and started once', async () => {
    assert.equal(await kindAt(1_000), 'runs');
    assert.equal(await kindAt(20_000), 'runs');
    await end('green');
    assert.equal(await kindAt(20_001), 'clear');
    assert.equal(started.length, 1);
  });

  test('after half a minute it runs while agents start, and stops further starts when it is red', async () => {
    assert.equal(await kindAt(1_000), 'runs');
    assert.equal(await kindAt(31_001), 'clear');
    await end('red');
    assert.deepEqual(await baseState(engine, run), {
      kind: 'red',
      reason: 'red',
      red: { kind: 'red_base', line: 'main', on: 'main', commit: tip, branch: null, at_ms: 31_001 },
    });
  });

  test('it is not waited for if it took longer than that before', async () => {
    await project.store.transaction((tx) =>
      keepGateVerdict(tx, { ...verdict, tree_sha: 'b'.repeat(40), duration_ms: 31_000 }),
    );
    assert.equal(await kindAt(1_000), 'clear');
    assert.equal(started.length, 1);
    await end('red');
    assert.equal(await kindAt(1_001), 'red');
  });

  test('it does not run on a tree that has passed it', async () => {
    await project.store.transaction((tx) =>
      keepGateVerdict(tx, { ...verdict, tree_sha: 'a'.repeat(40), duration_ms: 10 }),
    );
    assert.equal(await kindAt(1_000), 'clear');
    assert.deepEqual(started, []);
  });

  test('it does not run on a tip without a file that it could test', async () => {
    names = ['.gitignore', '.drover.toml', 'README.md', 'LICENSE', 'NOTES.md'];
    assert.equal(await kindAt(1_000), 'clear');
    assert.deepEqual(started, []);
  });
});
