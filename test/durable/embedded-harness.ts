// The embedded adapter for the conformance suite.

import { join } from 'node:path';
import type { Transaction } from 'kysely';
import { createEmbeddedDurable } from '../../server/durable/embedded/embedded.ts';
import { isProcessAlive, processIdentity } from '../../server/durable/embedded/process-identity.ts';
import { systemClock } from '../../server/durable/embedded/system-clock.ts';
import { createDurableTables, type DurableTables } from '../../server/durable/embedded/tables.ts';
import { migrate } from '../../server/store/sqlite/migrate.ts';
import { openSqlite, type OpenedDatabase } from '../../server/store/sqlite/open.ts';
import type { DurableHarness } from './harness.ts';

export interface TestTables extends DurableTables {
  notes: { text: string };
}

export async function openTestDatabase(path: string): Promise<OpenedDatabase<TestTables>> {
  const database = openSqlite<TestTables>(path);
  await migrate(database, {
    version: 1,
    migrations: [
      {
        version: 1,
        name: 'durable tables and notes',
        async up(db) {
          await createDurableTables(db);
          await db.schema.createTable('notes').addColumn('text', 'text').execute();
        },
      },
    ],
  });
  return database;
}

export const embeddedHarness: DurableHarness<Transaction<TestTables>> = {
  adapter: 'embedded',
  takesClock: true,
  async createStore(folder) {
    const location = join(folder, 'durable.db');
    await (await openTestDatabase(location)).close();
    return location;
  },
  async dropStore() {},
  async open(location, options = {}) {
    const database = await openTestDatabase(location);
    const { db } = database;
    const durable = createEmbeddedDurable({
      db,
      clock: options.clock ?? systemClock,
      processId: processIdentity(),
      isProcessAlive,
      leaseMs: options.leaseMs ?? 60_000,
      ...(options.crashPoint && { crashPoint: options.crashPoint }),
      onTrouble: (error) => {
        throw error;
      },
    });
    return {
      durable,
      addNote: async (tx, text) => void (await tx.insertInto('notes').values({ text }).execute()),
      notes: async () => {
        const rows = await db.selectFrom('notes').select('text').execute();
        return rows.map(({ text }) => text);
      },
      transaction: (body) => db.transaction().execute(body),
      async close() {
        await durable.close();
        await database.close();
      },
    };
  },
};
