// Which tasks belong to a run of single tasks.

import assert from 'node:assert/strict';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { withBlockers } from '../../../server/store/work/run-scope.ts';
import { flagsWithTasks, tasksOfRun } from '../../../server/store/work/runs.ts';
import { covers, isCovered } from '../../../server/workflows/run/asked-scope.ts';
import type { RunRow } from '../../../server/store/port.ts';
import { addTasks, memoryStore, moveTask } from './memory-store.ts';

const row = (id: string, epic: string | null, tasks: readonly string[] | null): RunRow => ({
  id,
  state: 'active',
  started_at_ms: 0,
  ended_at_ms: null,
  workers: 1,
  epic_id: epic,
  land: 'task',
  target_branch: 'main',
  line: 'main',
  base_sha: '',
  result_branch: null,
  flags: flagsWithTasks({ max_workers: 2 }, tasks),
  settings: null,
});

suite('the scope of a run of single tasks', () => {
  test("it contains the tasks' unfinished blockers, including indirect ones and those of sub-tasks", async () => {
    const project = await memoryStore();
    const ids = await addTasks(project, [
      { title: 'done' },
      { title: 'before' },
      { title: 'base', blocked_by: ['before', 'done'] },
      { title: 'wanted', blocked_by: ['base'] },
      { title: 'part', parent: 'wanted' },
      { title: 'side' },
      { title: 'other' },
    ]);
    const { done = '', part = '', wanted = '', side = '' } = ids;
    await moveTask(project, done, ['claimed', 'in_progress', 'completed']);
    await project.store.transaction((tx) =>
      editTask(tx, project.sources, part, { add_blockers: [side] }),
    );
    const found = await withBlockers(project.store.db, [wanted]);
    const titles = Object.entries(ids).flatMap(([title, id]) =>
      found.includes(id) ? [title] : [],
    );
    assert.deepEqual(titles, ['before', 'base', 'wanted', 'part', 'side']);
    await project.close();
  });

  test('it is stored among the options, and joins a run that covers it or belongs to the same epic', () => {
    assert.deepEqual(tasksOfRun(row('r', null, ['a'])), ['a']);
    assert.equal(tasksOfRun(row('r', null, null)), null);
    const narrow = row('narrow', 'E', ['a']);
    const epic = row('epic', 'E', null);
    const all = row('all', null, null);
    const asked = { epicId: 'E', tasks: ['a', 'b'] };
    const found = (...active: readonly RunRow[]): string | undefined => covers(active, asked)?.id;
    assert.deepEqual(
      [found(), found(narrow), found(narrow, all), found(all, narrow, epic)],
      [undefined, 'narrow', 'all', 'epic'],
    );
    assert.equal(covers([narrow], { epicId: null, tasks: null }), null);
    assert.equal(covers([narrow], { epicId: 'E', tasks: null })?.id, 'narrow');
    assert.deepEqual(
      [
        isCovered(narrow, asked),
        isCovered(epic, asked),
        isCovered(narrow, { ...asked, tasks: ['a'] }),
      ],
      [false, true, true],
    );
  });
});
