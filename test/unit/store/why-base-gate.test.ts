// A ready task waits for the gate on the branch from which it would start.

import assert from 'node:assert/strict';
import { why } from '../../../server/store/why/why.ts';
import { addTasks, memoryStore, testStartMs, type TestStore } from './memory-store.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';
import { tablesOf } from '../../tables.ts';

suite('why a task waits for the gate on its branch', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  async function ask(id: string, nowMs: number): Promise<string> {
    const facts = { nowMs, agentKind: 'claude', agents: noFallback, gateNeeds: [] };
    return (await why(project.store.db, id, { ...facts, hasBackend: true })).join('\n');
  }

  test('it names the gate, since when it runs, and when the agent starts while it runs', async () => {
    const { A = '', B = '' } = await addTasks(project, [
      { title: 'A' },
      { title: 'B', gate: 'make other' },
    ]);
    const tables = tablesOf(project.store.db);
    const run = {
      id: 'run-all',
      state: 'active',
      started_at_ms: testStartMs,
      workers: 2,
      land: 'task',
      target_branch: 'main',
      line: 'main',
      base_sha: 'a'.repeat(40),
      flags: '{}',
    } as const;
    const running = {
      line: 'main',
      state: 'running',
      asked_ms: testStartMs,
      commit_sha: null,
      command: 'make check',
      workflow: null,
      since_ms: testStartMs,
      wait_ms: 30_000,
      reason: null,
    } as const;
    await tables.insertInto('runs').values(run).execute();
    await tables.insertInto('base_gates').values(running).execute();
    assert.match(
      await ask(A, testStartMs + 12_000),
      /^The gate has been running on main itself for 12 s, .* starts when it passes, or beside it at .* \(in 18 s\)\.$/,
    );
    assert.match(await ask(B, testStartMs + 12_000), /starts in a moment/);
    assert.match(await ask(A, testStartMs + 31_000), /starts in a moment/);
  });
});
