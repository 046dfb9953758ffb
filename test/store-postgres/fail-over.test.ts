// Several servers in one URL, as for high availability: Drover finds the server that takes writes,
// even after that server has died and another has taken its place.

import assert from 'node:assert/strict';
import type { Store } from '../../server/store/port.ts';
import { checkPostgres } from '../../server/store/postgres/check.ts';
import { openPostgresStore } from '../../server/store/postgres/open.ts';
import { usePostgresPair } from '../postgres/pair.ts';
import { testSources } from '../unit/store/memory-store.ts';
import { closedPort } from './bad-surroundings.ts';
import { appended, withStore } from './databases.ts';
import { isTrouble } from './troubles.ts';

const append = (store: Store): Promise<number> => appended(store, { type: 'news' });

suite('postgres: several servers', function () {
  this.timeout(120_000);
  const servers = usePostgresPair();

  const urlOf = (database: string, ...ports: readonly number[]): string =>
    `postgresql://drover@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${database}`;

  test('the store uses the server that accepts writes, even beside an unreachable one', async () => {
    const { primary, standby } = servers();
    await primary.createDatabase('anywhere');
    const away = await closedPort();
    for (const ports of [
      [primary.port, standby.port],
      [standby.port, primary.port],
      [away, standby.port, primary.port],
    ]) {
      await withStore(urlOf('anywhere', ...ports), ({ store }) => append(store));
    }
    const { ok, message } = await checkPostgres(urlOf('anywhere', standby.port, primary.port));
    assert.ok(ok, message);
  });

  test('if no server accepts writes, this is reported as temporary', async () => {
    const { standby } = servers();
    const away = await closedPort();
    const url = urlOf('anywhere', standby.port, away);
    await assert.rejects(
      openPostgresStore(url, testSources()),
      (error: Error & { readonly retryable?: boolean }) =>
        isTrouble(
          'starting',
          `127.0.0.1:${standby.port},127.0.0.1:${away}`,
          'takes writes',
        )(error) && error.retryable === true,
    );
  });

  test('when the writing server dies and another one is promoted, the same store continues', async () => {
    const { primary, standby } = servers();
    await primary.createDatabase('orders');
    const url = urlOf('orders', primary.port, standby.port);
    await withStore(url, async ({ store: hears }) =>
      withStore(url, async ({ store }) => {
        assert.equal(await append(store), 1);
        await primary.stop('SIGKILL');
        // The write is reported as lost or as not started: in both cases the caller may try again.
        await assert.rejects(
          append(store),
          (error: Error & { readonly retryable?: boolean }) => error.retryable === true,
        );
        await standby.promote();
        const heard = new Promise<void>((resolve) => void hears.feed.onAppend(resolve));
        // A promoted server skips the numbers that the dead server may have given away.
        const next = await append(store);
        assert.ok(next > 1);
        await heard;
        assert.equal(await hears.feed.lastSeq(), next);
      }),
    );
  });
});
