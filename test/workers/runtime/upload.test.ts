// Uploads to the worker runtime (worker contract §6, §9): the old tree stays until the new one is found good.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { eventually } from '../../e2e/support/eventually.ts';
import { systemTarGz, tarGzOf, tarOf, type Entry, unpackInto } from '../support/archives.ts';
import { ask, exec, follow, linesOf, runToEnd } from '../support/http.ts';
import { useRuntimes, type RuntimeProcess } from '../support/runtime-process.ts';

const gzipType = { 'Content-Type': 'application/gzip' };
const upload = async (runtime: RuntimeProcess, body: Uint8Array) =>
  await ask(runtime, '/workspace', { body, headers: gzipType });

async function uploadOld(runtime: RuntimeProcess): Promise<void> {
  const { status, text } = await upload(runtime, systemTarGz({ 'old/a.txt': 'old' }));
  assert.deepEqual([status, text], [200, '{"status":"success"}']);
}

function assertOldTree({ workspace }: RuntimeProcess): void {
  assert.deepEqual(readdirSync(workspace), ['old']);
  assert.equal(readFileSync(join(workspace, 'old/a.txt'), 'utf8'), 'old');
}

const file = (name: string, content = 'x'): Entry => ({ name, content });
const link = (name: string, linkname: string): Entry => ({ name, type: 'symlink', linkname });

suite('worker runtime: uploads', () => {
  const start = useRuntimes();

  test('R04 an upload replaces the old tree once it is complete', async () => {
    const runtime = await start();
    await uploadOld(runtime);
    const archive = systemTarGz({ 'new/b.txt': 'new', 'c.txt': 'x'.repeat(100_000) });
    let finish = (): void => undefined;
    const whole = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* pieces() {
      yield archive.subarray(0, 100);
      await whole;
      yield archive.subarray(100);
    }
    const answer = ask(runtime, '/workspace', { pieces: pieces(), headers: gzipType });
    await eventually('the upload has begun', () => readdirSync(runtime.folder).length > 1);
    assertOldTree(runtime);
    finish();
    const { status, headers, text } = await answer;
    assert.deepEqual([status, text], [200, '{"status":"success"}']);
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    assert.deepEqual(readdirSync(runtime.workspace).sort(), ['c.txt', 'new']);
  });

  test('R04 also: modes, links, and long and strange names arrive unchanged', async () => {
    const runtime = await start();
    const long = `${'d'.repeat(200)}/${'f'.repeat(200)}.txt`;
    const { status, text } = await upload(
      runtime,
      await tarGzOf([
        { name: './', type: 'directory' },
        { name: 'bin/', type: 'directory', mode: 0o700 },
        { name: './bin//run', mode: 0o6755, content: '#!/bin/sh\n' },
        { name: 'secret', mode: 0o400, content: 'x' },
        file(long, 'long'),
        file('grüße 漢字 "x"', 'name'),
        file('twice', 'first'),
        file('twice', 'last'),
        link('here', 'bin/run'),
        link('bin/up', '../bin/../secret'),
        link('dangling', 'not/there'),
        link('all', '.'),
      ]),
    );
    assert.deepEqual([status, text], [200, '{"status":"success"}']);
    const at = (name: string) => join(runtime.workspace, name);
    // Without setuid, and folders with the mode of all folders.
    assert.equal(statSync(at('bin/run')).mode & 0o7777, 0o755);
    assert.equal(statSync(at('bin')).mode & 0o7777, 0o755);
    assert.equal(statSync(at('secret')).mode & 0o7777, 0o400);
    assert.equal(readFileSync(at(long), 'utf8'), 'long');
    assert.equal(readFileSync(at('grüße 漢字 "x"'), 'utf8'), 'name');
    assert.equal(readFileSync(at('twice'), 'utf8'), 'last');
    assert.equal(readlinkSync(at('bin/up')), '../bin/../secret');
    assert.equal(lstatSync(at('dangling')).isSymbolicLink(), true);
  });

  test('R04 also: a repository arrives completely, as a stock client may send it', async () => {
    const runtime = await start();
    const repository = join(runtime.folder, 'repository');
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
    execFileSync('git', ['init', '-q', repository]);
    writeFileSync(join(repository, 'a.txt'), 'a');
    git('add', 'a.txt');
    git('commit', '-q', '-m', 'sent along');
    const archive = execFileSync('tar', ['-czf', '-', '-C', repository, '.']);
    const { status, text } = await upload(runtime, archive);
    assert.deepEqual([status, text], [200, '{"status":"success"}']);
    const job = await runToEnd(runtime, 'git -c safe.directory="*" log --format=%s');
    assert.deepEqual(linesOf(job), ['sent along']);
    const { body } = await ask(runtime, '/workspace');
    const back = join(runtime.folder, 'back');
    unpackInto(back, body);
    assert.ok(existsSync(join(back, '.git/HEAD')));
  });

  test('R05 a broken archive is refused, and the old tree stays', async () => {
    const runtime = await start();
    await uploadOld(runtime);
    const tar = await tarOf([file('a', 'x'.repeat(5000)), file('b', 'y')]);
    const damaged = Buffer.from(tar);
    damaged[150] = 0x7a;
    const good = gzipSync(tar);
    const broken: readonly (readonly [string, Uint8Array, RegExp])[] = [
      ['nothing', Buffer.alloc(0), /^failed to read gzip: /],
      ['no gzip', Buffer.from('not a gzip file at all'), /^failed to read gzip: /],
      ['a cut gzip', good.subarray(0, good.length - 12), /^failed to read gzip: /],
      ['a cut tar', gzipSync(tar.subarray(0, 3000)), /^failed to read tar: /],
      ['a tar cut in its header', gzipSync(tar.subarray(0, 300)), /^failed to read tar: /],
      ['a damaged header', gzipSync(damaged), /^failed to read tar: /],
      ['no tar', gzipSync(Buffer.alloc(4096, 'abc')), /^failed to read tar: /],
    ];
    for (const [name, body, sentence] of broken) {
      const { status, text } = await upload(runtime, body);
      assert.equal(status, 400, name);
      assert.match(text, sentence, name);
      assert.match(text, /^[^\n]+\n$/);
      assertOldTree(runtime);
    }
    await eventually('nothing is left', () => readdirSync(runtime.folder).length === 1);
  });

  test('R06 an entry that leads out of the workspace, or could, is refused by name', async () => {
    const runtime = await start();
    await uploadOld(runtime);
    const name = '../out';
    const refused: readonly (readonly [readonly Entry[], string, RegExp])[] = [
      [[file('../out')], name, /leads out/],
      [[file('a/../../out')], 'a/../../out', /leads out/],
      [[file('a/../b')], 'a/../b', /leads out/],
      [[file('/etc/drover')], '/etc/drover', /absolute/],
      [[file('C:/x')], 'C:/x', /absolute/],
      [[file('a\\b')], 'a\\\\b', /backslash/],
      [[file(`${'n'.repeat(300)}`)], 'nnn', /too long/],
      [[file('.git/../../x')], '.git/../../x', /leads out/],
      [[link('.git/hooks', '../../hooks')], '.git/hooks', /leads out/],
      [[file('caf\uFFFD')], 'caf', /not UTF-8/],
      [[link('a', 'caf\uFFFD')], 'a', /not UTF-8/],
      [[link('a', '/etc')], 'a', /absolute/],
      [[link('a', '../x')], 'a', /leads out/],
      [[link('d/a', '../../x')], 'd/a', /leads out/],
      // Each target looks harmless; together they lead to the parent folder.
      [[link('p/q/r', '../..'), link('z', 'p/q/r/../x')], 'z', /leads out/],
      [[link('a', 'b'), file('a/x')], 'a/x', /is a link/],
      [[file('a'), file('a/x')], 'a/x', /is a file/],
      [[link('a', 'b'), file('a')], 'a', /taken by a link/],
      [[file('a'), link('a', 'b')], 'a', /taken by a file/],
      [[file('a/b'), file('a')], 'a', /taken by a directory/],
      [[file('a'), { name: 'a', type: 'directory' }], 'a', /is a file/],
      [[file('.')], '.', /taken by a directory/],
      [[file('a'), { name: 'b', type: 'link', linkname: 'a' }], 'b', /unsupported entry type/],
      [[{ name: 'p', type: 'fifo' }], 'p', /unsupported entry type/],
      [[{ name: 'c', type: 'character-device' }], 'c', /unsupported entry type/],
      [[{ name: 'b', type: 'block-device' }], 'b', /unsupported entry type/],
    ];
    for (const [entries, shown, reason] of refused) {
      const { status, text } = await upload(runtime, await tarGzOf([file('good'), ...entries]));
      const what = JSON.stringify(entries.map((entry) => entry.name));
      assert.equal(status, 400, `${what} ${text}`);
      assert.ok(text.includes(`"${shown}`), `${what} ${text}`);
      assert.match(text, reason, what);
      assertOldTree(runtime);
    }
    assert.equal(existsSync(join(runtime.folder, 'out')), false);
  });

  test('R07 a body over the limit gets 413, packed or unpacked, however large it is', async () => {
    const runtime = await start({ args: ['--max-upload', '64KB'] });
    await uploadOld(runtime);
    const noise = Buffer.from(Array.from({ length: 300_000 }, () => Math.random() * 256));
    const packed = await tarGzOf([{ name: 'noise', content: noise }]);
    // The client still sends when the answer comes.
    assert.equal((await upload(runtime, Buffer.alloc(40 * 1024 * 1024, packed))).status, 413);
    async function* pieces() {
      for (let at = 0; at < packed.length; at += 10_000) yield packed.subarray(at, at + 10_000);
    }
    assert.equal((await ask(runtime, '/workspace', { pieces: pieces() })).status, 413);
    const bomb = await tarGzOf([{ name: 'zeros', content: Buffer.alloc(10 * 1024 * 1024) }]);
    const { status, text } = await upload(runtime, bomb);
    assert.deepEqual([status, text], [413, 'the archive has more than 65536 bytes\n']);
    assertOldTree(runtime);
    const exact = await tarGzOf([{ name: 'zeros', content: Buffer.alloc(64 * 1024) }]);
    assert.equal((await upload(runtime, exact)).status, 200);
  });

  test('R08 nothing else is accepted while a job runs or an upload arrives', async () => {
    const runtime = await start();
    await uploadOld(runtime);
    const archive = systemTarGz({ 'new.txt': 'new' });
    const job = await exec(runtime, 'until [ -e go ]; do sleep 0.02; done');
    for (const answer of [
      await upload(runtime, archive),
      await ask(runtime, '/exec', { body: '{"command":"true"}' }),
    ]) {
      assert.deepEqual([answer.status, answer.text], [409, 'a job is running\n']);
    }
    assertOldTree(runtime);
    await ask(runtime, `/exec/${job}/cancel`, { method: 'POST' });
    await (
      await follow(runtime, job)
    ).ended;
    let finish = (): void => undefined;
    const whole = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* pieces() {
      yield archive.subarray(0, 20);
      await whole;
      yield archive.subarray(20);
    }
    const slow = ask(runtime, '/workspace', { pieces: pieces() });
    await eventually('the upload has begun', () => readdirSync(runtime.folder).length > 1);
    for (const answer of [
      await upload(runtime, archive),
      await ask(runtime, '/exec', { body: '{"command":"true"}' }),
    ]) {
      assert.deepEqual([answer.status, answer.text], [409, 'an upload is running\n']);
    }
    finish();
    assert.equal((await slow).status, 200);
    // The end of a job and the answer to an upload are both followed by the next request at once.
    assert.equal((await runToEnd(runtime, 'cat new.txt')).length, 2);
    assert.equal((await upload(runtime, archive)).status, 200);
    assert.equal((await runToEnd(runtime, 'cat new.txt')).length, 2);
  });

  test('an upload that is cut off leaves the old tree, and the next one is accepted', async () => {
    const runtime = await start();
    await uploadOld(runtime);
    const archive = systemTarGz({ 'new.txt': 'new' });
    const socket = connect(Number(new URL(runtime.url).port), '127.0.0.1');
    const head = ['POST /workspace HTTP/1.1', 'Host: x', `Authorization: Bearer ${runtime.token}`];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${String(archive.length)}\r\n\r\n`);
    socket.write(archive.subarray(0, 20));
    await eventually('the upload has begun', () => readdirSync(runtime.folder).length > 1);
    socket.destroy();
    await eventually('the upload is given up', () => readdirSync(runtime.folder).length === 1);
    assertOldTree(runtime);
    assert.equal((await upload(runtime, archive)).status, 200);
  });

  test('an upload whose client stops sending is abandoned, and the next one is accepted', async () => {
    const runtime = await start({ env: { DROVER_WORKER_UPLOAD_IDLE_MS: '300' } });
    await uploadOld(runtime);
    const archive = systemTarGz({ 'new.txt': 'new' });
    const socket = connect(Number(new URL(runtime.url).port), '127.0.0.1');
    const head = ['POST /workspace HTTP/1.1', 'Host: x', `Authorization: Bearer ${runtime.token}`];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${String(archive.length)}\r\n\r\n`);
    socket.write(archive.subarray(0, 20));
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.resume().once('close', resolve));
    await eventually('the upload is given up', () => readdirSync(runtime.folder).length === 1);
    assertOldTree(runtime);
    assert.equal((await upload(runtime, archive)).status, 200);
  });
});
