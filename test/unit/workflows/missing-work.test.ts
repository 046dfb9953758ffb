// Finished work that only the clone of another machine has: it is neither landed nor blamed on a
// task.

import assert from 'node:assert/strict';
import { err, failure, ok } from '../../../server/core/failure.ts';
import type { DurableRun } from '../../../server/durable/port.ts';
import { gitFailure } from '../../../server/git/failures.ts';
import { claimTask } from '../../../server/store/work/claims.ts';
import type { Claim, LandingRow, Tx } from '../../../server/store/port.ts';
import { executeTask } from '../../../server/workflows/attempt/execute-task.ts';
import { readQueuedWork, whyUnmergeable } from '../../../server/workflows/landing/landing-rows.ts';
import { returnLanding } from '../../../server/workflows/landing/landing-returns.ts';
import { approve } from '../../../server/workflows/person/reviews.ts';
import { engineOfRun } from '../../../server/workflows/kit/engine-of-run.ts';
import { Switchboard, type Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';

const commit = 'c0ffee'.repeat(6).padEnd(40, '0');
const cleaned = 'c1ea'.repeat(10);
const nowhere = err(gitFailure('unknown_ref', 'neither here nor there'));

suite('finished work that was never pushed', () => {
  let project: TestStore;
  let id: string;
  setup(async () => {
    project = await memoryStore();
    id = (await addTasks(project, [{ title: 'A' }]))['A'] ?? '';
    const machine = { labels: '[]', state: 'left', agents_max: 1, room: 1, version: '1' };
    await tablesOf(project.store.db)
      .insertInto('machines')
      .values({ id: 'm-1', name: 'north', joined_at_ms: 1, alive_until_ms: 1, ...machine })
      .execute();
    const land = 'task' as const;
    const run = { land, target_branch: 'main', line: 'main', base_sha: 'b', flags: '{}' };
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values({ id: 'run', state: 'active', workers: 1, started_at_ms: 1, ...run })
      .execute();
  });
  teardown(() => project.close());

  async function claimOn(machine: string): Promise<Claim> {
    const more = { agent: 'command', model: null, step: 0, agentResumes: true, plansFirst: false };
    const claim = await project.store.transaction((tx) =>
      claimTask(tx, project.sources, {
        taskId: id,
        runId: 'run',
        owner: machine,
        machine,
        sessionId: 's',
        ...more,
      }),
    );
    return claim ?? assert.fail('nobody else has it');
  }

  /** Committed on north, which has left. */
  async function committed(failureKind: string | null = null): Promise<void> {
    await claimOn('m-1');
    await tablesOf(project.store.db)
      .updateTable('attempts')
      .set({ state: 'interrupted', base_sha: 'b', commit_sha: commit, failure_kind: failureKind })
      .execute();
    await moveTask(project, id, ['ready']);
  }

  function south(publish: () => unknown): Engine {
    const { store, sources } = project;
    return {
      store,
      clock: sources.clock,
      machineId: 'm-2',
      owner: 'south',
      chance: () => 0,
      mask: (text: string) => text,
      report: () => {},
      switchboard: new Switchboard(),
      git: {
        sharedRemote: {},
        publish: async () => publish(),
        treeOf: async () => nowhere,
        mergeBase: async () => null,
      },
    } as unknown as Engine;
  }

  const run = {
    signal: new AbortController().signal,
    step: async (_name: string, body: () => Promise<unknown>) => body(),
    commit: async (_name: string, body: (tx: Tx) => Promise<unknown>) =>
      project.store.transaction(body),
    whileHeld: async (body: (tx: Tx) => Promise<unknown>) => project.store.transaction(body),
  } as unknown as DurableRun<Tx>;

  const attempts = () =>
    tablesOf(project.store.db)
      .selectFrom('attempts')
      .select(['number', 'state', 'failure_kind', 'error', 'continues_from'])
      .orderBy('number')
      .execute();
  const task = () =>
    tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['status', 'attempts', 'blocked_reason'])
      .executeTakeFirstOrThrow();

  for (const kind of [null, 'push_refused']) {
    test(`a new attempt starts without using one, and the old one names the clone (${kind})`, async () => {
      await committed(kind);
      const claim = await claimOn('m-2');
      assert.equal(claim.commitSha, commit);
      assert.equal(
        await executeTask(
          engineOfRun(
            south(() => nowhere),
            run,
          ),
          run,
          claim,
        ),
        'unpublished',
      );
      assert.deepEqual(await task(), { status: 'ready', attempts: 0, blocked_reason: null });
      const next = await claimOn('m-2');
      assert.deepEqual([next.attempt, next.commitSha], [2, null]);
      const [first, second] = await attempts();
      assert.deepEqual([first?.state, first?.failure_kind], ['failed', 'interrupted']);
      assert.equal(
        first?.error,
        `The finished work of ${id} is not on the git remote: commit ${commit.slice(0, 12)}, branch drover/${id}/1, is in the clone of north alone. A new attempt begins.`,
      );
      assert.equal(second?.continues_from, `drover/${id}/1`, 'what was kept of it is gone on from');
    });
  }

  test('a git failure is not reported as a refusal', async () => {
    await committed();
    const claim = await claimOn('m-2');
    const trouble = err(gitFailure('failed', 'the remote denied access to this machine'));
    await executeTask(
      engineOfRun(
        south(() => trouble),
        run,
      ),
      run,
      claim,
    );
    assert.deepEqual(await task(), { status: 'ready', attempts: 0, blocked_reason: null });
    assert.equal((await claimOn('m-2')).commitSha, commit, 'it goes on');
  });

  test('if a server refuses it, the task is held with the name of the clone that has it', async () => {
    await committed();
    const claim = await claimOn('m-2');
    await executeTask(
      engineOfRun(
        south(() => err(gitFailure('refused', 'no.'))),
        run,
      ),
      run,
      claim,
    );
    const { status, blocked_reason: why } = await task();
    assert.equal(status, 'blocked');
    assert.match(why ?? '', /^no\. The finished work is kept: .* in the clone of south$/);
  });

  test('a landing that encounters it returns it unchanged, and blames no agent', async () => {
    const engine = south(() => ok(undefined));
    await committed();
    const claim = await claimOn('m-2');
    await moveTask(project, id, ['in_progress']);
    const row = { task_id: id, attempt: 1, commit_sha: commit, epoch: claim.epoch };
    const work = await readQueuedWork(engine, row as LandingRow);
    const reason = await whyUnmergeable(engine, work, 'b'.repeat(40));
    assert.equal(reason?.kind, 'interrupted');
    assert.match(reason.message, /is in the clone of north alone$/);
    await project.store.transaction((tx) =>
      returnLanding(engine, tx, claim, { reason, atEnd: 'failed', files: null }),
    );
    assert.deepEqual(await task(), { status: 'ready', attempts: 0, blocked_reason: null });
    project.sources.nowMs += 3_600_000;
    assert.equal((await claimOn('m-2')).commitSha, commit);
  });

  test('if git fails a merge because people removed the first commit, the work is not at fault', async () => {
    const base = 'b'.repeat(40);
    await committed();
    await tablesOf(project.store.db).updateTable('attempts').set({ base_sha: base }).execute();
    const row = { task_id: id, attempt: 1, commit_sha: commit } as LandingRow;
    const whereBaseIs = (isThere: boolean, isRead = true): Engine => {
      const git = {
        treeOf: async () => ok('tree'),
        lineCommits: async () => (isRead ? ok([]) : nowhere),
        mergeBase: async () => null,
        isAncestor: async () => isThere,
        readRef: async () => null,
      };
      return { git, store: project.store } as unknown as Engine;
    };
    const work = await readQueuedWork(project, row);
    const why = (...where: Parameters<typeof whereBaseIs>) =>
      whyUnmergeable(whereBaseIs(...where), work, base);
    assert.equal(await why(false), null);
    assert.equal((await why(true))?.kind, 'agent_failed', 'the agent left it out');
    assert.equal(await why(true, false), null, 'git cannot read it at the moment');
  });

  /** Held for a person, who is at another machine than the one that lands. */
  async function held(): Promise<Claim> {
    const claim = await claimOn('m-1');
    const set = { state: 'submitted', base_sha: 'b', commit_sha: commit } as const;
    await tablesOf(project.store.db).updateTable('attempts').set(set).execute();
    const held_files = '["a.bin"]';
    const review_kind = 'held_files' as const;
    const row = { base_sha: 'b', commit_sha: commit, review_kind, held_files };
    await moveTask(project, id, ['in_progress', 'needs_review'], row);
    return claim;
  }

  function desk(publish: (branch: string, sha: string) => unknown): Engine {
    const engine = south(() => ok(undefined));
    const git = {
      sharedRemote: {},
      withoutHeld: async () => ok(cleaned),
      updateRef: async () => ok(undefined),
      publish: async (branch: string, sha: string) => publish(branch, sha),
    };
    const durable = { startIn: async () => {}, wake: () => {} };
    const settings = () => ({ gateCommand: null });
    return { ...engine, git, durable, settings } as unknown as Engine;
  }

  const landings = () =>
    tablesOf(project.store.db).selectFrom('landings').select(['commit_sha', 'state']).execute();

  test('approved work is pushed before it is queued, and if the push is refused, nothing has changed', async () => {
    await held();
    await assert.rejects(
      approve(
        desk(() => err(gitFailure('refused', 'no.'))),
        id,
      ),
      /no\./,
    );
    assert.deepEqual([(await task()).status, await landings()], ['needs_review', []]);
    const pushed: unknown[] = [];
    await approve(
      desk((...args) => {
        pushed.push(args);
        return ok(undefined);
      }),
      id,
    );
    assert.deepEqual(pushed, [[`drover/${id}/1`, cleaned]]);
    assert.deepEqual(await landings(), [{ commit_sha: cleaned, state: 'queued' }]);
  });

  test('approved work whose landing fails temporarily lands as it was approved, without the held files', async () => {
    const claim = await held();
    const engine = desk(() => ok(undefined));
    await approve(engine, id);
    const reason = failure('git_failed', 'the remote is away');
    await project.store.transaction((tx) =>
      returnLanding(engine, tx, claim, { reason, atEnd: 'failed', files: null }),
    );
    project.sources.nowMs += 3_600_000;
    assert.equal((await claimOn('m-2')).commitSha, cleaned);
  });
});
