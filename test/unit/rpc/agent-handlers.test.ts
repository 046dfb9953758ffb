// An agent's requests are accepted or refused by the rules, in one transaction, and only while its
// attempt is running.

import assert from 'node:assert/strict';
import { Refusal } from '../../../server/core/failure.ts';
import type { AgentHandlers, AgentParams } from '../../../server/protocol/agent-requests.ts';
import { createAgentHandlers } from '../../../server/rpc/handlers/agent-tools.ts';
import { claimTask, endQuestion, setAttempt } from '../../../server/store/port.ts';
import { beginSubTask } from '../../../server/store/status/transition.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import {
  Switchboard,
  type AgentScope,
  type Engine,
} from '../../../server/workflows/kit/engine-ports.ts';
import { memoryStore, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';
import { AgentNotes } from '../../../server/rpc/handlers/agent-messages.ts';

interface Host {
  readonly project: TestStore;
  readonly switchboard: Switchboard;
  /** The running task, and one that waits for it. */
  readonly own: string;
  readonly later: string;
  readonly other: string;
  readonly scope: AgentScope;
  handlers(scope?: Partial<AgentScope>): AgentHandlers;
}

async function host(): Promise<Host> {
  const project = await memoryStore();
  const { store, sources } = project;
  const switchboard = new Switchboard();
  const engine = {
    store,
    switchboard,
    clock: sources.clock,
    mask: (text: string) => text.replaceAll('hunter2', '[hidden]'),
  } as unknown as Engine;
  const ids = await store.transaction(async (tx) => {
    const own = (await addTask(tx, sources, { title: 'Own' })).id;
    const later = (await addTask(tx, sources, { title: 'Later', blocked_by: [own] })).id;
    const other = (await addTask(tx, sources, { title: 'Other' })).id;
    return { own, later, other };
  });
  const claim = await store.transaction(async (tx) => {
    const claimed = await claimTask(tx, sources, {
      machine: '',
      taskId: ids.own,
      runId: 'run-1',
      owner: '1',
      agent: 'command',
      model: null,
      step: 0,
      agentResumes: false,
      sessionId: 'session',
      plansFirst: false,
    });
    await store.transition(tx, { taskId: ids.own, to: 'in_progress', event: 'task.started' });
    await setAttempt(tx, ids.own, 1, { pid: 1, pid_start: '1', pid_part: ids.own });
    return claimed ?? assert.fail('not claimed');
  });
  const { taskId, epoch, attempt, runId } = claim;
  const scope = { taskId, part: taskId, attempt, epoch, runId };
  const deps = { engine, settings: () => ({ maxAttempts: 3, defaultLabels: ['house'] }) };
  const notes = new AgentNotes();
  return {
    project,
    switchboard,
    scope,
    ...ids,
    handlers: (changed = {}) => createAgentHandlers(deps, { ...scope, ...changed }, notes),
  };
}

suite('requests of agents', () => {
  let here: Host;
  setup(async () => {
    here = await host();
  });
  teardown(() => here.project.close());

  async function everything(): Promise<unknown> {
    const { db } = here.project.store;
    return {
      tasks: await tablesOf(db).selectFrom('tasks').selectAll().execute(),
      edges: await tablesOf(db).selectFrom('task_dependencies').selectAll().execute(),
      events: await tablesOf(db).selectFrom('events').selectAll().execute(),
      questions: await tablesOf(db).selectFrom('questions').selectAll().execute(),
    };
  }

  async function refuses(request: Promise<unknown>, sentence: RegExp): Promise<void> {
    const before = await everything();
    await assert.rejects(
      request,
      (error) => error instanceof Refusal && sentence.test(error.message),
    );
    assert.deepEqual(await everything(), before);
  }

  test("a sub-task is below the task, ready, while the task's attempt continues", async () => {
    const added = await here.handlers()['agent.add']({
      kind: 'sub_task',
      title: 'Part with hunter2',
      accept: ['It is done.'],
    });
    assert.deepEqual([added.id, added.status, added.left], [`${here.own}.1`, 'ready', 19]);
    const row = await tablesOf(here.project.store.db)
      .selectFrom('tasks')
      .selectAll()
      .where('id', '=', added.id)
      .executeTakeFirstOrThrow();
    assert.deepEqual(
      [row.parent_id, row.title, row.labels, row.max_attempts],
      [here.own, 'Part with [hidden]', '["house"]', 3],
    );
  });

  test('a follow-up waits for the task and for the named tasks', async () => {
    const added = await here.handlers()['agent.add']({
      kind: 'follow_up',
      title: 'Afterwards',
      blocked_by: [here.other],
    });
    const edges = await tablesOf(here.project.store.db)
      .selectFrom('task_dependencies')
      .select('blocked_by')
      .where('task_id', '=', added.id)
      .orderBy('blocked_by')
      .execute();
    assert.equal(added.status, 'blocked');
    assert.deepEqual(
      edges.map((edge) => edge.blocked_by),
      [here.own, here.other].sort(),
    );
  });

  for (const kind of ['sub_task', 'follow_up']) {
    test(`the same ${kind} is not added twice`, async () => {
      const options = { kind, title: 'Once' };
      const first = await here.handlers()['agent.add'](options);
      const second = await here.handlers()['agent.add'](options);
      assert.equal(second.id, first.id);
      assert.equal(second.left, 19);
      assert.match(second.message, /already has this title/);
    });
  }

  const badAdds: readonly (readonly [string, Partial<AgentParams<'agent.add'>>, RegExp])[] = [
    ['a task of another kind', { kind: 'epic' }, /kind must be sub_task or follow_up/],
    ['a task without words', { title: '  ' }, /The title must not be empty/],
    ['a task with a long title', { title: 'x'.repeat(201) }, /201 characters; the limit is 200/],
    ['a task with a long text', { description: 'x'.repeat(20_001) }, /the limit is 20000/],
    ['a task with many criteria', { accept: Array.from({ length: 21 }, String) }, /21 entries/],
    ['a task with a long criterion', { accept: ['x'.repeat(501)] }, /An entry of accept has 501/],
    [
      'a task that waits for nobody',
      { kind: 'follow_up', blocked_by: ['task-x'] },
      /Task "task-x" does not exist/,
    ],
    ['a sub-task that waits', { blocked_by: ['task-x'] }, /leave blocked_by out/],
    ['a task named like a foreign sub-task', { title: 'task-x.5 Slip in' }, /sub-task of task-x/],
  ];
  for (const [name, options, sentence] of badAdds) {
    test(`refused: ${name}`, () =>
      refuses(
        here.handlers()['agent.add']({ kind: 'sub_task', title: 'A part', ...options }),
        sentence,
      ));
  }

  test('agents add a bounded number of tasks to a run, however many attempts it has', async () => {
    const { store } = here.project;
    await store.transaction(async (tx) => {
      for (let index = 0; index < 100; index += 1) {
        await store.append(tx, { type: 'agent.added', taskId: here.other, runId: 'run-1' });
      }
    });
    await refuses(
      here.handlers()['agent.add']({ kind: 'follow_up', title: 'One more' }),
      /Agents have added 100 tasks to this run/,
    );
  });

  test('a blocker is an edge, and requests the release of the attempt', async () => {
    await here.handlers()['agent.block']({ by: here.other, reason: 'No library.' });
    const row = await tablesOf(here.project.store.db)
      .selectFrom('tasks')
      .select(['status', 'stop_requested', 'stop_reason'])
      .where('id', '=', here.own)
      .executeTakeFirstOrThrow();
    assert.deepEqual(row, {
      status: 'in_progress',
      stop_requested: 'stop',
      stop_reason: `waits for ${here.other}: No library.`,
    });
  });

  test("a person's request is not overwritten by a blocker", async () => {
    const { store } = here.project;
    await tablesOf(store.db).updateTable('tasks').set({ stop_requested: 'cancel' }).execute();
    await here.handlers()['agent.block']({ by: here.other });
    const row = await tablesOf(store.db)
      .selectFrom('tasks')
      .select('stop_requested')
      .where('id', '=', here.own)
      .executeTakeFirstOrThrow();
    assert.equal(row.stop_requested, 'cancel');
  });

  test('a blocker that closes a loop, is the task itself, or has no effect is refused', async () => {
    const { own, later, other, project } = here;
    const sub = await here.handlers()['agent.add']({ kind: 'sub_task', title: 'A part' });
    const block = (by: string): Promise<unknown> => here.handlers()['agent.block']({ by });
    await refuses(
      block(later),
      new RegExp(`${own} → ${later} → ${own}|${later} → ${own} → ${later}`),
    );
    await refuses(block(own), new RegExp(`${own} would wait for itself`));
    await refuses(block(sub.id), /runs in the same attempt/);
    await refuses(block('task-x'), /Task "task-x"/);
    await refuses(
      here.handlers()['agent.block']({ by: other, reason: 'x'.repeat(1_001) }),
      /1001 characters/,
    );
    await project.store.transaction((tx) =>
      project.store.transition(tx, { taskId: other, to: 'cancelled', event: 'task.cancelled' }),
    );
    await refuses(block(other), /is cancelled and will not be done/);
  });

  test('an agent sees its task and its neighborhood, but nothing else in full', async () => {
    const { own, other, later } = here;
    await here.handlers()['agent.add']({ kind: 'sub_task', title: 'A part' });
    const task = await here.handlers()['agent.task']({});
    assert.deepEqual(
      [task.id, task.attempt, task.sub_tasks],
      [own, 1, [{ id: `${own}.1`, title: 'A part', status: 'ready' }]],
    );
    assert.equal((await here.handlers()['agent.task']({ id: `${own}.1` })).title, 'A part');
    await refuses(here.handlers()['agent.task']({ id: other }), /neither your task nor one/);
    const board = await here.handlers()['agent.board']({});
    assert.deepEqual(board.counts, { blocked: 1, in_progress: 1, ready: 2 });
    assert.deepEqual(
      board.tasks.map((each) => [each.id, each.blocked_by]),
      [
        [own, []],
        [later, [own]],
        [other, []],
        [`${own}.1`, []],
      ],
    );
  });

  test('the same question is asked once, and its answer is returned', async () => {
    const ask = (wait_ms: number): Promise<{ question: string; state: string; answer: unknown }> =>
      here.handlers()['agent.ask']({ text: 'Which?', choices: ['a', 'b'], wait_ms });
    const first = await ask(0);
    assert.deepEqual([first.state, first.answer], ['open', null]);
    assert.equal((await ask(0)).question, first.question);
    const { store, sources } = here.project;
    const waiting = ask(10_000);
    await store.transaction((tx) =>
      endQuestion(tx, sources, first.question, { state: 'answered', answer: 'b' }),
    );
    assert.deepEqual(await waiting, { question: first.question, state: 'answered', answer: 'b' });
  });

  test('the twenty-first question and a question that is too long are refused', async () => {
    for (let index = 0; index < 20; index += 1) {
      await here.handlers()['agent.ask']({ text: `Question ${index}`, wait_ms: 0 });
    }
    await refuses(here.handlers()['agent.ask']({ text: 'Another' }), /has asked 20 questions/);
    await refuses(here.handlers()['agent.ask']({ text: 'x'.repeat(4_001) }), /4001 characters/);
    await refuses(
      here.handlers()['agent.ask']({ text: 'Which?', choices: Array.from({ length: 11 }, String) }),
      /11 entries/,
    );
  });

  test('notes reach the followers of the attempt, masked and counted', async () => {
    const heard: string[] = [];
    await refuses(here.handlers()['agent.progress']({ text: 'Alone' }), /is no longer followed/);
    here.switchboard.onNote(here.own, (text) => heard.push(text));
    await here.handlers()['agent.progress']({ text: 'hunter2 is set' });
    assert.deepEqual(heard, ['[hidden] is set']);
    for (let index = 2; index < 200; index += 1) {
      await here.handlers()['agent.progress']({ text: `note ${index}` });
    }
    await refuses(here.handlers()['agent.progress']({ text: 'more' }), /200 notes are enough/);
  });

  const overs: readonly (readonly [string, (at: Host) => Promise<unknown>, Partial<AgentScope>])[] =
    [
      ['of an older epoch', async () => undefined, { epoch: 0 }],
      ['of another attempt', async () => undefined, { attempt: 7 }],
      ['of a task that is gone', async () => undefined, { taskId: 'task-gone', part: 'task-gone' }],
      [
        'whose part is over',
        ({ project, own }) =>
          project.store.transaction((tx) => setAttempt(tx, own, 1, { pid: null, pid_part: null })),
        {},
      ],
      [
        'that is paused',
        ({ project, own }) =>
          project.store.transaction((tx) =>
            project.store.transition(tx, { taskId: own, to: 'paused', event: 'task.paused' }),
          ),
        {},
      ],
    ];
  for (const [name, change, scope] of overs) {
    test(`requests from an attempt ${name} are refused`, async () => {
      await change(here);
      const handlers = here.handlers(scope);
      for (const request of [
        () => handlers['agent.task']({}),
        () => handlers['agent.board']({}),
        () => handlers['agent.add']({ kind: 'sub_task', title: 'Late' }),
        () => handlers['agent.block']({ by: here.other }),
        () => handlers['agent.ask']({ text: 'Late?' }),
        () => handlers['agent.progress']({ text: 'Late.' }),
      ]) {
        await refuses(request(), /is no longer running/);
      }
    });
  }

  test('the agent of a sub-task adds to the same task and asks in its own name', async () => {
    const { own, project } = here;
    const sub = await here.handlers()['agent.add']({ kind: 'sub_task', title: 'First' });
    await project.store.transaction(async (tx) => {
      await beginSubTask(tx, project.sources, sub.id);
      await setAttempt(tx, own, 1, { pid_part: sub.id });
    });
    const handlers = here.handlers({ part: sub.id });
    assert.equal((await handlers['agent.task']({})).id, sub.id);
    const second = await handlers['agent.add']({ kind: 'sub_task', title: 'Second' });
    assert.equal(second.id, `${own}.2`);
    const { question } = await handlers['agent.ask']({ text: 'Which?', wait_ms: 0 });
    const row = await tablesOf(project.store.db)
      .selectFrom('questions')
      .select('task_id')
      .where('id', '=', question)
      .executeTakeFirstOrThrow();
    assert.equal(row.task_id, sub.id);
  });
});
