// Claiming in the embedded adapter: a queue that is full costs no transaction, one with room loses nothing.

import assert from 'node:assert/strict';
import { claimWork, type ClaimedWork } from '../../../server/durable/embedded/claim.ts';
import { insertWorkflow } from '../../../server/durable/embedded/statements.ts';
import {
  createDurableTables,
  type DurableTables,
} from '../../../server/durable/embedded/tables.ts';
import { transactionNumber } from '../../../server/store/sqlite/driver.ts';
import { type OpenedDatabase, openSqlite } from '../../../server/store/sqlite/open.ts';

suite('durable: claiming from queues', () => {
  let opened: OpenedDatabase<DurableTables>;
  setup(async () => {
    opened = openSqlite<DurableTables>(':memory:');
    await createDurableTables(opened.db);
  });
  teardown(() => opened.close());

  const add = (id: string, queue: string): Promise<void> =>
    insertWorkflow(opened.db, { id, name: 'work', queue, priority: 0, input: 'null' }, 1);
  const claim = async (): Promise<readonly string[]> => {
    const { claimed } = await claimWork(opened.db, {
      limits: new Map([['line', { concurrency: 1 }]]),
      runningByQueue: new Map(),
      names: ['work'],
      notIds: [],
      owner: 'me',
      leaseExpiresAt: 1_000,
      now: 1,
    });
    return claimed.map(({ row }: ClaimedWork) => row.id);
  };

  test('a full queue starts no transaction, and delays nothing that waits in another queue', async () => {
    await add('first', 'line');
    await add('second', 'line');
    assert.deepEqual(await claim(), ['first']);
    const before = transactionNumber(opened.raw);
    assert.deepEqual(await claim(), []);
    assert.equal(transactionNumber(opened.raw), before);
    await add('other', 'agents');
    assert.deepEqual(await claim(), ['other']);
  });
});
