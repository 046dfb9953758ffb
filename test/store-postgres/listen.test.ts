// News from other processes arrives at once, and also after listening was interrupted.

import assert from 'node:assert/strict';
import type { Store } from '../../server/store/port.ts';
import { testDatabases, withStore } from './databases.ts';

/** Resolves when the events up to this number have been read; reads only when it is notified. */
async function reaches(store: Store, seq: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      store.feed.lastSeq().then(
        (last) => {
          if (last < seq) return;
          stop();
          resolve();
        },
        () => undefined, // The next call reads again.
      );
    };
    const stop = store.feed.onAppend(look);
  });
}

const append = (store: Store): Promise<void> =>
  store.transaction((tx) => store.append(tx, { type: 'news' }));

suite('postgres: listening', function () {
  this.timeout(60_000);

  test('events that another process appends are reported', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await withStore(url, ({ store: hears }) =>
      withStore(url, async ({ store: writes }) => {
        for (let round = 0; round < 3; round += 1) {
          const told = reaches(hears, round + 1);
          await append(writes);
          await told;
        }
      }),
    );
  });

  test('events that were rolled back are not reported', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await withStore(url, ({ store: hears }) =>
      withStore(url, async ({ store: writes }) => {
        let told = 0;
        hears.feed.onAppend(() => (told += 1));
        await assert.rejects(
          writes.transaction(async (tx) => {
            await writes.append(tx, { type: 'undone' });
            throw new Error('undone');
          }),
        );
        const next = reaches(hears, 2);
        await append(writes);
        await next;
        assert.equal(told, 1);
      }),
    );
  });

  test('when the server ends the connection, it reconnects and reads the missed events', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await withStore(url, ({ store: hears }) =>
      withStore(url, async ({ store: writes }) => {
        const told = reaches(hears, 1);
        await databases.run(
          databases.server.url('postgres'),
          `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'`,
        );
        await append(writes);
        await told;
        const again = reaches(hears, 2);
        await append(writes);
        await again;
      }),
    );
  });
});
