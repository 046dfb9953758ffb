// Interrupted attempts: no agent runs beside its former self, and earlier work is not forgotten.

import assert from 'node:assert/strict';
import { Refusal } from '../../../server/core/failure.ts';
import type { DurableRun } from '../../../server/durable/port.ts';
import type { Claim, Tx } from '../../../server/store/port.ts';
import { claimTask } from '../../../server/store/work/claims.ts';
import { executeTask } from '../../../server/workflows/attempt/execute-task.ts';
import { engineOfRun } from '../../../server/workflows/kit/engine-of-run.ts';
import { Switchboard, type Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { submit } from '../../../server/workflows/attempt/submission.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from '../store/memory-store.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';
import { tablesOf } from '../../tables.ts';

suite('an attempt that was interrupted', () => {
  let project: TestStore;
  let id: string;
  setup(async () => {
    project = await memoryStore();
    id = (await addTasks(project, [{ title: 'A' }]))['A'] ?? '';
  });
  teardown(() => project.close());

  const claimOn = (machine: string): Promise<Claim | null> =>
    project.store.transaction((tx) =>
      claimTask(tx, project.sources, {
        taskId: id,
        runId: 'run',
        owner: machine,
        machine,
        agent: 'command',
        model: null,
        step: 0,
        agentResumes: true,
        sessionId: 's',
        plansFirst: false,
      }),
    );

  async function returned(number: number, base: string | null): Promise<void> {
    await tablesOf(project.store.db)
      .updateTable('attempts')
      .set({ state: 'interrupted', base_sha: base })
      .where('task_id', '=', id)
      .where('number', '=', number)
      .execute();
    await moveTask(project, id, ['ready']);
    const data = { reason: 'its machine is gone' };
    await project.store.transaction((tx) =>
      project.store.append(tx, { type: 'task.returned', taskId: id, data }),
    );
  }

  const last = (): Promise<{
    number: number;
    state: string;
    continues_from: string | null;
    failure_kind: string | null;
  }> =>
    tablesOf(project.store.db)
      .selectFrom('attempts')
      .select(['number', 'state', 'continues_from', 'failure_kind'])
      .where('task_id', '=', id)
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();

  /** Its agent has ended well, and nothing is in its worktree. */
  async function submitUnchanged(claim: Claim): Promise<void> {
    await moveTask(project, id, ['in_progress']);
    const { store, sources } = project;
    const engine = {
      store,
      clock: sources.clock,
      chance: () => 0,
      mask: (text: string) => text,
      settings: () => ({ agents: noFallback, agentKind: 'command' }),
    } as unknown as Engine;
    const untested = { test_mode: 'disabled', test_scope: 'skip', test_command: null } as const;
    const task = { type: 'other', ...untested };
    const committed = { commit: 'b', tree: null, changed: false, held: [], protected: [] };
    const work = { runRow: {}, place: {}, committed, task, summary: 'done' };
    const submission = work as unknown as Parameters<typeof submit>[3];
    await store.transaction((tx) => submit(engine, tx, claim, submission));
  }

  async function addRun(): Promise<void> {
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values({
        id: 'run',
        state: 'active',
        land: 'task',
        target_branch: 'main',
        line: 'main',
        base_sha: 'b',
        flags: '{}',
        workers: 1,
        started_at_ms: 1,
      })
      .execute();
  }

  const statusNow = async (): Promise<{ status: string; attempts: number }> =>
    tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['status', 'attempts'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();

  async function waitMs(): Promise<number> {
    const { next_attempt_at_ms: atMs } = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select('next_attempt_at_ms')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return (atMs ?? 0) - project.sources.nowMs;
  }

  test('it does not start again in this process before its previous execution has ended', async () => {
    const claim = await claimOn('north');
    assert.ok(claim);
    await addRun();
    const switchboard = new Switchboard();
    const parts = { store: project.store, machineId: 'north', switchboard };
    const said: string[] = [];
    const commit = async (name: string): Promise<void> => void said.push(name);
    const run = { signal: new AbortController().signal, commit } as unknown as DurableRun<Tx>;
    const engine = engineOfRun(parts as unknown as Engine, run);
    const former = Promise.withResolvers<void>();
    const held = switchboard.turns.run(id, () => former.promise);
    // Reassigned work stops at once: only whether it waits is tested here.
    const next = executeTask(engine, run, { ...claim, epoch: claim.epoch - 1 });
    await tablesOf(project.store.db).selectFrom('runs').selectAll().execute();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(said, []);
    former.resolve();
    await Promise.all([held, next]);
    assert.deepEqual(said, ['stopped']);
  });

  test("it is continued elsewhere, from its machine's pushed work", async () => {
    await claimOn('north');
    await returned(1, 'b');
    await claimOn('south');
    assert.equal((await last()).continues_from, `drover/${id}/1`);
    await returned(2, null);
    await claimOn('east');
    const { number, continues_from } = await last();
    assert.deepEqual([number, continues_from], [3, `drover/${id}/1`], 'the second had no worktree');
  });

  test('it has work if its snapshot shows some, and a new attempt continues from that, once', async () => {
    await claimOn('north');
    await returned(1, 'b');
    const claim = await claimOn('north');
    assert.equal(claim?.attempt, 1, 'its machine is back');
    const kept = JSON.stringify([`refs/drover/work/${id}/1`]);
    await tablesOf(project.store.db).updateTable('tasks').set({ rescue_refs: kept }).execute();
    await submitUnchanged(claim);
    assert.deepEqual(await statusNow(), { status: 'ready', attempts: 0 });
    assert.equal(await waitMs(), 800);
    project.sources.nowMs += 800;
    const next = await claimOn('south');
    assert.ok(next);
    const { number, continues_from } = await last();
    assert.deepEqual([number, continues_from], [2, `drover/${id}/1`]);
    project.sources.nowMs += 1;
    await submitUnchanged(next);
    assert.equal((await statusNow()).status, 'needs_review', 'nobody has cut that one off');
  });

  test('it has changed nothing if there was nothing before', async () => {
    await claimOn('north');
    await returned(1, 'b');
    const claim = await claimOn('north');
    assert.ok(claim);
    await submitUnchanged(claim);
    assert.equal((await statusNow()).status, 'needs_review');
  });

  let ended: number[] = [];
  /**
   * Its workflow, on a machine on which each call to git throws; resolves with the agents that were
   * ended.
   */
  async function executeWhere(claim: Claim, thrown: Error): Promise<readonly number[]> {
    ended = [];
    const git = new Proxy({}, { get: () => () => Promise.reject(thrown) });
    const { store, sources } = project;
    const commit = (_: string, body: (tx: Tx) => Promise<unknown>): Promise<unknown> =>
      store.transaction(body);
    const run = {
      signal: new AbortController().signal,
      commit,
      step: (_: string, body: () => Promise<unknown>) => body(),
      whileHeld: (body: (tx: Tx) => Promise<unknown>) => store.transaction(body),
    } as unknown as DurableRun<Tx>;
    const parts = {
      store,
      git,
      machineId: 'north',
      clock: sources.clock,
      chance: () => 0,
      mask: (text: string) => text,
      places: { root: '/project' },
      report: () => undefined,
      settings: () => ({ agents: noFallback, agentKind: 'command' }),
      processes: {
        endTree: async (_: string, agent: { pid: number } | null) =>
          void ended.push(agent?.pid ?? 0),
      },
      switchboard: new Switchboard(),
    };
    await executeTask(engineOfRun(parts as unknown as Engine, run), run, claim);
    return ended;
  }

  async function claimWithAgent(): Promise<Claim> {
    const claim = await claimOn('north');
    assert.ok(claim);
    await tablesOf(project.store.db)
      .updateTable('attempts')
      .set({ pid: 17, pid_start: 'then', pid_part: id })
      .where('task_id', '=', id)
      .execute();
    return claim;
  }

  const noSpace = 'ENOSPC: no space left on device, write';
  const full = Object.assign(new Error(noSpace), { code: 'ENOSPC' });

  test('after a full disk, it continues later on its machine and uses no attempt, and its agent is stopped', async () => {
    await addRun();
    const claim = await claimWithAgent();
    assert.deepEqual(await executeWhere(claim, full), [17]);
    assert.deepEqual(await statusNow(), { status: 'ready', attempts: 0 });
    assert.equal((await last()).state, 'interrupted');
    project.sources.nowMs += 60_000;
    assert.equal((await claimOn('north'))?.attempt, 1, 'the same attempt');
  });

  test('after a full disk, it waits longer each time, and uses an attempt the sixth time', async () => {
    await addRun();
    const waits: number[] = [];
    for (let times = 1; times <= 6; times += 1) {
      assert.deepEqual(await statusNow(), { status: 'ready', attempts: 0 });
      await executeWhere(await claimWithAgent(), full);
      waits.push(await waitMs());
      project.sources.nowMs += 600_000;
    }
    assert.deepEqual(await statusNow(), { status: 'ready', attempts: 1 });
    assert.deepEqual(waits, [800, 1_600, 3_200, 6_400, 12_800, 800]);
  });

  for (const [what, thrown] of [
    ['a bug', new Error('a bug')],
    ["a full disk of the database's", new Refusal('database', `It is full: ${noSpace}`)],
  ] as const)
    test(`after ${what}, it reports that, and leaves its agent alone`, async () => {
      await addRun();
      const claim = await claimWithAgent();
      await assert.rejects(executeWhere(claim, thrown), thrown);
      assert.deepEqual(ended, []);
    });
});
