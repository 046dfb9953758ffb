// H01–H10: workers that lie, flood and stall. Whatever they do, the worktree stays unchanged or
// gets only allowed files, and the instance is destroyed.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { EventParser } from '../../../server/workers/client/event-parser.ts';
import { resultCaps } from '../../../server/workers/client/unpack.ts';
import { tarGzOf, type Entry } from '../support/archives.ts';
import { type JobOptions, useStockJobs } from '../support/stock-jobs.ts';

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const listed = (files: Readonly<Record<string, string>>): Entry => ({
  name: '.drover-job/manifest.sha256',
  content: Object.entries(files)
    .map(([path, text]) => `${sha(text)}  ./${path}\n`)
    .join(''),
});

suite('hostile workers', () => {
  const jobs = useStockJobs();
  const script = 'cat > /dev/null; echo c > c.txt';

  /** The whole job with this archive as its result. */
  async function withArchive(archive: Buffer, more: JobOptions = {}) {
    return await jobs.ran({ script, stock: () => ({ archive: () => archive }), ...more });
  }

  /** Refused permanently: no other instance is tried, and the worktree is unchanged. */
  async function assertRefused(archive: Buffer, reason: RegExp, more: JobOptions = {}) {
    const { outcome, provisioner } = await withArchive(archive, more);
    assert.ok(outcome.kind === 'failed', outcome.kind);
    assert.match(outcome.message, reason);
    assert.equal(outcome.retryable, false);
    assert.equal(provisioner.specs.length, 1);
    assert.deepEqual(jobs.slot(), ['a.txt', 'b.txt']);
  }

  test('H01 an archive that unpacks to too much is refused: content, ratio, entries', async () => {
    const zeros = await tarGzOf([{ name: 'zeros', content: Buffer.alloc(3_000_000) }]);
    const caps = { ...resultCaps, totalBytes: 1_000_000, entries: 10 };
    await assertRefused(zeros, /unpacks to more than is allowed/, { resultCaps: caps });
    const ratio = { ...resultCaps, ratioFromBytes: 100_000 };
    await assertRefused(zeros, /unpacks to more than is allowed/, { resultCaps: ratio });
    const many = await tarGzOf(
      Array.from({ length: 30 }, (_, n) => ({ name: `f${n}`, content: '' })),
    );
    await assertRefused(many, /too many entries/, { resultCaps: { ...resultCaps, entries: 20 } });
  });

  test('H02 an archive with excessive names is refused: one long name, many deep folders, a long target', async () => {
    const long = await tarGzOf([{ name: `${'a/'.repeat(10_000)}x`, content: 'x' }]);
    await assertRefused(long, /a name of 20001 characters/);
    const target: Entry = { name: 'l', type: 'symlink', linkname: 'x'.repeat(9_000) };
    await assertRefused(await tarGzOf([target]), /a name of 9000 characters/);
    const deep = Array.from({ length: 40 }, (_, n) => ({
      name: `${n}/${'a/'.repeat(2_000)}x`,
      content: 'x',
    }));
    await assertRefused(await tarGzOf(deep), /its names are too long/);
  });

  test("H03 an archive that fills the memory with Drover's own files is refused", async () => {
    const content = Buffer.alloc(9_000, 'x');
    const own = Array.from({ length: 3 }, (_, n) => ({ name: `.drover-job/${n}`, content }));
    const caps = { ...resultCaps, fileBytes: 10_000 };
    await assertRefused(await tarGzOf(own), /its \.drover-job is too large/, { resultCaps: caps });
  });

  test('H04 an archive that grows endlessly and unpacks to nothing is cut off', async () => {
    const nothing = gzipSync('');
    let bytes = 0;
    const { outcome, provisioner } = await jobs.ran({
      script,
      resultCaps: { ...resultCaps, totalBytes: 100_000, entries: 10 },
      stock: () => ({
        answers: (route, _request, response) => {
          if (route !== 'GET /workspace') return false;
          const chunk = Buffer.concat(Array.from({ length: 500 }, () => nothing));
          const more = (): void => {
            while (!response.destroyed) {
              bytes += chunk.length;
              if (!response.write(chunk)) break;
            }
          };
          response.on('drain', more);
          more();
          return true;
        },
      }),
    });
    assert.ok(outcome.kind === 'failed');
    assert.match(outcome.message, /larger than is allowed/);
    assert.ok(bytes < 20_000_000, `${bytes} bytes were sent`);
    assert.equal(provisioner.specs.length, 1);
  });

  test("H05 links and .git entries create nothing outside the worktree and change none of git's files", async () => {
    const files = { 'fine.txt': 'fine' };
    const archive = await tarGzOf([
      { name: '.git', type: 'symlink', linkname: '/tmp' },
      { name: 'sub/.git', content: 'gitdir: /elsewhere' },
      { name: 'out', type: 'symlink', linkname: '../..' },
      { name: 'abs', type: 'symlink', linkname: '/etc/passwd' },
      { name: 'in', type: 'symlink', linkname: 'fine.txt' },
      { name: 'a.txt', content: 'a\n' },
      { name: 'b.txt', content: 'b\n' },
      { name: 'fine.txt', content: 'fine' },
      listed({ ...files, 'a.txt': 'a\n', 'b.txt': 'b\n' }),
    ]);
    const { outcome, notes } = await withArchive(archive);
    assert.deepEqual(outcome, { kind: 'ran', exitCode: 0, signal: null });
    assert.deepEqual(jobs.slot(), ['a.txt', 'b.txt', 'fine.txt', 'in']);
    assert.match(notes, /a link out of the tree\): out, abs/);
  });

  test('H06 a wrong list of hashes removes nothing: missing, of other files, damaged, no list at all', async () => {
    const lists: readonly Entry[][] = [
      [],
      [listed({ 'other.txt': 'x' })],
      [listed({ 'fine.txt': 'different' })],
      [{ name: '.drover-job/manifest.sha256', content: randomBytes(400) }],
    ];
    for (const list of lists) {
      const archive = await tarGzOf([{ name: 'fine.txt', content: 'fine' }, ...list]);
      const { outcome, notes } = await withArchive(archive);
      assert.deepEqual(outcome, { kind: 'ran', exitCode: 0, signal: null });
      assert.match(notes, /The result is incomplete/);
      assert.deepEqual(jobs.slot(), ['a.txt', 'b.txt', 'fine.txt']);
    }
  });

  /** Headers at once, then one byte after the other, for ever. */
  const drips = (response: ServerResponse, status: number): true => {
    response.writeHead(status);
    const timer = setInterval(() => response.write('x'), 5);
    response.on('close', () => clearInterval(timer));
    return true;
  };

  test('H07 a health answer that never ends delays nothing, whatever its status', async () => {
    const statuses: readonly (readonly [string, number])[] = [
      ['GET /health', 200],
      ['GET /health', 503],
    ];
    for (const [path, status] of statuses) {
      const { outcome } = await jobs.ran({
        script,
        stock: () => ({
          answers: (route, _request, response) => route === path && drips(response, status),
        }),
      });
      assert.equal(outcome.kind, status === 200 ? 'ran' : 'failed');
    }
  });

  test('H07 a line without an end is cut off, and so is an event with many fields', () => {
    const parts = ['x', 'id: 1\n', 'data:\n', 'retry: 5\n'];
    for (const part of parts) {
      const parser = new EventParser(1_000_000);
      const chunk = Buffer.from(part.repeat(Math.ceil(100_000 / part.length)));
      assert.throws(() => {
        for (let count = 0; count < 11; count += 1) parser.push(chunk);
      }, /too large/);
    }
  });

  test('H08 a server that asks for the token again does not get it: redirects are not followed, and 401 ends the job', async () => {
    const asked: string[] = [];
    const thief = createServer((request: IncomingMessage, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.end('ok');
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    const { port } = thief.address() as AddressInfo;
    try {
      for (const path of ['GET /health', 'POST /workspace', 'POST /exec', 'stream', 'GET /wor']) {
        for (const status of path === 'GET /health' ? [301, 401, 407] : [307, 401]) {
          const { outcome, provisioner } = await jobs.ran({
            script,
            stock: () => ({
              answers: (route, _request, response) => {
                if (!route.includes(path)) return false;
                response.writeHead(status, {
                  location: `http://127.0.0.1:${port}/steal`,
                  'www-authenticate': 'Bearer realm="again"',
                  'proxy-authenticate': 'Basic realm="again"',
                });
                response.end('unauthorized\n');
                return true;
              },
            }),
          });
          assert.equal(outcome.kind, 'failed', `${path} ${status}`);
          provisioner.seen.forEach((worker, n) => {
            assert.deepEqual([...worker.authorizations], [`Bearer ${provisioner.specs[n]?.token}`]);
          });
        }
      }
      assert.deepEqual(asked, []);
    } finally {
      thief.close();
    }
  }).timeout(60_000);

  test('H09 a worker that accepts an upload without reading it does not get the job', async () => {
    writeFileSync(join(jobs.root, 'a.txt'), randomBytes(9_000_000));
    const { outcome, provisioner } = await jobs.ran({
      script,
      stock: () => ({
        answers: (route, _request, response) => {
          if (route !== 'POST /workspace') return false;
          response.writeHead(200, { connection: 'close' }).end('{"status":"success"}');
          return true;
        },
      }),
    });
    assert.ok(outcome.kind === 'failed');
    assert.match(outcome.message, /accepted the upload before it had received all of it/);
    assert.ok(!provisioner.seen.flatMap(({ requests }) => requests).includes('POST /exec'));
  }).timeout(30_000);

  test('H10 output that looks like Drover, controls a terminal or repeats the token is only output', async () => {
    const { lines, notes, outcome } = await jobs.ran({
      script: `cat > c.txt; printf '%s\\n' '{"type":"client_start"}' '{"done":true,"exit_code":0}' "$TOLD" ; exit 4`,
    });
    assert.deepEqual(outcome, { kind: 'ran', exitCode: 4, signal: null });
    assert.deepEqual(lines.slice(-2), ['{"done":true,"exit_code":0}', '[hidden]']);
    assert.doesNotMatch(notes, /[0-9a-f]{64}/);
    assert.equal(readFileSync(join(jobs.root, 'c.txt'), 'utf8'), 'do it');
  });
});
