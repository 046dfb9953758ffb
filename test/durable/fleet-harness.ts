// The fleet adapter for the conformance suite: one PostgreSQL server per run, and one database for
// each test.

import { sql, type Transaction } from 'kysely';
import pg from 'pg';
import { openFleet } from '../../server/durable/fleet/open.ts';
import { isDatabaseTrouble } from '../../server/durable/fleet/trouble.ts';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import type { DurableHarness } from './harness.ts';

export interface FleetTestTables {
  notes: { text: string };
}

let server: Promise<PostgresServer> | null = null;
let databases = 0;
/** Created once, because copying it takes a fraction of the time of DBOS's hundred migrations. */
let template: Promise<string> | null = null;

export async function closeTestPostgres(): Promise<void> {
  await (await server)?.close();
  server = null;
  template = null;
}

export function testPostgres(): Promise<PostgresServer> {
  server ??= startPostgres();
  return server;
}

async function makeTemplate(): Promise<string> {
  const name = 'drover_template';
  const url = await (await testPostgres()).createDatabase(name);
  const fleet = await openFleet<FleetTestTables>({ url });
  await fleet.db.schema.createTable('notes').addColumn('text', 'text').execute();
  await fleet.close();
  return name;
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: (await testPostgres()).url('postgres') });
  await client.connect();
  await client.query(statement);
  await client.end();
}

export const fleetHarness: DurableHarness<Transaction<FleetTestTables>> = {
  adapter: 'fleet',
  takesClock: false,
  async createStore() {
    template ??= makeTemplate();
    const from = await template;
    databases += 1;
    const name = `drover_test_${databases}`;
    await administer(`create database ${name} template ${from}`);
    return (await testPostgres()).url(name);
  },
  async dropStore(location) {
    await administer(`drop database ${new URL(location).pathname.slice(1)} with (force)`);
  },
  async open(location, options = {}) {
    const troubles: unknown[] = [];
    const fleet = await openFleet<FleetTestTables>({
      url: location,
      takeOverAfterMs: options.leaseMs ?? 60_000,
      prepare: false,
      ...(options.crashPoint && { crashPoint: options.crashPoint }),
      // A process that slept past its heartbeat finds its connections dropped.
      onTrouble: (error) => {
        if (!isDatabaseTrouble(error)) troubles.push(error);
      },
    });
    const { durable, db } = fleet;
    let closed: Promise<void> | null = null;
    const closeAndTell = async (): Promise<void> => {
      await fleet.close();
      if (troubles.length > 0) throw new AggregateError(troubles, 'the database had trouble');
    };
    return {
      durable,
      addNote: async (tx, text) => void (await tx.insertInto('notes').values({ text }).execute()),
      notes: async () => {
        const { rows } = await sql<{ text: string }>`select text from notes`.execute(db);
        return rows.map(({ text }) => text);
      },
      transaction: (body) => db.transaction().execute(body),
      close: () => (closed ??= closeAndTell()),
    };
  },
};
