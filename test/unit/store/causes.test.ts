// Why each task is blocked becomes data: what older versions wrote as sentences alone is taken over.

import assert from 'node:assert/strict';
import { storeSteps } from '../../../server/store/schema/schema.ts';
import { tablesOf } from '../../tables.ts';
import { addTasks, memoryStore, type TestStore } from './memory-store.ts';

const sentences = {
  'red_base main': 'main is red before any task (0123abc)',
  'missing_base drover/epic/E':
    'the commit of its blocker T1 is on main, not in drover/epic/E; merge main into drover/epic/E, then drover resolve T2',
  'missing_base main': "main and its parent can't be merged; merge them by hand",
  beads: 'Beads: claimed by bob',
  setup: 'setup: npm ci failed.',
  outside: 'the licence is missing',
} as const;

suite('store: causes from before they were data', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  for (const [wanted, reason] of Object.entries(sentences))
    test(`${wanted}: ${reason}`, async () => {
      const { One: id = '' } = await addTasks(project, [{ title: 'One' }]);
      const tables = tablesOf(project.store.db);
      const row = { status: 'blocked', blocked_reason: reason, blocked_by: null } as const;
      await tables.updateTable('tasks').set(row).where('id', '=', id).execute();
      await tables.schema.dropTable('taken_tips').execute();
      const tips = ['main', 'refs/heads/main'].map((branch) => ({ branch, sha: 'a', at_ms: 1 }));
      await tables.insertInto('line_tips').values(tips).execute();
      await storeSteps.find(({ version }) => version === 21)?.up(tables as never);
      const { blocked_by: cause } = await tables
        .selectFrom('tasks')
        .select('blocked_by')
        .executeTakeFirstOrThrow();
      const { kind, line } = JSON.parse(cause ?? '{}') as { kind?: string; line?: string };
      assert.equal([kind, line].filter((each) => each !== undefined).join(' '), wanted);
      for (const table of ['line_tips', 'taken_tips'] as const) {
        const found = await tables.selectFrom(table).select('branch').execute();
        assert.deepEqual(found, [{ branch: 'main' }], table);
      }
    });
});
