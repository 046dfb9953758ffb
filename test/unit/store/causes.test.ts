// The reason why each task is blocked becomes data: sentences stored by older versions are
// converted.

import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { oneTruthStatements } from '../../../server/store/schema/line-tables.ts';
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

suite('store: causes from before they were stored as data', () => {
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
      const tips = ['main', 'refs/heads/main'].map((branch) => ({ branch, sha: 'a', at_ms: 1 }));
      await tables.insertInto('line_tips').values(tips).execute();
      await storeSteps.find(({ version }) => version === 21)?.up(tables as never);
      const { blocked_by: cause } = await tables
        .selectFrom('tasks')
        .select('blocked_by')
        .executeTakeFirstOrThrow();
      const { kind, line } = JSON.parse(cause ?? '{}') as { kind?: string; line?: string };
      assert.equal([kind, line].filter((each) => each !== undefined).join(' '), wanted);
      const left = await tables.selectFrom('line_tips').select('branch').execute();
      assert.deepEqual(left, [{ branch: 'main' }]);
    });

  test('a waiting line includes the last recorded state of its branch', async () => {
    const tables = tablesOf(project.store.db);
    await storeSteps.find(({ version }) => version === 21)?.up(tables as never);
    const row = { landed_sha: 'l', followed_sha: 'f' };
    const rows = [
      { branch: 'main', pending: 1, ...row },
      { branch: 'other', pending: 0, ...row },
    ];
    await tables.insertInto('lines').values(rows).execute();
    const taken = [
      { branch: 'main', sha: 'newer', at_ms: 2 },
      { branch: 'main', sha: 'older', at_ms: 1 },
      { branch: 'other', sha: 'newer', at_ms: 2 },
    ];
    await tables
      .insertInto('taken_tips' as 'line_tips')
      .values(taken)
      .execute();
    for (const statement of oneTruthStatements.filter((each) => each.includes('taken_tips')))
      await sql.raw(statement).execute(tables);
    const found = await tables.selectFrom('lines').select(['branch', 'followed_sha']).execute();
    assert.deepEqual(
      found.map((line) => `${line.branch} ${line.followed_sha}`),
      ['main newer', 'other f'],
    );
  });
});
