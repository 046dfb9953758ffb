// A client that knows the stock contract alone drives the worker runtime through a whole job.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemTarGz, unpackInto } from '../support/archives.ts';
import { useRuntimes } from '../support/runtime-process.ts';
import { StockClient } from '../support/stock-client.ts';

suite('worker runtime: a stock client', () => {
  const start = useRuntimes();

  test('R24 a stock client runs a whole job: upload, command, stream, download', async () => {
    const runtime = await start({ env: { DROVER_WORKER_KEEPALIVE_MS: '50' } });
    const client = new StockClient(runtime.url, runtime.token);
    const archive = systemTarGz({ 'src/a.txt': 'one\n', 'b.txt': 'two\n' });
    const command = `
      cat src/a.txt b.txt
      sleep 0.3
      echo trouble >&2
      echo three > src/c.txt
      rm b.txt
      head -c 70000 /dev/zero | tr '\\0' y
      exit 5`;
    const { stdout, stderr, exitCode, workspace } = await client.runJob(archive, command);
    // A long line comes in pieces, which this client takes for lines; all of it is there.
    assert.equal(stdout.replaceAll(/y\n(?=y)/g, 'y'), `one\ntwo\n${'y'.repeat(70_000)}\n`);
    assert.deepEqual([stderr, exitCode], ['trouble\n', 5]);
    const copy = join(runtime.folder, 'copy');
    unpackInto(copy, workspace);
    assert.equal(readFileSync(join(copy, 'src/c.txt'), 'utf8'), 'three\n');
    assert.throws(() => readFileSync(join(copy, 'b.txt')));
    // The instance can be used again.
    const again = await client.runJob(archive, 'ls');
    assert.equal(again.stdout, 'b.txt\nsrc\n');
  });
});
