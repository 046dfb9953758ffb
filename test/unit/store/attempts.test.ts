// Attempts and their steps, from the events that the engine writes.

import assert from 'node:assert/strict';
import type { AttemptView } from '../../../server/protocol/panel-views.ts';
import { AttemptSteps } from '../../../server/store/work/attempt-steps.ts';
import { readAttempts } from '../../../server/store/work/attempts.ts';
import { addAttempt, addTasks, memoryStore, refusalOf } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

/** Each takes one second; `~` before a type means that it belongs to a sub-task. */
type Told = readonly [type: string, data?: Readonly<Record<string, unknown>>];

const claimed: Told = ['task.claimed', { worker: '1', attempt: 1 }];
const done: Told = ['agent.ended', { outcome: 'done' }];

function check(
  told: readonly Told[],
  expected: string,
  facts: { readonly gated?: boolean; readonly passedMs?: number; readonly endedMs?: number } = {},
): void {
  const steps = new AttemptSteps(facts.gated ?? true);
  for (const [index, [type, data = {}]] of told.entries()) {
    const isOwn = !type.startsWith('~');
    const event = { type: type.replace('~', ''), atMs: index * 1_000, isOwn, data };
    steps.take(event, facts.passedMs ?? null);
  }
  const text = steps
    .list(facts.endedMs ?? null)
    .map((step) => {
      const end = step.ended_at_ms === null ? '' : step.ended_at_ms / 1_000;
      return `${step.name} ${step.started_at_ms / 1_000}-${end} ${step.outcome}`;
    })
    .join(', ');
  assert.equal(text, expected);
}

suite('steps of an attempt', () => {
  test('the steps go from the worktree to the landing', () => {
    const setup: Told = ['task.phase', { phase: 'setup' }];
    check(
      [
        claimed,
        setup,
        ['task.started'],
        ['worktree.ready'],
        done,
        ['task.committed'],
        ['~task.started'],
        ['task.completed'],
      ],
      'worktree 0-1 done, setup 1-3 done, agent 3-4 done, commit 4-5 done, gate 5-6.5 done, land 6.5-7 done',
      { passedMs: 6_500 },
    );
  });

  test('while an attempt is running, its last step is running', () => {
    check([claimed], 'worktree 0- running');
    check([claimed, ['worktree.ready']], 'worktree 0-1 done, agent 1- running');
    check(
      [claimed, ['worktree.ready'], done, ['task.committed']],
      'worktree 0-1 done, agent 1-2 done, commit 2-3 done, gate 3- running',
    );
  });

  test('without a gate, the attempt lands at once, and an earlier gate does not count', () => {
    check(
      [claimed, ['worktree.ready'], done, ['task.committed'], ['task.completed']],
      'worktree 0-1 done, agent 1-2 done, commit 2-3 done, land 3-4 done',
      { gated: false, passedMs: 100 },
    );
    check(
      [claimed, ['worktree.ready'], done, ['task.committed'], ['task.completed']],
      'worktree 0-1 done, agent 1-2 done, commit 2-3 done, gate 3-3 done, land 3-4 done',
      { passedMs: 100 },
    );
  });

  test('sub-tasks alternate between agent and commit', () => {
    const part: Told = ['~agent.ended', { outcome: 'done' }];
    const committed: Told = ['~task.phase', { phase: 'committed' }];
    check(
      [claimed, ['worktree.ready'], ['~task.claimed'], part, committed, done, ['task.committed']],
      'worktree 0-1 done, agent 1-3 done, commit 3-4 done, agent 4-5 done, commit 5-6 done, gate 6- running',
    );
  });

  test('a failure is shown at its step', () => {
    const failed: Told = ['agent.ended', { outcome: 'failed' }];
    check(
      [claimed, ['worktree.ready'], failed, ['task.retry']],
      'worktree 0-1 done, agent 1-2 failed',
    );
    check([claimed, ['task.started'], ['task.blocked']], 'worktree 0-2 failed');
    const landing = [claimed, ['worktree.ready'], done, ['task.committed']] as const;
    const before = 'worktree 0-1 done, agent 1-2 done, commit 2-3 done';
    check([...landing, ['task.retry', { kind: 'gate_failed' }]], `${before}, gate 3-4 failed`);
    check([...landing, ['task.conflict', { kind: 'conflict' }]], `${before}, land 3-4 failed`);
  });

  test('a pause and a resume are shown', () => {
    check(
      [claimed, ['worktree.ready'], ['task.paused'], ['task.resumed'], claimed, ['worktree.ready']],
      'worktree 0-1 done, agent 1-2 stopped, worktree 4-5 done, agent 5- running',
    );
  });

  test('a review is between the commit and the landing', () => {
    check(
      [
        claimed,
        ['worktree.ready'],
        done,
        ['task.needs_review'],
        ['task.approved'],
        ['task.completed'],
      ],
      'worktree 0-1 done, agent 1-2 done, commit 2-3 done, land 4-5 done',
      { gated: false },
    );
  });

  test('a finished attempt has no running step', () => {
    check([claimed, ['worktree.ready']], 'worktree 0-1 done, agent 1-9 failed', { endedMs: 9_000 });
  });
});

suite('attempts', () => {
  test('attempts are listed with their steps, oldest first, even for a sub-task', async () => {
    const project = await memoryStore();
    const { store, sources } = project;
    const ids = await addTasks(project, [
      { title: 'A' },
      { title: 'S', parent: 'A' },
      { title: 'N' },
    ]);
    const id = ids['A'] ?? '';
    const start = sources.nowMs;
    const say = async (type: string, data: object, atMs: number): Promise<void> => {
      sources.nowMs = start + atMs;
      await store.transaction((tx) =>
        store.append(tx, { type, taskId: id, data: data as Record<string, unknown> }),
      );
    };
    for (const [number, state] of [
      [1, 'failed'],
      [2, 'running'],
    ] as const) {
      const row = { epoch: number, agent: 'demo', session_id: `s${number}`, branch: `b${number}` };
      const times = {
        started_at_ms: start + number * 100,
        ended_at_ms: number === 1 ? start + 150 : null,
      };
      await tablesOf(store.db)
        .insertInto('attempts')
        .values({ ...row, ...times, task_id: id, number, state, cost_usd: 0.5, error: null })
        .execute();
    }
    await say('task.claimed', { worker: '1', attempt: 1 }, 100);
    await say('task.retry', { attempt: 1 }, 150);
    await say('task.claimed', { worker: '1', attempt: 2 }, 200);
    await say('worktree.ready', {}, 230);
    for (const asked of [id, ids['S'] ?? '']) {
      const attempts = await readAttempts(store.db, asked);
      assert.deepEqual(
        attempts.map((attempt) => [attempt.task_id, attempt.number, attempt.cost]),
        [
          [id, 1, 0.5],
          [id, 2, 0.5],
        ],
      );
      assert.deepEqual(attempts.map(namesOf), [
        [['worktree', 100, 150, 'failed']],
        [
          ['worktree', 200, 230, 'done'],
          ['agent', 230, null, 'running'],
        ],
      ]);
    }
    function namesOf(attempt: AttemptView): unknown[] {
      const since = (ms: number | null): number | null => (ms === null ? null : ms - start);
      return attempt.steps.map((step) => [
        step.name,
        since(step.started_at_ms),
        since(step.ended_at_ms),
        step.outcome,
      ]);
    }
    assert.deepEqual(await readAttempts(store.db, ids['N'] ?? ''), []);
    assert.equal((await refusalOf(readAttempts(store.db, 'none'))).kind, 'unknown_id');
    await project.close();
  });

  test("B26: the time of a batch's gate appears in each of its tasks, whatever else was tested", async () => {
    const project = await memoryStore();
    const { store, sources } = project;
    const { A = '', B = '' } = await addTasks(project, [{ title: 'A' }, { title: 'B' }]);
    const start = sources.nowMs;
    const say = async (type: string, taskId: string | null, data: object, atMs: number) => {
      sources.nowMs = start + atMs;
      const told = { type, ...(taskId !== null && { taskId }), data: { ...data } };
      await store.transaction((tx) => store.append(tx, told));
    };
    for (const id of [A, B]) {
      await addAttempt(project, id, { state: 'succeeded', ended_at_ms: start + 1_000 });
      const commit = { commit_sha: 'c'.repeat(40), gate_command: 'make', queued_at_ms: start };
      await tablesOf(store.db)
        .insertInto('landings')
        .values({ ...commit, task_id: id, epoch: 1, attempt: 1, line: 'main', state: 'landed' })
        .execute();
      await say('task.claimed', id, { worker: '1', attempt: 1 }, 100);
      await say('worktree.ready', id, {}, 200);
    }
    await say('gate.passed', null, { task_ids: ['other'] }, 300);
    for (const id of [A, B]) {
      await say('agent.ended', id, { outcome: 'done' }, 400);
      await say('task.committed', id, {}, 500);
    }
    await say('gate.passed', null, { task_ids: [A, B] }, 900);
    await say('gate.passed', null, { task_ids: ['other'] }, 950);
    for (const id of [A, B]) await say('task.completed', id, {}, 1_000);
    for (const id of [A, B]) {
      const [attempt] = await readAttempts(store.db, id);
      const [gate, land] = attempt?.steps.slice(-2) ?? [];
      assert.deepEqual([gate?.name, land?.name], ['gate', 'land']);
      assert.equal((gate?.ended_at_ms ?? 0) - (gate?.started_at_ms ?? 0), 400);
    }
    // A tree that has been tested is not tested again, and the gate of another line does not belong
    // to it.
    await say('task.claimed', A, { worker: '1', attempt: 1 }, 1_100);
    await tablesOf(store.db).deleteFrom('events').where('type', '=', 'gate.passed').execute();
    await say('gate.passed', null, { task_ids: ['other'] }, 1_150);
    await say('worktree.ready', A, {}, 1_200);
    await say('task.committed', A, {}, 1_300);
    await say('task.completed', A, {}, 1_500);
    const [again] = await readAttempts(store.db, A);
    const gate = again?.steps.findLast(({ name }) => name === 'gate');
    assert.equal((gate?.ended_at_ms ?? 0) - (gate?.started_at_ms ?? 0), 200);
    await project.close();
  });
});
