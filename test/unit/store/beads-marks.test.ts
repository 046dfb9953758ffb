// Drover's marks in a tracker about its own work (labels, claims, states) are removed when their
// cause ends, in whatever way it ends.

import assert from 'node:assert/strict';
import type { TaskStatus } from '../../../server/core/plan/state.ts';
import { addEpic, closeEpic } from '../../../server/store/plan/epics.ts';
import { removeEpic } from '../../../server/store/plan/epic-place.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { removeTasks } from '../../../server/store/plan/task-remove.ts';
import { tablesOf } from '../../tables.ts';
import { at, BeadsSide, issue } from './beads-side.ts';
import { memoryStore, moveTask, statusOf, type TestStore } from './memory-store.ts';

suite("Drover's labels in Beads", () => {
  let project: TestStore;
  let side: BeadsSide;
  setup(async () => {
    project = await memoryStore();
    side = new BeadsSide(project);
  });
  teardown(() => project.close());

  /**
   * The issue's status, label and assignee for each state of the task, with and without an
   * assignment by a person.
   */
  const marks: Readonly<Record<string, { readonly by: readonly TaskStatus[]; label: string }>> = {
    claimed: { by: ['claimed'], label: '' },
    in_progress: { by: ['claimed', 'in_progress'], label: '' },
    waiting: { by: ['claimed', 'in_progress', 'waiting'], label: 'drover:waiting' },
    failed: { by: ['claimed', 'in_progress', 'failed'], label: 'drover:failed' },
    conflict: { by: ['claimed', 'in_progress', 'conflict'], label: 'drover:conflict' },
    needs_review: { by: ['claimed', 'in_progress', 'needs_review'], label: 'drover:needs_review' },
    paused: { by: ['paused'], label: 'drover:paused' },
  };
  const closed = { status: 'closed', closed_at: at(9_000), updated_at: at(9_000) };
  const here = (to: TaskStatus) => async (): Promise<void> => {
    // A running task that is to run again is released first.
    if (to === 'completed') {
      const status = await statusOf(project, 'a');
      if (status !== 'in_progress') {
        if (status !== 'ready') await moveTask(project, 'a', ['ready']);
        await moveTask(project, 'a', ['claimed', 'in_progress']);
      }
    }
    await moveTask(project, 'a', [to]);
  };
  const ends: Readonly<Record<string, { by: () => void | Promise<void>; leaves: string }>> = {
    'ready here': { by: here('ready'), leaves: 'ready open' },
    'canceled here': { by: here('cancelled'), leaves: 'cancelled closed' },
    'completed here': { by: here('completed'), leaves: 'completed closed' },
    'closed there': {
      by: () => side.change('a', { ...closed, close_reason: 'done' }),
      leaves: 'completed closed',
    },
    'given up there': {
      by: () => side.change('a', { ...closed, close_reason: "won't fix" }),
      leaves: 'cancelled closed',
    },
    'deferred there': {
      by: () => side.change('a', { status: 'deferred', updated_at: at(9_000) }),
      leaves: 'paused deferred',
    },
  };
  const running: readonly string[] = ['claimed', 'in_progress', 'waiting'];

  const found = async (): Promise<string> => {
    const { status, labels, assignee } = side.line('a');
    const list = (labels ?? []) as readonly string[];
    return [await statusOf(project, 'a'), status, ...list, assignee ?? ''].join(' ').trim();
  };

  for (const person of ['', 'ada']) {
    const whose = person === '' ? '' : `, assigned to ${person}`;
    for (const [state, { by, label }] of Object.entries(marks)) {
      for (const [end, { by: ended, leaves }] of Object.entries(ends)) {
        // While an agent runs, its end decides; running tasks are asked to stop first.
        if (running.includes(state) && end.endsWith('there')) continue;
        test(`a task that is ${state}${whose}, and then ${end}, has the right labels`, async () => {
          side.set(issue('a', { labels: ['theirs'], ...(person !== '' && { assignee: person }) }));
          await side.sync();
          await moveTask(project, 'a', by);
          await side.sync();
          const isRun = running.includes(state);
          const own = isRun && person !== '' ? ' drover:in_progress' : '';
          const whoseIs = person !== '' ? ` ${person}` : isRun ? ' drover' : '';
          const shown = label === '' ? '' : ` ${label}`;
          assert.ok((await found()).endsWith(` theirs${shown}${own}${whoseIs}`), await found());
          await ended();
          await side.sync();
          await side.sync();
          // A state that needs a person stays; the issue is deferred.
          const isKept = end === 'deferred there' && state !== 'paused';
          const left = isKept ? `${state} deferred theirs ${label}` : `${leaves} theirs`;
          assert.equal(await found(), `${left} ${person}`.trim());
        });
      }
    }
  }

  test('when a task is removed here, its issue is closed, and no task is created again', async () => {
    side.set(issue('a', { labels: ['theirs'] }), issue('b'), issue('c'));
    await side.sync();
    await moveTask(project, 'a', ['paused']);
    await side.sync();
    await project.store.transaction((tx) => removeTasks(tx, project.sources, ['a', 'b', 'c']));
    side.change('c', { title: 'edited there meanwhile', updated_at: at(9_000) });
    await side.sync();
    await side.sync();
    const rows = await tablesOf(project.store.db).selectFrom('tasks').select('id').execute();
    assert.deepEqual(rows, [{ id: 'c' }]);
    for (const id of ['a', 'b']) {
      const { status, close_reason: reason, closed_at: time } = side.line(id);
      assert.deepEqual([status, reason, typeof time], ['closed', 'cancelled', 'string'], id);
    }
    assert.deepEqual(side.line('a')['labels'], ['theirs']);
    // An issue that is reopened in the tracker becomes a task again.
    side.change('a', { status: 'open', closed_at: undefined, close_reason: undefined });
    await side.sync();
    assert.equal(await statusOf(project, 'a'), 'ready');
  });

  test('a task that moves to another epic has one parent', async () => {
    side.set(issue('e', { issue_type: 'epic' }), issue('a'));
    side.change('a', {
      dependencies: [{ issue_id: 'a', depends_on_id: 'e', type: 'parent-child' }],
    });
    await side.sync();
    const { id } = await project.store.transaction((tx) =>
      addEpic(tx, project.sources, { title: 'other' }),
    );
    const move = (epic: string | null) =>
      project.store.transaction((tx) => editTask(tx, project.sources, 'a', { epic }));
    const parents = (): unknown[] =>
      ((side.line('a')['dependencies'] ?? []) as { depends_on_id: unknown }[]).map(
        (edge) => edge.depends_on_id,
      );
    await move(id);
    await side.sync();
    assert.deepEqual(parents(), [id]);
    await move(null);
    await side.sync();
    assert.deepEqual(parents(), []);
    await project.store.transaction((tx) => removeEpic(tx, project.sources, id));
    await side.sync();
    assert.equal(side.line(id)['status'], 'closed');
  });

  test('an epic is closed, deferred or reopened in Beads', async () => {
    const edge = { issue_id: 'a', depends_on_id: 'e', type: 'parent-child' };
    side.set(issue('e', { issue_type: 'epic' }), issue('a', { dependencies: [edge] }));
    await side.sync();
    const epic = async (): Promise<string | undefined> =>
      (await tablesOf(project.store.db).selectFrom('epics').select('status').executeTakeFirst())
        ?.status;
    side.change('e', { status: 'deferred', updated_at: at(1_000) });
    await side.sync();
    assert.equal(side.line('e')['status'], 'deferred');
    // A task of the epic has not ended.
    side.change('e', { ...closed, close_reason: 'done' });
    await side.sync();
    assert.deepEqual([await epic(), side.line('e')['status']], ['open', 'closed']);
    side.change('a', { ...closed, close_reason: 'done' });
    await side.sync();
    assert.deepEqual([await epic(), side.line('e')['close_reason']], ['closed', 'done']);
    side.change('e', { status: 'open', closed_at: undefined, close_reason: undefined });
    await side.sync();
    assert.deepEqual([await epic(), side.line('e')['status']], ['open', 'open']);
  });

  test('a task that is deferred in Beads while it runs is paused after the attempt', async () => {
    side.set(issue('a'));
    await side.sync();
    await moveTask(project, 'a', ['claimed', 'in_progress']);
    await side.sync();
    side.change('a', { status: 'deferred', updated_at: at(9_000) });
    await side.sync();
    assert.deepEqual(
      [await statusOf(project, 'a'), side.line('a')['status']],
      ['in_progress', 'deferred'],
    );
    await moveTask(project, 'a', ['ready']);
    await side.sync();
    assert.equal(await found(), 'paused deferred');
  });

  test('an epic is closed here and reopened', async () => {
    side.set(issue('e', { issue_type: 'epic' }), issue('a'));
    await side.sync();
    await project.store.transaction((tx) => closeEpic(tx, project.sources, 'e'));
    await side.sync();
    assert.equal(side.line('e')['status'], 'closed');
    await project.store.transaction((tx) => editTask(tx, project.sources, 'a', { epic: 'e' }));
    await side.sync();
    const { status, closed_at: time, close_reason: reason } = side.line('e');
    assert.deepEqual([status, time, reason], ['open', undefined, undefined]);
  });
});
