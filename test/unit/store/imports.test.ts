// Imports: all or nothing, with unchanged, updated and renamed records, and while tasks run.

import assert from 'node:assert/strict';
import type { ImportResultView } from '../../../server/protocol/api.ts';
import { exportPlan } from '../../../server/store/exchange/exports.ts';
import { importFile, type ImportRequest } from '../../../server/store/exchange/imports.ts';
import { readSnapshot } from '../../../server/store/board/snapshot.ts';
import {
  everything,
  memoryStore,
  moveTask,
  refusalOf,
  statusOf,
  testStartMs,
  type TestStore,
} from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

const plain: Omit<ImportRequest, 'text'> = {
  badUtf8Lines: [],
  file: 'plan.jsonl',
  format: 'auto',
  dryRun: false,
  update: false,
  rename: false,
  skipInvalid: false,
  maxAttempts: 4,
};

function jsonl(...records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

const diamond = jsonl(
  { id: 'E', type: 'epic', title: 'Money' },
  { id: 'D', type: 'story', epic_id: 'E', title: 'Print', blocked_by: ['B', 'C'] },
  { id: 'A', type: 'story', epic_id: 'E', title: 'Type', priority: 'critical' },
  { id: 'B', type: 'story', epic_id: 'E', title: 'Parse', blocked_by: ['A'] },
  { id: 'C', type: 'story', epic_id: 'E', title: 'Round', blocked_by: ['A'] },
  { id: 'C-1', type: 'task', story_id: 'C', title: 'Half', acceptance_criteria: ['2.5 is 2'] },
  { id: 'C-2', type: 'task', story_id: 'C', title: 'Away' },
);

suite('import', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  test('S20: a file that contains only invalid lines is refused with one sentence', async () => {
    const text = 'no record\n'.repeat(300_000);
    for (const skipInvalid of [false, true]) {
      const importing = importFile(project.store, { ...plain, format: 'jsonl', skipInvalid, text });
      const { kind, message } = await refusalOf(importing);
      assert.equal(kind, 'bad_import');
      assert.match(
        message,
        /^plan\.jsonl has more than 10,000 bad lines; the first is line 1: not/,
      );
    }
  });

  const give = (text: string, more: Partial<ImportRequest> = {}): Promise<ImportResultView> =>
    importFile(project.store, { ...plain, text, ...more });

  const rows = async (): Promise<string[]> => {
    const tasks = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['id', 'title', 'status', 'chain', 'position'])
      .orderBy('position')
      .execute();
    return tasks.map((row) => `${row.position} ${row.id} ${row.title} ${row.status} ${row.chain}`);
  };

  test('it writes epics, tasks, edges, readiness and chains in the order of the file', async () => {
    const result = await give(diamond);
    assert.deepEqual(result, {
      imported: { epics: 1, tasks: 6 },
      unchanged: 0,
      differs: [],
      errors: [],
      warnings: [],
    });
    assert.deepEqual(await rows(), [
      '1 D Print blocked 1',
      '2 A Type ready 3',
      '3 B Parse blocked 2',
      '4 C Round blocked 2',
      '5 C-1 Half ready 2',
      '6 C-2 Away ready 2',
    ]);
    const half = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .selectAll()
      .where('id', '=', 'C-1')
      .executeTakeFirstOrThrow();
    assert.equal(half.description, 'Acceptance Criteria:\n- 2.5 is 2');
    assert.deepEqual(
      [half.epic_id, half.parent_id, half.sequence_number, half.max_attempts],
      ['E', 'C', 1, 4],
    );
    const types = (await project.store.feed.read({})).map((event) => event.type);
    assert.deepEqual(types, [
      'epic.created',
      ...Array.from({ length: 6 }, () => 'task.created'),
      'import.finished',
    ]);
  });

  test('it finds everything unchanged the second time', async () => {
    await give(diamond);
    const before = await everything(project);
    const again = await give(diamond);
    assert.deepEqual(
      [again.unchanged, again.imported, again.errors.length],
      [7, { epics: 0, tasks: 0 }, 0],
    );
    assert.equal(await everything(project), before);
  });

  test('it writes nothing when one line is invalid, and names that line', async () => {
    const before = await everything(project);
    const text = `${diamond}{"id": "X", "type": "story"\n`;
    const result = await give(text);
    assert.deepEqual(
      result.errors.map(({ line, code, kind, id }) => ({ line, code, kind, id })),
      [{ line: 8, code: 'json', kind: 'json', id: null }],
    );
    assert.deepEqual(result.imported, { epics: 0, tasks: 0 });
    assert.equal(await everything(project), before);
    const skipped = await give(text, { skipInvalid: true });
    assert.deepEqual(skipped.imported, { epics: 1, tasks: 6 });
    assert.equal(skipped.errors.length, 1);
  });

  test('a dry run writes nothing', async () => {
    const before = await everything(project);
    assert.deepEqual((await give(diamond, { dryRun: true })).imported, { epics: 1, tasks: 6 });
    assert.equal(await everything(project), before);
  });

  const other = jsonl(
    { id: 'A', type: 'story', epic_id: 'E', title: 'Money type', priority: 'low' },
    { id: 'B', type: 'story', epic_id: 'E', title: 'Parse', blocked_by: [] },
    { id: 'N', type: 'story', epic_id: 'E', title: 'New', blocked_by: ['A'] },
  );

  test('it refuses records that differ', async () => {
    await give(diamond);
    const result = await give(other);
    assert.deepEqual(result.differs, ['A', 'B']);
    assert.deepEqual(
      result.errors.map(({ line, kind }) => [line, kind]),
      [
        [1, 'differs'],
        [2, 'differs'],
      ],
    );
    const both = give(other, { update: true, rename: true });
    assert.equal((await refusalOf(both)).kind, 'bad_request');
  });

  test('it updates records that differ, and applies the effects', async () => {
    await give(diamond);
    await moveTask(project, 'A', ['claimed', 'in_progress', 'failed'], { attempts: 4 });
    const result = await give(other, { update: true });
    assert.deepEqual([result.differs, result.errors, result.imported.tasks], [['A', 'B'], [], 1]);
    assert.deepEqual(
      (await rows()).filter((row) => / [ABNC] /.test(row)),
      ['2 A Money type failed 3', '3 B Parse ready 2', '4 C Round blocked 2', '7 N New blocked 1'],
    );
    const row = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['attempts', 'max_attempts', 'priority'])
      .where('id', '=', 'A')
      .executeTakeFirst();
    assert.deepEqual(row, { attempts: 4, max_attempts: 4, priority: 2 });
  });

  test('it neither updates a running task nor adds sub-tasks to it', async () => {
    await give(diamond);
    await moveTask(project, 'A', ['claimed', 'in_progress']);
    const below = jsonl(
      { id: 'A-1', type: 'task', story_id: 'A', title: 'Late' },
      { id: 'Z', type: 'story', title: 'Behind', blocked_by: ['A-1'] },
    );
    const result = await give(other + below, { update: true });
    assert.deepEqual(
      result.errors.map(({ line, id, kind }) => [line, id, kind]),
      [
        [1, 'A', 'differs'],
        [4, 'A-1', 'reference'],
        [5, 'Z', 'reference-refused'],
      ],
    );
    const skipped = await give(other + below, { update: true, skipInvalid: true });
    assert.deepEqual(skipped.imported.tasks, 1);
    assert.equal(await statusOf(project, 'B'), 'ready');
  });

  test('it keeps both records when renaming', async () => {
    await give(diamond);
    const result = await give(other, { rename: true });
    assert.deepEqual([result.errors.length, result.imported.tasks], [0, 3]);
    const edges = await tablesOf(project.store.db)
      .selectFrom('task_dependencies')
      .selectAll()
      .where('task_id', '=', 'N')
      .execute();
    assert.deepEqual(edges, [{ task_id: 'N', blocked_by: 'A-2' }]);
  });

  test('a task is ready if its blockers were already completed', async () => {
    await give(diamond);
    await moveTask(project, 'A', ['claimed', 'in_progress', 'completed']);
    await give(jsonl({ id: 'N', type: 'story', title: 'New', blocked_by: ['A'] }));
    assert.equal(await statusOf(project, 'N'), 'ready');
    await give(
      jsonl({ id: 'B-1', type: 'task', parent_id: 'B', title: 'Step', blocked_by: ['D'] }),
    );
    const refused = await give(
      jsonl({ id: 'D-1', type: 'task', parent_id: 'D', title: 'Step', blocked_by: ['B'] }),
    );
    assert.deepEqual(
      refused.errors.map(({ kind }) => kind),
      [],
    );
  });
});

suite('import: sessions and Beads', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  const request = { nowMs: testStartMs, repository: '/somewhere' };
  const sha = 'd'.repeat(40);

  async function fill(): Promise<void> {
    await importFile(project.store, { ...plain, text: diamond });
    await moveTask(project, 'A', ['claimed', 'in_progress', 'completed'], {
      landed_sha: sha,
      commit_sha: sha,
      verdict: 'pass',
    });
    await moveTask(project, 'B', ['claimed', 'in_progress', 'needs_review'], {
      review_kind: 'held_files',
      held_files: '[".env"]',
      last_error: 'held',
    });
    await moveTask(project, 'C', ['paused']);
  }

  test('it restores a session exactly', async () => {
    await fill();
    const { text } = await exportPlan(project.store.db, { ...request, format: 'session' });
    const copy = await memoryStore();
    const result = await importFile(copy.store, {
      ...plain,
      text,
      file: 'a.drover',
      maxAttempts: 3,
    });
    assert.deepEqual([result.errors, result.imported], [[], { epics: 1, tasks: 6 }]);
    const again = await exportPlan(copy.store.db, { ...request, format: 'session' });
    assert.equal(again.text, text);
    assert.equal(await statusOf(copy, 'B'), 'needs_review');
    const second = await importFile(copy.store, { ...plain, text });
    assert.deepEqual([second.unchanged, second.errors], [7, []]);
    await copy.close();
  });

  test('it ignores the commits of another repository, and exports them unchanged', async () => {
    await fill();
    await tablesOf(project.store.db).updateTable('epics').set({ created_at: 1_234 }).execute();
    const { text } = await exportPlan(project.store.db, { ...request, format: 'json' });
    const copy = await memoryStore();
    const asked: string[] = [];
    const knowsCommits = async (shas: readonly string[]): Promise<boolean> => {
      asked.push(...shas);
      return false;
    };
    await importFile(copy.store, { ...plain, text, knowsCommits });
    assert.deepEqual(asked, [sha]);
    const { tasks } = await readSnapshot(
      copy.store.db,
      {},
      {
        config: () => ({}),
        targetBranch: null,
        shaOf: async () => null,
      },
    );
    assert.deepEqual(
      tasks.filter((task) => task.landed_sha !== null || task.commit_sha !== null),
      [],
    );
    assert.equal(tasks.find((task) => task.id === 'A')?.status, 'completed');
    const again = await exportPlan(copy.store.db, { ...request, format: 'json' });
    assert.equal(again.text, text);
    await tablesOf(copy.store.db)
      .updateTable('tasks')
      .set({ landed_sha: 'e'.repeat(40), commit_sha: 'e'.repeat(40) })
      .where('id', '=', 'A')
      .execute();
    const own = await exportPlan(copy.store.db, { ...request, format: 'json' });
    assert.ok(!own.text.includes(sha) && own.text.includes('e'.repeat(40)));
    await copy.close();
  });

  test('it reads its own JSONL to equal content', async () => {
    await importFile(project.store, { ...plain, text: diamond });
    const { text } = await exportPlan(project.store.db, { ...request, format: 'jsonl' });
    const here = await importFile(project.store, { ...plain, text });
    assert.deepEqual([here.unchanged, here.errors], [7, []]);
    const copy = await memoryStore();
    await importFile(copy.store, { ...plain, text });
    const again = await exportPlan(copy.store.db, { ...request, format: 'jsonl' });
    assert.equal(again.text, text);
    await copy.close();
  });

  test('it shares a Beads file', async () => {
    await fill();
    const foreign = '{"id":"bd-9","title":"Theirs","status":"tombstone"}\n';
    const { text, kept } = await exportPlan(project.store.db, {
      ...request,
      format: 'beads',
      present: foreign,
    });
    assert.deepEqual(kept, []);
    assert.ok(text.startsWith(foreign));
    const copy = await memoryStore();
    const result = await importFile(copy.store, { ...plain, text });
    assert.deepEqual([result.errors, result.imported], [[], { epics: 1, tasks: 6 }]);
    assert.deepEqual(
      [await statusOf(copy, 'A'), await statusOf(copy, 'C'), await statusOf(copy, 'B')],
      ['completed', 'paused', 'needs_review'],
    );
    await copy.close();
  });

  test('YAML with the same content is read', async () => {
    await fill();
    const { text } = await exportPlan(project.store.db, { ...request, format: 'yaml' });
    assert.match(text, /^version: "1.0"\n/);
    assert.match(text, /\n {2}- id: "A"\n/);
  });

  test('YAML is refused with one sentence that names the supported formats', async () => {
    const { text } = await exportPlan(project.store.db, {
      format: 'yaml',
      nowMs: testStartMs,
      repository: '/r',
    });
    for (const [file, words] of [
      ['plan.txt', text],
      ['plan.yaml', '# mine\ntasks: []\n'],
    ] as const) {
      const refusal = await refusalOf(importFile(project.store, { ...plain, text: words, file }));
      assert.match(refusal.message, /is YAML, which is written for people and not read again\./u);
    }
  });
});
