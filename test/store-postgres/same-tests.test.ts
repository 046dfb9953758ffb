// The store's own tests on PostgreSQL: the same files, with a separate database for each store that
// they open.

import { type Kysely, sql } from 'kysely';
import { openPostgresStore } from '../../server/store/postgres/open.ts';
import type { StoreTables } from '../../server/store/schema/tables.ts';
import { createStore } from '../../server/store/store.ts';
import { sized } from '../tier.ts';
import { type OpenEmpty, openStoresWith, testSources } from '../unit/store/memory-store.ts';
import { tables, testDatabases } from './databases.ts';

interface Kept {
  readonly db: Kysely<StoreTables>;
  readonly close: () => Promise<void>;
}

/**
 * Databases whose store was closed, with their connections: emptying one for the next store is much
 * faster than creating one.
 */
const empty: Kept[] = [];
const all: Kept[] = [];

/**
 * These statements have the effect of `truncate … restart identity cascade`, but `truncate` creates
 * some hundred files and takes five times as long for a few rows.
 */
const emptied = [
  'set local session_replication_role = replica',
  ...tables.split(', ').map((name) => `delete from ${name}`),
  `select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) from pg_sequences`,
  'update past_start set seq = 0',
  'update pruned_events set seq = 0',
];

const onPostgres: OpenEmpty = async (sources) => {
  const kept = empty.pop() ?? (await another());
  return {
    store: createStore(kept.db, sources),
    close: async () => {
      await kept.db.transaction().execute(async (tx) => {
        for (const statement of emptied) await sql.raw(statement).execute(tx);
      });
      empty.push(kept);
    },
  };
};

async function another(): Promise<Kept> {
  const databases = await testDatabases();
  const opened = await openPostgresStore(await databases.createWithTables(), testSources(), {
    listen: false,
    connectionsMax: 3,
  });
  const kept = { db: opened.store.db as Kysely<StoreTables>, close: opened.close };
  all.push(kept);
  return kept;
}

// Runs before the server ends, which databases.ts sees to.
suiteTeardown(async () => {
  for (const { close } of all) await close();
});

/** Suites that are defined during that time run on PostgreSQL; other suites are not changed. */
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

// Excludes tests that concern only SQLite files: taking over the Go tool's database.
const gateNames = [
  'actors',
  'attempts',
  'board-changes',
  'imports',
  'machine-events',
  'machine-orders',
  'machines',
  'task-move',
  'tasks',
  'transactions',
  'prune',
  'why',
  'random-plans',
  'past',
  'notes',
];
// Their statements are of the kinds that the others have.
const soakNames = [
  'base-waits',
  'epics',
  'snapshot',
  'spending',
  'sub-tasks',
  'task-edit',
  'webhooks',
  'beads',
];
for (const name of sized(gateNames, [...gateNames, ...soakNames])) {
  await import(`../unit/store/${name}.test.ts?postgres`);
}
globalThis.suite = plainSuite;
