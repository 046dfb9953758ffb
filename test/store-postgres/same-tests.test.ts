// The store's own tests, on PostgreSQL: the same files, with a database of their own for each store they open.

import { openPostgresStore } from '../../server/store/postgres/open.ts';
import { type OpenEmpty, openStoresWith } from '../unit/store/memory-store.ts';
import { tables, testDatabases } from './databases.ts';

/** Databases whose store was closed, emptied for the next one: much quicker than a new one for each. */
const empty: string[] = [];

/** As `truncate … restart identity cascade` does, which makes some hundred new files: five times as dear for a few rows. */
const emptied = [
  'set session_replication_role = replica',
  ...tables.split(', ').map((name) => `delete from ${name}`),
  `select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) from pg_sequences`,
];

const onPostgres: OpenEmpty = async (sources) => {
  const databases = await testDatabases();
  const url = empty.pop() ?? (await databases.createWithTables());
  const opened = await openPostgresStore(url, sources, { listen: false, connectionsMax: 3 });
  return {
    store: opened.store,
    close: async () => {
      await opened.close();
      await databases.run(
        url,
        ...emptied,
        'update past_start set seq = 0',
        'update pruned_events set seq = 0',
      );
      empty.push(url);
    },
  };
};

/** Suites that are made meanwhile run on PostgreSQL, and leave others as they are. */
const plainSuite = globalThis.suite;
let depth = 0;
const suiteOnPostgres = (title: string, body: (this: Mocha.Suite) => void): Mocha.Suite => {
  const isOuter = depth === 0;
  depth += 1;
  const made = plainSuite(isOuter ? `postgres: ${title}` : title, function () {
    if (isOuter) {
      suiteSetup(() => openStoresWith(onPostgres));
      suiteTeardown(() => openStoresWith(null));
    }
    body.call(this);
  });
  depth -= 1;
  return made;
};
globalThis.suite = suiteOnPostgres as Mocha.SuiteFunction;

// Without what is about SQLite files only: taking over the Go tool's database.
for (const name of [
  'attempts',
  'base-waits',
  'board-changes',
  'epics',
  'imports',
  'machines',
  'snapshot',
  'spending',
  'sub-tasks',
  'task-edit',
  'task-move',
  'tasks',
  'transactions',
  'webhooks',
  'prune',
  'why',
  'random-plans',
  'past',
  'beads',
]) {
  await import(`../unit/store/${name}.test.ts?postgres`);
}
globalThis.suite = plainSuite;
