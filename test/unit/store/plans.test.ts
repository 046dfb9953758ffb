// Plans in the rows: which attempt plans, how it hands over, and the effect of a person's decision.

import assert from 'node:assert/strict';
import {
  claimTask,
  type Claim,
  lastAttempt,
  setAttempt,
} from '../../../server/store/work/claims.ts';
import type { AttemptRow } from '../../../server/store/port.ts';
import {
  approvedPlan,
  decidePlan,
  lastPlan,
  proposePlan,
} from '../../../server/store/status/plans.ts';
import { showTask } from '../../../server/store/board/show.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from './memory-store.ts';

suite('plans', () => {
  let project: TestStore;
  let sessions = 0;
  setup(async () => {
    project = await memoryStore();
    sessions = 0;
  });
  teardown(() => project.close());

  async function claim(id: string, plansFirst = false, agentResumes = true): Promise<Claim> {
    sessions += 1;
    const claimed = await project.store.transaction((tx) =>
      claimTask(tx, project.sources, {
        machine: '',
        taskId: id,
        runId: 'run',
        owner: 'me',
        agent: 'claude',
        model: null,
        step: 0,
        agentResumes,
        sessionId: `session-${sessions}`,
        plansFirst,
      }),
    );
    return claimed ?? assert.fail('not claimed');
  }

  async function attemptOf(id: string): Promise<AttemptRow> {
    return (await lastAttempt(project.store.db, id)) ?? assert.fail('no attempt');
  }

  /** The running attempt proposes a plan, and the task waits for a person. */
  async function propose(id: string, text: string): Promise<void> {
    await moveTask(project, id, ['in_progress']);
    const { number } = await attemptOf(id);
    await project.store.transaction(async (tx) => {
      await proposePlan(tx, project.sources, { taskId: id, attempt: number, text });
      await setAttempt(tx, id, number, { state: 'succeeded', session_started: 1 });
    });
    await moveTask(project, id, ['needs_review'], { review_kind: 'plan' });
  }

  const decide = (id: string, ...[decision]: [Parameters<typeof decidePlan>[3]]) =>
    project.store.transaction((tx) => decidePlan(tx, project.sources, id, decision));

  async function newTask(fields: { plan?: boolean } = {}): Promise<string> {
    return (await addTasks(project, [{ title: 'A', ...fields }]))['A'] ?? assert.fail();
  }

  test("a task's own value determines whether it plans, otherwise the settings", async () => {
    for (const [fields, plansFirst, expected] of [
      [{}, false, false],
      [{}, true, true],
      [{ plan: true }, false, true],
      [{ plan: false }, true, false],
    ] as const) {
      const id = await newTask(fields);
      assert.equal((await claim(id, plansFirst)).planning, expected);
    }
  });

  test('after an approval, the conversation continues, without any of the planning work', async () => {
    const id = await newTask({ plan: true });
    const first = await claim(id);
    await propose(id, 'ONE');
    assert.equal((await decide(id, { state: 'approved', text: 'CHANGED' }))?.number, 1);
    await moveTask(project, id, ['ready']);
    const second = await claim(id);
    assert.deepEqual([first.planning, second.planning, second.attempt], [true, false, 2]);
    const attempt = await attemptOf(id);
    assert.deepEqual([attempt.session_id, attempt.session_started], ['session-1', 1]);
    assert.equal(attempt.continues_from, null);
    assert.equal((await approvedPlan(project.store.db, id))?.text, 'CHANGED');
  });

  test('after a send-back, it plans again in the same conversation, or in a new one if the agent cannot resume', async () => {
    for (const [resumes, session] of [
      [true, 'session-1'],
      [false, 'session-2'],
    ] as const) {
      sessions = 0;
      const id = await newTask({ plan: true });
      await claim(id, false, resumes);
      await propose(id, 'ONE');
      await decide(id, { state: 'sent_back', comment: 'no' });
      await moveTask(project, id, ['ready']);
      assert.equal((await claim(id, false, resumes)).planning, true);
      assert.equal((await attemptOf(id)).session_id, session);
    }
  });

  test('an undecided plan is dropped, and the next planning attempt starts over', async () => {
    const id = await newTask({ plan: true });
    await claim(id);
    await propose(id, 'ONE');
    await moveTask(project, id, ['cancelled']);
    assert.equal((await lastPlan(project.store.db, id))?.state, 'dropped');
    assert.equal(await decide(id, { state: 'approved' }), null);
    await moveTask(project, id, ['ready']);
    assert.equal((await claim(id)).planning, true);
    assert.equal((await attemptOf(id)).session_id, 'session-2');
  });

  test('a new plan can be requested, and the request withdrawn', async () => {
    const id = await newTask({ plan: true });
    await claim(id);
    await propose(id, 'ONE');
    await decide(id, { state: 'approved' });
    await moveTask(project, id, ['ready']);
    const edit = (plan: boolean) =>
      project.store.transaction((tx) => editTask(tx, project.sources, id, { plan }));
    await edit(true);
    assert.equal(await approvedPlan(project.store.db, id), null);
    assert.equal((await claim(id)).planning, true);
    await moveTask(project, id, ['ready']);
    const { number } = await attemptOf(id);
    await project.store.transaction((tx) => setAttempt(tx, id, number, { state: 'interrupted' }));
    await edit(false);
    const built = await claim(id);
    assert.deepEqual([built.planning, built.attempt], [false, number + 1]);
  });

  test('an attempt that started to implement continues to implement', async () => {
    const id = await newTask();
    const { attempt } = await claim(id);
    await moveTask(project, id, ['ready']);
    await project.store.transaction((tx) => setAttempt(tx, id, attempt, { state: 'interrupted' }));
    const again = await claim(id, true);
    assert.deepEqual([again.planning, again.attempt], [false, attempt]);
  });

  test('a view shows the waiting plan, and a single task shows the last plan in full', async () => {
    const id = await newTask({ plan: true });
    await claim(id);
    await propose(id, 'x'.repeat(10_000));
    const view = await showTask(project.store.db, id);
    assert.deepEqual([view.plan, view.proposal?.state], [true, 'proposed']);
    assert.equal(view.proposal?.text.length, 10_000);
  });

  test('a sub-task with its own rule is refused, and the right place is named', async () => {
    const { S = '' } = await addTasks(project, [
      { title: 'P' },
      { title: 'S', parent: 'P', plan: true },
    ]);
    const { warnings } = await showTask(project.store.db, S);
    assert.match(warnings.join(' '), /planned with its parent/);
  });
});
