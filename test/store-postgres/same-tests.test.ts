// The store's own tests, on PostgreSQL: the same files, with a database of their own for each store they open.

import { openPostgresStore } from '../../server/store/postgres/open.ts';
import { openStoresWith } from '../unit/store/memory-store.ts';
import { endDatabases, testDatabases } from './databases.ts';

openStoresWith(async (sources) => {
  const databases = await testDatabases();
  return openPostgresStore(await databases.createWithTables(), sources, {
    listen: false,
    connectionsMax: 3,
  });
});

suite('on PostgreSQL', () => {
  suiteTeardown(endDatabases);
});

// Without what is about SQLite files only: taking over the Go tool's database.
for (const name of [
  'attempts',
  'board-changes',
  'epics',
  'imports',
  'snapshot',
  'spending',
  'sub-tasks',
  'task-edit',
  'task-move',
  'tasks',
  'why',
  'random-plans',
]) {
  await import(`../unit/store/${name}.test.ts`);
}
