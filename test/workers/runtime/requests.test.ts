// The worker runtime at its door: starting, tokens, methods and paths (worker contract §2, §3).

import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo } from 'node:net';
import { droverProgram } from '../../e2e/support/program.ts';
import { startProgram } from '../../e2e/support/run-program.ts';
import { ask } from '../support/http.ts';
import { runtimeProgram, useRuntimes } from '../support/runtime-process.ts';

const programs: readonly (readonly [string, () => readonly string[]])[] = [
  ['the file that is copied', () => [runtimeProgram()]],
  ['drover worker-runtime', () => [droverProgram(), 'worker-runtime']],
];

const run = async (args: readonly string[], env: Record<string, string>) =>
  await startProgram({
    program: process.execPath,
    args,
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '', ...env },
    timeoutMs: 60_000,
  }).ended;

suite('worker runtime: requests', () => {
  const start = useRuntimes();

  test('R01 without AGENT_TOKEN, the command and the file refuse to start', async () => {
    for (const [name, program] of programs) {
      for (const env of [{}, { AGENT_TOKEN: ' ' }]) {
        const { code, stdout, stderr } = await run([...program(), '--listen', '127.0.0.1:0'], env);
        assert.deepEqual([code, stdout], [3, ''], name);
        assert.match(stderr, /AGENT_TOKEN is not set\. Set it/);
      }
    }
  });

  for (const [name, program] of programs) {
    test(`${name} refuses an address that it cannot listen on`, async () => {
      const holder = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => holder.once('listening', resolve));
      const { port } = holder.address() as AddressInfo;
      const args = [...program(), '--listen', `127.0.0.1:${String(port)}`, '--workspace', '/tmp'];
      const { code, stderr } = await run(args, { AGENT_TOKEN: 'x' });
      holder.close();
      assert.equal(code, 3);
      assert.match(stderr, new RegExp(`cannot listen on 127.0.0.1:${String(port)}: EADDRINUSE`));
    });
  }

  test('invalid options and an invalid AGENT_ADDR are refused with a message', async () => {
    const wrong = await run([runtimeProgram(), '--listen', 'x'], { AGENT_TOKEN: 'x' });
    assert.equal(wrong.code, 64);
    assert.match(wrong.stderr, /--listen: "x" is not an address; write host:port/);
    const env = { AGENT_TOKEN: 'x', AGENT_ADDR: 'nowhere' };
    const refused = await run([runtimeProgram(), '--workspace', '/tmp'], env);
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /AGENT_ADDR: "nowhere" is not an address/);
  });

  const endpoints: readonly (readonly [string, string])[] = [
    ['GET', '/health'],
    ['GET', '/workspace'],
    ['POST', '/workspace'],
    ['PUT', '/workspace'],
    ['POST', '/exec'],
    ['GET', `/exec/${'0'.repeat(32)}/stream`],
    ['POST', `/exec/${'0'.repeat(32)}/cancel`],
    ['GET', '/exec/'],
  ];

  test('R02 every endpoint answers 401 without the token and with a wrong one', async () => {
    const runtime = await start();
    const wrong = [null, '', 'x', runtime.token.slice(0, -1), `${runtime.token}x`];
    for (const [method, path] of endpoints) {
      for (const token of wrong) {
        const { status, headers, text } = await ask(runtime, path, { method, token });
        assert.deepEqual([status, text], [401, 'unauthorized\n'], `${method} ${path}`);
        assert.match(headers['content-type'] ?? '', /^text\/plain/);
      }
      const headers = { Authorization: `Basic ${runtime.token}` };
      assert.equal((await ask(runtime, path, { method, headers, token: null })).status, 401);
    }
    const spellings = ['bearer', 'BEARER'].map((scheme) => `${scheme}   ${runtime.token}  `);
    for (const Authorization of spellings) {
      const { status } = await ask(runtime, '/health', { token: null, headers: { Authorization } });
      assert.equal(status, 200);
    }
  });

  test('R03 /health answers only GET', async () => {
    const runtime = await start();
    const health = await ask(runtime, '/health');
    assert.deepEqual([health.status, health.text], [200, 'ok']);
    assert.equal(health.headers['x-drover-worker'], '1; features=cancel,keepalive,partial,key');
    for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      // The method comes first here, and the token on /workspace.
      const { status, text } = await ask(runtime, '/health', { method, token: null });
      assert.deepEqual([status, text], [405, method === 'HEAD' ? '' : 'method not allowed\n']);
    }
  });

  const others: readonly (readonly [string, string, number, string])[] = [
    ['GET', '/exec', 405, 'method not allowed\n'],
    ['POST', '/exec/', 405, 'method not allowed\n'],
    ['POST', '/exec/a/stream', 405, 'method not allowed\n'],
    ['GET', '/exec/a/cancel', 405, 'method not allowed\n'],
    ['DELETE', '/workspace', 405, 'method not allowed\n'],
    ['GET', '/exec/a', 404, 'not found\n'],
    ['GET', '/exec/a/b/stream', 404, 'not found\n'],
    ['GET', '/exec/a/stream', 404, 'unknown job_id\n'],
    ['POST', '/exec/a/cancel', 404, 'unknown job_id\n'],
    ['GET', '/', 404, '404 page not found\n'],
    ['GET', '/metrics', 404, '404 page not found\n'],
    ['GET', '//health?a=b', 301, 'moved permanently\n'],
  ];

  test('other methods and paths are answered as by the stock runtime', async () => {
    const runtime = await start();
    for (const [method, path, status, text] of others) {
      const answer = await ask(runtime, `${runtime.url}${path}`, { method });
      assert.deepEqual([answer.status, answer.text], [status, text], `${method} ${path}`);
    }
    const unknown = await ask(runtime, '/metrics', { token: null });
    assert.equal(unknown.status, 404);
    const moved = await ask(runtime, `${runtime.url}//health?a=b`);
    assert.equal(moved.headers.location, '/health?a=b');
  });

  /** Everything that the runtime sends until it closes, or until it asks for the body. */
  async function answerTo(port: number, head: readonly string[]): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let seen = '';
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => resolve());
      socket.on('data', (bytes) => {
        seen += bytes.toString('utf8');
        if (seen.startsWith('HTTP/1.1 100')) resolve();
      });
      socket.write(`${head.join('\r\n')}\r\nHost: x\r\n\r\n`);
    });
    socket.destroy();
    return seen;
  }

  test('a client that waits to send its body is asked for it only if it may send it', async () => {
    const runtime = await start();
    const port = Number(new URL(runtime.url).port);
    const waiting = ['Expect: 100-continue', 'Content-Length: 20'];
    for (const path of ['/workspace', '/exec']) {
      const post = `POST ${path} HTTP/1.1`;
      for (const token of ['wrong', `${runtime.token}x`]) {
        const refused = await answerTo(port, [post, `Authorization: Bearer ${token}`, ...waiting]);
        assert.match(refused, /^HTTP\/1\.1 401 /u, path);
        assert.doesNotMatch(refused, /100 Continue/u, path);
        assert.match(refused, /\r\n\r\nunauthorized\n$/u);
      }
      const own = `Authorization: Bearer ${runtime.token}`;
      const asked = await answerTo(port, [post, own, ...waiting]);
      assert.match(asked, /^HTTP\/1\.1 100 Continue\r\n/u, path);
    }
    const nowhere = await answerTo(port, ['POST /nowhere HTTP/1.1', ...waiting]);
    assert.match(nowhere, /^HTTP\/1\.1 404 /u);
  });

  test('a client that never ends its headers is disconnected', async () => {
    const runtime = await start({ env: { DROVER_WORKER_HEADERS_MS: '200' } });
    const { port } = new URL(runtime.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n');
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('close', resolve).resume());
  });
});
