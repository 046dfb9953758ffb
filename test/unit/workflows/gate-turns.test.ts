// Gates of one commit share its folder, so they take turns.

import assert from 'node:assert/strict';
import { err } from '../../../server/core/failure.ts';
import { gitFailure } from '../../../server/git/failures.ts';
import { runGate, type GateQuestion } from '../../../server/workflows/landing/gate.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { memoryStore, type TestStore } from '../store/memory-store.ts';

const question: GateQuestion = {
  commit: 'c'.repeat(40),
  tree: 'a'.repeat(40),
  command: 'check',
  taskIds: [],
  redSinceMs: 0,
};

suite('gates of one commit', () => {
  let project: TestStore;
  let prepared: string[];
  let ready: PromiseWithResolvers<void>;
  let engine: Engine;
  setup(async () => {
    project = await memoryStore();
    prepared = [];
    ready = Promise.withResolvers();
    const prepareSlot = async ({ path }: { path: string }): Promise<unknown> => {
      prepared.push(path);
      await ready.promise;
      return err(gitFailure('failed', 'no space'));
    };
    engine = {
      machineId: '',
      store: project.store,
      places: { worktrees: '/worktrees' },
      settings: () => ({ keepIgnored: true, gateKeeps: [] }),
      git: { prepareSlot },
      foldersOfMachine: project.store.transaction.bind(project.store),
    } as unknown as Engine;
  });
  teardown(() => project.close());

  const lease = async (): Promise<void> => {
    while (prepared.length === 0) await new Promise((resolve) => setImmediate(resolve));
  };

  test('they never run in the same folder at once', async () => {
    const { signal } = new AbortController();
    const first = runGate(engine, question, signal);
    const second = runGate(engine, { ...question, command: 'other' }, signal);
    await lease();
    assert.deepEqual(prepared, ['/worktrees/gate-1']);
    ready.resolve();
    assert.deepEqual([(await first).kind, (await second).kind], ['unusable', 'unusable']);
    assert.deepEqual(prepared, ['/worktrees/gate-1', '/worktrees/gate-1']);
  });

  test('a waiting gate is stopped at once, and never starts', async () => {
    const { signal } = new AbortController();
    const stop = new AbortController();
    const first = runGate(engine, question, signal);
    const second = runGate(engine, question, stop.signal);
    await lease();
    stop.abort();
    assert.deepEqual(await second, { kind: 'aborted' });
    ready.resolve();
    await first;
    assert.equal((await runGate(engine, question, signal)).kind, 'unusable');
    assert.equal(prepared.length, 2);
  });
});
