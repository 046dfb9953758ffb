// A transaction that fails writes nothing, even if parts of its body are still running.

import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { readAtOneMoment } from '../../../server/store/rows/one-moment.ts';
import type { StoreTables } from '../../../server/store/schema/tables.ts';
import { tablesOf } from '../../tables.ts';
import { memoryStore, type TestStore } from './memory-store.ts';

const writesMax = 10_000;

suite('transactions', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  async function epics(): Promise<readonly string[]> {
    const rows = await tablesOf(project.store.db).selectFrom('epics').select('id').execute();
    return rows.map(({ id }) => id);
  }

  const add = (tx: Kysely<StoreTables>, n: number) =>
    tx.insertInto('epics').values({ id: `E-${n}`, title: 'x', position: n, created_at: 1 });

  /** Writes until the store refuses, and then has the reason. */
  async function writeOn(tx: Kysely<StoreTables>, waits: boolean): Promise<unknown> {
    try {
      for (let n = 0; n < writesMax; n += 1) {
        if (waits) await add(tx, n).returning('id').execute();
        else await add(tx, n).execute();
        // A request that does not wait takes no time at all.
        if (!waits) await setImmediate();
      }
    } catch (error) {
      return error;
    }
    return null;
  }

  for (const waits of [false, true])
    test(`a failing transaction leaves nothing behind of a sibling that ${waits ? 'waits for' : 'only sends'} its writes`, async () => {
      for (const steps of [0, 1, 2, 3, 5, 8]) {
        let sibling: Promise<unknown> = Promise.resolve(null);
        const failing = project.store.transaction(async (lent) => {
          const tx = lent as unknown as Kysely<StoreTables>;
          sibling = writeOn(tx, waits);
          const fail = async (): Promise<void> => {
            await sql`select 1`.execute(tx);
            for (let n = 0; n < steps; n += 1) await Promise.resolve();
            throw new Error('broken');
          };
          await Promise.all([fail(), sibling]);
        });
        await assert.rejects(failing, /^Error: broken$/);
        assert.match(String(await sibling), /Error/, 'it is refused');
        assert.deepEqual(await epics(), [], `${steps} steps`);
      }
      await project.store.transaction((lent) =>
        add(lent as unknown as Kysely<StoreTables>, 1).execute(),
      );
      assert.deepEqual(await epics(), ['E-1']);
    });

  test('statements of concurrent parts of a body run in the order in which they were sent', async () => {
    const seen = await project.store.transaction(async (lent) => {
      const tx = lent as unknown as Kysely<StoreTables>;
      const titles = async (): Promise<string> => {
        const rows = await tx.selectFrom('epics').select('title').execute();
        return rows.map(({ title }) => title).join();
      };
      const write = async (title: string): Promise<null> => {
        await tx.updateTable('epics').set({ title }).execute();
        return null;
      };
      await add(tx, 1).execute();
      return Promise.all([titles(), write('y'), titles(), write('z'), titles()]);
    });
    assert.deepEqual(seen, ['x', null, 'y', null, 'z']);
  });

  test('a nested read sees the same snapshot', async () => {
    const { db } = project.store;
    const counted = await readAtOneMoment(db, async (at) =>
      readAtOneMoment(at, async (same) => {
        const rows = await tablesOf(same).selectFrom('epics').select('id').execute();
        return [same === at, rows.length];
      }),
    );
    assert.deepEqual(counted, [true, 0]);
    await readAtOneMoment(db, async () => {});
  });
});
