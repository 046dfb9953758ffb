// A Beads file and the plan are synced again and again: new edits of each side arrive, and old ones
// never come back.

import assert from 'node:assert/strict';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { at, BeadsSide, issue } from './beads-side.ts';
import {
  addTasks,
  memoryStore,
  moveTask,
  statusOf,
  testStartMs,
  type TestStore,
} from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('beads sync', () => {
  let project: TestStore;
  let side: BeadsSide;
  setup(async () => {
    project = await memoryStore();
    side = new BeadsSide(project);
  });
  teardown(() => project.close());

  const set = (...lines: string[]): void => side.set(...lines);
  const lineOf = (id: string): Record<string, unknown> => side.line(id);
  const sync = () => side.sync();

  const rename = (id: string, title: string) =>
    project.store.transaction((tx) => editTask(tx, project.sources, id, { title }));
  const titleOf = async (id: string): Promise<string | undefined> =>
    (
      await tablesOf(project.store.db)
        .selectFrom('tasks')
        .select('title')
        .where('id', '=', id)
        .executeTakeFirst()
    )?.title;
  const attempt = (id: string, started: number, ended: number | null) =>
    tablesOf(project.store.db)
      .insertInto('attempts')
      .values({
        task_id: id,
        number: 1,
        state: ended === null ? 'running' : 'failed',
        run_id: 'run-x',
        epoch: 1,
        agent: 'command',
        session_id: 'x',
        branch: 'x',
        started_at_ms: testStartMs + started,
        ended_at_ms: ended === null ? null : testStartMs + ended,
      } as never)
      .execute();

  test('a change on each side arrives on the other, and other lines stay unchanged byte for byte', async () => {
    set(issue('a'), issue('b'), issue('c', { mine: [1] }));
    await sync();
    const c = side.text.split('\n')[2];
    await rename('a', 'ours');
    set(
      ...side.text
        .trimEnd()
        .split('\n')
        .map((line) => (line.includes('"b"') ? issue('b', { title: 'theirs' }) : line)),
    );
    await sync();
    assert.deepEqual([await titleOf('a'), await titleOf('b')], ['ours', 'theirs']);
    assert.deepEqual([lineOf('a')['title'], lineOf('b')['title']], ['ours', 'theirs']);
    assert.equal(side.text.split('\n')[2], c);
    const [seq, text] = [await project.store.feed.lastSeq(), side.text];
    await sync();
    assert.deepEqual([await project.store.feed.lastSeq(), side.text], [seq, text]);
  });

  test('an old value in the file does not overwrite a new value here', async () => {
    set(issue('a', { status: 'closed', closed_at: at(-1000), close_reason: 'done' }));
    await sync();
    assert.equal(await statusOf(project, 'a'), 'completed');
    await moveTask(project, 'a', ['ready']);
    await sync();
    assert.equal(await statusOf(project, 'a'), 'ready');
    assert.equal(lineOf('a')['status'], 'open');
  });

  test('an issue that was closed at the first sync and is reopened is ready here', async () => {
    set(issue('a', { status: 'closed', closed_at: at(-1000), close_reason: 'done' }));
    await sync();
    assert.equal(await statusOf(project, 'a'), 'completed');
    set(issue('a', { updated_at: at(1000) }));
    const { differs } = await sync();
    assert.deepEqual([await statusOf(project, 'a'), differs], ['ready', ['a']]);
    assert.equal(lineOf('a')['status'], 'open');
  });

  test('an issue that was deferred at the first sync and is undeferred is ready here', async () => {
    set(issue('a', { status: 'deferred' }));
    await sync();
    assert.equal(await statusOf(project, 'a'), 'paused');
    set(issue('a', { updated_at: at(1000) }));
    await sync();
    assert.equal(await statusOf(project, 'a'), 'ready');
    assert.deepEqual([lineOf('a')['status'], lineOf('a')['labels'] ?? []], ['open', []]);
  });

  test("a first import without a sync is distinguished from a person's change: reopened and undeferred", async () => {
    set(issue('a', { status: 'closed', close_reason: 'done' }), issue('b', { status: 'deferred' }));
    await side.take(false);
    set(issue('a'), issue('b'));
    await side.take(true);
    assert.deepEqual(
      [await statusOf(project, 'a'), await statusOf(project, 'b')],
      ['ready', 'ready'],
    );
  });

  /** The form in which `bd` rewrites a line: no empty lists, and the time of its import. */
  const rewritten = (text: string, ms: number): string =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const record = JSON.parse(line) as Record<string, unknown>;
        const kept = Object.entries(record).filter(
          ([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0),
        );
        return `${JSON.stringify({ ...Object.fromEntries(kept), updated_at: at(ms) })}\n`;
      })
      .join('');

  test('an edit here is not lost when the tracker only rewrote the line', async () => {
    set(issue('a'), issue('b', { assignee: 'ada' }));
    await sync();
    for (const [round, title] of ['first', 'second', 'third'].entries()) {
      await rename('a', title);
      side.text = rewritten(side.text, 10_000 * (round + 1));
      const { differs } = await sync();
      assert.deepEqual([await titleOf('a'), differs], [title, []]);
      assert.equal(lineOf('a')['title'], title);
      side.text = rewritten(side.text, 10_000 * (round + 1) + 5_000);
      assert.deepEqual((await sync()).differs, []);
    }
    assert.equal(lineOf('b')['assignee'], 'ada');
  });

  test('edits of different fields on both sides are both kept; of the same field, the file wins', async () => {
    set(issue('a'), issue('b'));
    await sync();
    await rename('a', 'ours');
    await rename('b', 'ours');
    set(issue('a', { priority: 0, updated_at: at(9) }), issue('b', { title: 'theirs' }));
    await sync();
    const task = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['title', 'priority'])
      .where('id', '=', 'a')
      .executeTakeFirst();
    assert.deepEqual(task, { title: 'ours', priority: 10 });
    assert.deepEqual([lineOf('a')['title'], lineOf('a')['priority']], ['ours', 0]);
    assert.equal(await titleOf('b'), 'theirs');
  });

  test('an issue whose line was removed is canceled here, and its line is not written again', async () => {
    set(issue('a'), issue('b'));
    await sync();
    set(issue('b'));
    await sync();
    assert.equal(await statusOf(project, 'a'), 'cancelled');
    await sync();
    assert.ok(!side.text.includes('"a"'));
  });

  test('a start claims the issue, and the end of the attempt releases it', async () => {
    set(issue('a'), issue('b', { assignee: 'alice' }));
    await sync();
    for (const id of ['a', 'b']) await moveTask(project, id, ['claimed', 'in_progress']);
    await sync();
    assert.deepEqual([lineOf('a')['status'], lineOf('a')['assignee']], ['in_progress', 'drover']);
    assert.deepEqual([lineOf('b')['status'], lineOf('b')['assignee']], ['in_progress', 'alice']);
    for (const id of ['a', 'b']) await moveTask(project, id, ['ready']);
    await sync();
    await sync();
    for (const id of ['a', 'b']) {
      assert.deepEqual([await statusOf(project, id), lineOf(id)['status']], ['ready', 'open'], id);
    }
    assert.deepEqual([lineOf('a')['assignee'], lineOf('b')['assignee']], ['', 'alice']);
    assert.deepEqual(lineOf('b')['labels'], []);
  });

  test('only the landing closes an issue: if an agent closes it and the attempt fails, it is reopened', async () => {
    const closed = {
      status: 'closed',
      closed_at: at(500),
      close_reason: 'Closed',
      updated_at: at(500),
    };
    set(issue('a'), issue('b'));
    await sync();
    await moveTask(project, 'a', ['claimed', 'in_progress']);
    await attempt('a', 0, null);
    set(issue('a', closed), issue('b'));
    const running = await sync();
    assert.match(running.warnings[0]?.message ?? '', /its landing decides/u);
    assert.deepEqual(running.unwanted, []);
    await moveTask(project, 'a', ['ready']);
    await sync();
    assert.deepEqual([await statusOf(project, 'a'), lineOf('a')['status']], ['ready', 'open']);

    // The attempt had ended before the check.
    await moveTask(project, 'b', ['claimed', 'in_progress', 'ready']);
    await attempt('b', 0, 2_000);
    set(issue('a'), issue('b', closed));
    await sync();
    assert.equal(await statusOf(project, 'b'), 'ready');
  });

  test('a landing closes the issue with its commit in the reason, before the reason of an earlier closing', async () => {
    set(issue('a'), issue('b', { updated_at: at(0) }));
    await sync();
    for (const id of ['a', 'b']) {
      await moveTask(project, id, ['claimed', 'in_progress', 'completed']);
      await tablesOf(project.store.db)
        .updateTable('tasks')
        .set({ landed_sha: 'f'.repeat(40) })
        .where('id', '=', id)
        .execute();
    }
    set(issue('a'), issue('b', { status: 'closed', closed_at: at(0), close_reason: 'I did it' }));
    await sync();
    const landed = `Landed as ${'f'.repeat(40)}`;
    assert.equal(lineOf('a')['close_reason'], landed);
    assert.equal(lineOf('b')['close_reason'], `${landed}: I did it`);
    await sync();
    assert.equal(lineOf('b')['close_reason'], `${landed}: I did it`);
  });

  test('an issue that a person closes while it runs stays closed with the reason until the attempt ends', async () => {
    const closed = { status: 'closed', closed_at: at(9), close_reason: 'not needed any more' };
    set(issue('a', { assignee: 'ada' }));
    await sync();
    await moveTask(project, 'a', ['claimed', 'in_progress']);
    await sync();
    const claimed = lineOf('a');
    assert.deepEqual(claimed['labels'], ['drover:in_progress']);
    set(JSON.stringify({ ...claimed, ...closed }));
    const { warnings } = await sync();
    assert.match(warnings[0]?.message ?? '', /drover cancel a/u);
    assert.equal(lineOf('a')['close_reason'], 'not needed any more');
    await moveTask(project, 'a', ['completed']);
    await sync();
    const { status, labels, close_reason: reason } = lineOf('a');
    assert.deepEqual([status, labels ?? [], reason], ['closed', [], 'not needed any more']);
  });

  test('ids of a task and an epic that are added here have the Beads prefix', async () => {
    set(issue('my-shop-a3f'));
    await sync();
    const ids = await addTasks(project, [{ title: 'ours' }]);
    const epic = await project.store.transaction((tx) =>
      addEpic(tx, project.sources, { title: 'ours' }),
    );
    await sync();
    for (const id of [ids['ours'] ?? '', epic.id]) {
      assert.match(id, /^my-shop-[a-z0-9]{8}$/u);
      assert.equal(lineOf(id)['title'], 'ours');
    }
  });

  test('a change to a running task waits for its end, and a deleted or abandoned task is asked to stop', async () => {
    set(issue('a'), issue('b'), issue('c'));
    await sync();
    for (const id of ['a', 'b', 'c']) await moveTask(project, id, ['claimed', 'in_progress']);
    set(
      issue('a', { title: 'theirs' }),
      issue('b', { status: 'closed', close_reason: "won't fix" }),
    );
    const result = await sync();
    assert.deepEqual([result.later, result.unwanted], [['a'], ['b', 'c']]);
    assert.equal(lineOf('a')['title'], 'theirs');
  });
});
