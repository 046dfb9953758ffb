// One PostgreSQL server for all tests of a process, and an empty database for each test that asks
// for one.

import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Store, StoreSources, Tx } from '../../server/store/port.ts';
import { openPostgresStore, type OpenedPostgresStore } from '../../server/store/postgres/open.ts';
import type { PoolOptions } from '../../server/store/postgres/pool.ts';
import type { NewEvent } from '../../server/store/feed/feed.ts';
import type { StoreTables } from '../../server/store/schema/tables.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { testSources } from '../unit/store/memory-store.ts';

export interface TestDatabases {
  readonly server: PostgresServer;
  /** An empty database. */
  readonly create: () => Promise<string>;
  /** A database with Drover's tables, which are empty. */
  readonly createWithTables: () => Promise<string>;
  /** Runs statements as the owner. */
  readonly run: (url: string, ...statements: readonly string[]) => Promise<pg.QueryResult>;
}

/** All tables of Drover, for `truncate`. */
export const tables = [
  'tasks',
  'epics',
  'task_dependencies',
  'worktrees',
  'slots',
  'attempts',
  'events',
  'questions',
  'guidance_queue',
  'runs',
  'lines',
  'line_landers',
  'line_tips',
  'line_gates',
  'arrivals',
  'landings',
  'gate_verdicts',
  'accounts',
  'spending',
  'holds',
  'task_plans',
  'machines',
  'log_parts',
  'past',
  'past_events',
  'metrics_carried',
  'exporters',
  'webhook_cursors',
  'webhook_deliveries',
  'forge_items',
  'forge_facts',
  'forge_reactions',
  'forge_outbox',
  'forge_issues',
  'notes',
  'forecasts',
  'reviews',
].join(', ');

let started: Promise<TestDatabases> | null = null;

/** The first test waits for it. */
export function testDatabases(): Promise<TestDatabases> {
  return (started ??= start());
}

// Runs outside of all suites, after the last test of the process.
suiteTeardown(async () => {
  await (await started)?.server.close();
});

async function start(): Promise<TestDatabases> {
  const server = await startPostgres();
  let count = 0;
  const template = 'template_of_tests';
  const made = await openPostgresStore(await server.createDatabase(template), testSources(), {
    listen: false,
  });
  await made.close();
  const name = (): string => `test_${(count += 1)}`;
  return {
    server,
    create: () => server.createDatabase(name()),
    createWithTables: async () => {
      const database = name();
      await run(server.url('postgres'), `create database ${database} template ${template}`);
      return server.url(database);
    },
    run,
  };
}

export async function run(url: string, ...statements: readonly string[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let result: pg.QueryResult | undefined;
    for (const statement of statements) result = await client.query(statement);
    if (result === undefined) throw new Error('no statement');
    return result;
  } finally {
    await client.end();
  }
}

/** Opens a store and closes it after the body. */
export async function withStore<T>(
  url: string,
  body: (opened: OpenedPostgresStore) => Promise<T>,
  options: PoolOptions & { readonly sources?: StoreSources } = {},
): Promise<T> {
  const { sources = testSources(), ...rest } = options;
  const opened = await openPostgresStore(url, sources, rest);
  try {
    return await body(opened);
  } finally {
    await opened.close();
  }
}

/** Appends an event in its own transaction; resolves with the event's number. */
export const appended = (store: Store, event: NewEvent): Promise<number> =>
  store.transaction((tx) => appendedIn(store, tx, event));

/**
 * Like the function above, but inside a transaction, which holds the turn when the promise
 * resolves.
 */
export async function appendedIn(store: Store, tx: Tx, event: NewEvent): Promise<number> {
  await store.append(tx, event);
  const { rows } = await sql<{ seq: number }>`select max(seq) as seq from events`.execute(
    tx as unknown as Kysely<StoreTables>,
  );
  return rows[0]?.seq ?? 0;
}
