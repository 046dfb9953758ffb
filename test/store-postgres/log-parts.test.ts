// The rules for storing chunks of agents' output: chunks are appended at the end, by the attempt's
// machine, as whole chains, and announced once.

import assert from 'node:assert/strict';
import pg from 'pg';
import {
  appendParts,
  dropParts,
  parseLogName,
  outputChannel,
  type PartChain,
  type PartPlace,
} from '../../server/store/feed/log-parts.ts';
import { readParts, storedFiles } from '../../server/store/feed/read-log-parts.ts';
import type { Store } from '../../server/store/port.ts';
import { run, testDatabases, withStore } from './databases.ts';
import { beginAttempt } from './output-machines.ts';

suite('postgres: chunks of logs', function () {
  this.timeout(60_000);

  async function onStore(body: (store: Store, url: string) => Promise<void>): Promise<void> {
    const url = await (await testDatabases()).createWithTables();
    await withStore(url, async ({ store }) => {
      for (const id of ['T', 'U']) await beginAttempt(store, id, 'one');
      await body(store, url);
    });
  }

  /** Parts of ten bytes. */
  function chain(id: string, start: number, after: number | null, count = 1): PartChain {
    const log = parseLogName(`${id}/1.ndjson`);
    assert.ok(log !== null);
    const parts = Array.from({ length: count }, (_, index) => ({
      start: start + index * 10,
      size: 10,
      text: 'xxxxxxxxx\n',
    }));
    const place: PartPlace | null = after === null ? null : { start: after, size: 10 };
    return { log, file: log.file, after: place, parts };
  }

  const startsOf = async (store: Store, id: string): Promise<number[]> => {
    const file = `${id}/1.ndjson`;
    const parts = await readParts(store.db, file, { end: 0, textsFrom: 0, bytesMax: 1e6 });
    return parts.map((part) => part.start);
  };

  test('a chain is extended only at its end, never after a hole, and never by another machine', async () => {
    await onStore(async (store) => {
      const append = async (machine: string, ...chains: PartChain[]): Promise<string[]> =>
        [...(await appendParts(store.db, machine, chains))].sort();
      assert.deepEqual(await append('one', chain('T', 10, 0)), [], 'nothing is there yet');
      assert.deepEqual(await append('two', chain('T', 0, null)), [], 'not its attempt');
      assert.deepEqual(await append('one', chain('T', 0, null, 3), chain('U', 10, 0)), [
        'T/1.ndjson',
      ]);
      assert.deepEqual(await append('one', chain('T', 40, 30, 2)), [], 'a hole');
      assert.deepEqual(await append('one', chain('T', 30, 10, 2)), [], 'not the last part');
      assert.deepEqual(await append('one', chain('T', 30, 20, 2), chain('U', 0, null)), [
        'T/1.ndjson',
        'U/1.ndjson',
      ]);
      assert.deepEqual(await startsOf(store, 'T'), [0, 10, 20, 30, 40]);
      assert.deepEqual(await startsOf(store, 'U'), [0]);
    });
  });

  test('if two writers use the same offset, the second stores nothing', async () => {
    await onStore(async (store) => {
      await appendParts(store.db, 'one', [chain('T', 0, null)]);
      const second = appendParts(store.db, 'one', [chain('T', 0, null, 3), chain('U', 0, null)]);
      await assert.rejects(second, /log_parts_pkey/);
      const both = await Promise.allSettled([
        appendParts(store.db, 'one', [chain('T', 10, 0, 3)]),
        appendParts(store.db, 'one', [chain('T', 10, 0, 2)]),
      ]);
      assert.deepEqual(both.map((one) => one.status).sort(), ['fulfilled', 'rejected']);
      assert.deepEqual(await startsOf(store, 'U'), []);
    });
  });

  test("only the attempt's machine deletes stored chunks", async () => {
    await onStore(async (store) => {
      const stored = chain('T', 0, null, 4);
      await appendParts(store.db, 'one', [stored]);
      const { log, file } = stored;
      await dropParts(store.db, 'two', { log, file, from: 0 });
      assert.equal((await startsOf(store, 'T')).length, 4);
      await dropParts(store.db, 'one', { log, file, from: 20 });
      assert.deepEqual(await startsOf(store, 'T'), [0, 10]);
    });
  });

  test('each log is reported once, with the statement that stores it, and never after a rollback', async () => {
    await onStore(async (store, url) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const heard: string[] = [];
      const last = Promise.withResolvers<void>();
      client.on('notification', ({ payload = '' }) => {
        heard.push(payload);
        if (payload === 'end') last.resolve();
      });
      await client.query(`listen ${outputChannel}`);
      await appendParts(store.db, 'one', [chain('T', 0, null, 3), chain('U', 0, null)]);
      await appendParts(store.db, 'two', [chain('T', 30, 20)]);
      await assert.rejects(appendParts(store.db, 'one', [chain('T', 0, null)]));
      await run(url, `select pg_notify('${outputChannel}', 'end')`);
      await last.promise;
      await client.end();
      assert.deepEqual(heard.toSorted(), ['end', 'public T/1.ndjson', 'public U/1.ndjson']);
    });
  });

  test('no statement waits for the write turn', async () => {
    await onStore(async (store) => {
      await store.transaction(async () => {
        await appendParts(store.db, 'one', [chain('T', 0, null)]);
        assert.deepEqual(await startsOf(store, 'T'), [0]);
      });
    });
  });

  test("the files of a log are listed in order, and other logs' files are not", async () => {
    await onStore(async (store) => {
      const log = parseLogName('T/1.ndjson');
      assert.ok(log !== null);
      const names = ['', '.prompt', `.${'0'.repeat(15)}2`, `.${'0'.repeat(14)}10`, '.0', '.00x'];
      const [part] = chain('T', 0, null).parts;
      assert.ok(part !== undefined);
      for (const name of [...names.map((end) => `T/1.ndjson${end}`), 'T/11.ndjson', 'T/1.U.ndjson'])
        await appendParts(store.db, 'one', [{ log, file: name, after: null, parts: [part] }]);
      const files = (await storedFiles(store.db, 'T/1.ndjson')).map((one) => one.file.slice(10));
      assert.deepEqual(files, ['.prompt', '', names[2], names[3]]);
    });
  });

  const names: readonly (readonly [string, boolean])[] = [
    ['T/1.ndjson', true],
    ['T-1.2_x/12.T-1.2_x.3.ndjson', true],
    ['T/1.setup.log', false],
    ['T/1.ndjson.prompt', false],
    ['../1.ndjson', false],
    ['T/../1.ndjson', false],
    ['/T/1.ndjson', false],
    ['T/1...ndjson', false],
    ['T\\1.ndjson', false],
    ['.x/1.ndjson', false],
    ['T/x.ndjson', false],
    ['T/1/2.ndjson', false],
    ['T/1.ndjson\n', false],
  ];
  for (const [name, isLog] of names) {
    test(`${JSON.stringify(name)} is ${isLog ? 'a log' : 'not a log'} of an attempt`, () => {
      assert.equal(parseLogName(name) !== null, isLog);
    });
  }
});
