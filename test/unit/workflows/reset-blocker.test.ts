// A blocker that is reset between the claim of a task and the choice of its base.

import assert from 'node:assert/strict';
import type { DurableRun } from '../../../server/durable/port.ts';
import type { Claim, Tx } from '../../../server/store/port.ts';
import { claimTask } from '../../../server/store/work/claims.ts';
import { executeTask } from '../../../server/workflows/attempt/execute-task.ts';
import { engineOfRun } from '../../../server/workflows/kit/engine-of-run.ts';
import { Switchboard, type Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('a task whose blocker is reset after the claim', () => {
  let project: TestStore;
  let ids: Readonly<Record<string, string>>;
  let claim: Claim;
  setup(async () => {
    project = await memoryStore();
    ids = await addTasks(project, [{ title: 'A' }, { title: 'B', blocked_by: ['A'] }]);
    await moveTask(project, ids['A'] ?? '', ['claimed', 'in_progress', 'completed']);
    const run = { land: 'task', target_branch: 'main', line: 'main', base_sha: 'b' } as const;
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values({ id: 'run', state: 'active', flags: '{}', workers: 1, started_at_ms: 1, ...run })
      .execute();
    claim = await claimed();
  });
  teardown(() => project.close());

  async function claimed(): Promise<Claim> {
    const more = { agent: 'command', model: null, step: 0, agentResumes: true, plansFirst: false };
    const request = { taskId: ids['B'] ?? '', runId: 'run', owner: 'o', machine: '', ...more };
    const made = await project.store.transaction((tx) =>
      claimTask(tx, project.sources, { ...request, sessionId: 's' }),
    );
    return made ?? assert.fail('B cannot be claimed');
  }

  /** Every commit is the tip of main, so that any base would do. */
  async function execute(): Promise<string> {
    const { store, sources } = project;
    const run = {
      signal: new AbortController().signal,
      commit: (_: string, body: (tx: Tx) => Promise<unknown>) => store.transaction(body),
      step: async (
        _: string,
        body: () => Promise<unknown>,
        record: (tx: Tx, made: unknown) => Promise<void> = async () => {},
      ) => {
        const made = await body();
        await store.transaction((tx) => record(tx, made));
        return made;
      },
      whileHeld: (body: (tx: Tx) => Promise<unknown>) => store.transaction(body),
    } as unknown as DurableRun<Tx>;
    const failed = { ok: false, error: { kind: 'failed', message: 'a base was chosen' } };
    const engine = {
      store,
      git: {
        facts: {},
        readRef: async () => 'tip',
        isAncestor: async () => true,
        snapshotAt: async () => failed,
      },
      machineId: '',
      clock: sources.clock,
      chance: () => 0,
      mask: (text: string) => text,
      report: () => undefined,
      places: { root: '/project', worktrees: '/trees' },
      settings: () => ({ agents: { fallback: [], fallbackOf: {}, modelOf: {} } }),
      switchboard: new Switchboard(),
    } as unknown as Engine;
    return executeTask(engineOfRun(engine, run), run, claim);
  }

  const taskNow = () =>
    tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['status', 'blocked_reason', 'attempts', 'claimed_by'])
      .where('id', '=', ids['B'] ?? '')
      .executeTakeFirstOrThrow();

  test('it waits for the blocker again, and starts once the blocker has landed', async () => {
    await moveTask(project, ids['A'] ?? '', ['ready']);
    assert.equal(await execute(), 'no_base');
    assert.deepEqual(await taskNow(), {
      status: 'blocked',
      blocked_reason: null,
      attempts: 0,
      claimed_by: null,
    });
    await moveTask(project, ids['A'] ?? '', ['claimed', 'in_progress', 'completed']);
    assert.equal((await taskNow()).status, 'ready');
    assert.equal((await claimed()).attempt, 1, 'the same attempt');
  });

  test('it starts at once if the blocker has landed again in between', async () => {
    await moveTask(project, ids['A'] ?? '', ['ready', 'claimed', 'in_progress', 'completed']);
    assert.equal(await execute(), 'failed', 'a base was chosen');
  });
});
