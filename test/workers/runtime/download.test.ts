// Downloads from the worker runtime (worker contract §6, §9): whole and true, or visibly cut off.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { ask, exec, follow, runToEnd } from '../support/http.ts';
import { unpackInto, systemTarGz } from '../support/archives.ts';
import { useRuntimes, type RuntimeProcess } from '../support/runtime-process.ts';

suite('worker runtime: downloads', () => {
  const start = useRuntimes();

  test('R20 everything that can be sent is returned, and sockets and pipes are left out', async () => {
    const runtime = await start();
    const listen = `require('node:net').createServer().listen('a.sock', () => process.kill(process.pid, 'SIGKILL'))`;
    const make = [
      'set -e',
      'mkfifo pipe',
      `'${process.execPath}' -e "${listen}" || true`,
      'mkdir -p deep/er empty .git',
      'echo hidden > .git/x; echo b > deep/er/b; echo z > zz; : > nothing',
      'head -c 3000000 /dev/urandom > big; chmod 750 big',
      'ln -s deep/er/b link; ln -s nowhere dangling; ln zz hard',
      `n=$(printf 'n%.0s' $(seq 200)); mkdir "$n"; echo long > "$n/$n"; echo ü > 'grüße 漢'`,
      `touch -d '1960-01-01' old; touch -d '2100-01-01' young`,
      'ls -a',
    ];
    const events = await runToEnd(runtime, make.join('\n'));
    assert.equal(events.at(-1)?.data.exit_code, 0, JSON.stringify(events.slice(-5)));
    const { status, headers, body } = await ask(runtime, '/workspace');
    assert.deepEqual(
      [status, headers['content-type'], headers['content-disposition']],
      [200, 'application/gzip', 'attachment; filename="workspace.tar.gz"'],
    );
    const copy = join(runtime.folder, 'copy');
    unpackInto(copy, body);
    // `diff` compares contents, links and names; files that it cannot compare were left out.
    const args = ['-r', '--no-dereference', '-x', 'pipe', '-x', 'a.sock', runtime.workspace, copy];
    assert.equal(execFileSync('diff', args, { encoding: 'utf8' }), '');
    const left = readdirSync(runtime.workspace).filter((name) => !readdirSync(copy).includes(name));
    assert.deepEqual(left.sort(), ['a.sock', 'pipe']);
    assert.equal(statSync(join(copy, 'big')).mode & 0o777, 0o750);
    assert.equal(readlinkSync(join(copy, 'dangling')), 'nowhere');
    assert.equal(lstatSync(join(copy, 'empty')).isDirectory(), true);
    const names = execFileSync('tar', ['-tzf', '-'], { input: body, encoding: 'utf8' });
    assert.equal(names.includes('./'), false);
  });

  const deep = `for (let i = 0; i < 60; i++) { fs.mkdirSync('d'.repeat(200)); process.chdir('d'.repeat(200)); }`;
  const failing: readonly (readonly [string, string])[] = [
    ['a path that is too long to be opened', `'${process.execPath}' -e "${deep}"`],
  ];
  for (const [name, command] of failing) {
    test(`R20 also: ${name} closes the connection`, async () => {
      const runtime = await start();
      const events = await runToEnd(runtime, `head -c 100000 /dev/urandom > a-file; ${command}`);
      assert.equal(events.at(-1)?.data.exit_code, 0, JSON.stringify(events));
      await assert.rejects(async () => await ask(runtime, '/workspace'));
      await runtime.program.line((line) => line.includes('was not sent whole'), 'stderr');
      assert.equal((await ask(runtime, '/health')).status, 200);
      assert.equal((await runToEnd(runtime, 'rm -r ./*')).length, 1);
    });
  }

  test('R20 also: names and targets of any bytes are returned unchanged', async () => {
    const runtime = await start();
    const make = [
      `odd="$(printf 'caf\\351')"; echo 1 > "$odd"; echo 2 > "$(printf 'caf\\350')"`,
      `mkdir -p "$odd-folder/ü"; echo 3 > "$odd-folder/ü/plain"; ln -s "$odd" link`,
      `long="$(printf 'n%.0s' $(seq 120))$odd"; mkdir "$long"; echo 4 > "$long/$long"; echo 5 > zz`,
    ];
    const events = await runToEnd(runtime, make.join('\n'));
    assert.equal(events.at(-1)?.data.exit_code, 0, JSON.stringify(events));
    const { body } = await ask(runtime, '/workspace');
    const copy = join(runtime.folder, 'copy');
    unpackInto(copy, body);
    const args = ['-r', '--no-dereference', runtime.workspace, copy];
    assert.equal(execFileSync('diff', args, { encoding: 'utf8' }), '');
    const names = readdirSync(copy, { encoding: 'buffer' });
    assert.ok(names.some((name) => name.equals(Buffer.from('caf\xe9', 'latin1'))));
  });

  test('R20 also: a file that becomes shorter while it is read closes the connection', async () => {
    const runtime = await start();
    execFileSync('mkfifo', [join(runtime.folder, 'cut')]);
    const job = await exec(
      runtime,
      'head -c 60000000 /dev/urandom > big; echo ready; read -r x < ../cut; : > big; echo cut; sleep 60',
    );
    const stream = await follow(runtime, job);
    await stream.event(({ data }) => data.line === 'ready');
    const response = await download(runtime);
    const whole = new Promise((resolve, reject) => response.on('end', resolve).on('error', reject));
    whole.catch(() => undefined);
    await new Promise((resolve) => response.once('readable', resolve));
    execFileSync('sh', ['-c', 'echo > "$0"', join(runtime.folder, 'cut')]);
    await stream.event(({ data }) => data.line === 'cut');
    response.resume();
    await assert.rejects(whole);
  });

  test('a client that disconnects during a download does not stop the runtime', async () => {
    const runtime = await start();
    await runToEnd(runtime, 'head -c 30000000 /dev/urandom > big; seq 9 > small');
    for (let round = 0; round < 3; round++) {
      const response = await download(runtime);
      await new Promise((resolve) => response.once('readable', resolve));
      response.on('error', () => undefined).destroy();
    }
    assert.equal((await ask(runtime, '/workspace')).status, 200);
  });

  test('a download while a job writes can be unpacked, or is cut off', async () => {
    const runtime = await start();
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`kept/${String(i)}`, `${String(i)}\n`]),
    );
    assert.equal((await ask(runtime, '/workspace', { body: systemTarGz(files) })).status, 200);
    const job = await exec(
      runtime,
      'while :; do i=$((i+1)); echo $i >> grows; mkdir -p t/$i; echo x > t/$i/x; rm -r t/$i; [ $i = 5 ] && echo ready; done',
    );
    const stream = await follow(runtime, job);
    await stream.event(({ data }) => data.line === 'ready');
    for (let round = 0; round < 5; round++) {
      const { body } = await ask(runtime, '/workspace');
      const copy = join(runtime.folder, `copy-${String(round)}`);
      unpackInto(copy, body);
      assert.equal(readdirSync(join(copy, 'kept')).length, 200);
      assert.match(readFileSync(join(copy, 'grows'), 'utf8'), /^1\n2\n/);
    }
  });
});

/** Resolves with the headers; nothing of the body is read. */
async function download(runtime: RuntimeProcess): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${runtime.token}` };
    request(new URL('/workspace', runtime.url), { headers })
      .on('response', resolve)
      .on('error', reject)
      .end();
  });
}
