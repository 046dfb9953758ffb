// Server and client over a real socket: greeting, requests, refusals, the feed, and peers that behave badly.

import assert from 'node:assert/strict';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../../../server/core/failure.ts';
import { protocolVersion } from '../../../server/protocol/api.ts';
import type {
  BackendAddress,
  Client,
  EventView,
  RequestName,
} from '../../../server/protocol/api.ts';
import { requestShapes } from '../../../server/protocol/requests/read.ts';
import { connectSocket } from '../../../server/rpc/transport/client.ts';
import { deciders } from '../../../server/rpc/transport/decisions.ts';
import { BackendGone, ConnectFailure } from '../../../server/rpc/transport/errors.ts';
import { serveSocket } from '../../../server/rpc/transport/server.ts';
import type { ServedSocket, ServeSocketOptions } from '../../../server/rpc/transport/server.ts';
import { memoryBackend, type MemoryBackend } from '../../doubles/memory-backend.ts';
import { removeFolder } from '../../remove-folder.ts';

const token = 'a'.repeat(32);

suite('socket transport', () => {
  let folder = '';
  let path = '';
  let backend: MemoryBackend;
  let served: ServedSocket | null = null;
  const clients: Client[] = [];
  const counts: number[] = [];
  let hasLeft = false;

  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-rpc-'));
    path = join(folder, 'private', 'backend.sock');
    backend = memoryBackend();
    counts.length = 0;
    hasLeft = false;
  });

  teardown(async () => {
    for (const client of clients.splice(0)) client.close();
    await served?.close('the test is over');
    served = null;
    removeFolder(folder);
  });

  async function serve(options: Partial<ServeSocketOptions> = {}): Promise<void> {
    served = await serveSocket({
      path,
      token,
      handlers: backend.handlers,
      feed: backend.feed,
      version: '0.1.0',
      root: '/project',
      onClientCount: (count) => counts.push(count),
      isIdle: () => true,
      onLeaving: () => {
        hasLeft = true;
      },
      ...options,
    });
  }

  function address(given = token): BackendAddress {
    return {
      pid: process.pid,
      start_time: '',
      socket: path,
      token: given,
      version: '0.1.0',
      protocol: protocolVersion,
    };
  }

  async function client(options: { version?: string } = {}): Promise<Client> {
    const made = await connectSocket(address(), { version: '0.1.0', ...options });
    clients.push(made);
    return made;
  }

  test('only this user can access the socket', async () => {
    await serve();
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(join(folder, 'private')).mode & 0o777, 0o700);
  });

  test('a socket whose folder was emptied listens again, and keeps its clients', async () => {
    await serve();
    const before = await client();
    await served?.heal();
    removeFolder(join(folder, 'private'));
    await assert.rejects(client());
    await served?.heal();
    const after = await client();
    for (const each of [before, after]) {
      assert.equal((await each.call('task.add', { title: 'Still here' })).title, 'Still here');
    }
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test('S20: silent clients do not prevent other clients from connecting', async () => {
    await serve();
    const silent = Array.from({ length: 80 }, () => connect(path).on('error', () => undefined));
    await Promise.all(silent.map((socket) => new Promise((done) => socket.once('connect', done))));
    for (let number = 0; number < 3; number += 1) {
      const caller = await client();
      assert.equal((await caller.call('task.add', { title: 'Heard' })).title, 'Heard');
    }
    for (const socket of silent) socket.destroy();
  });

  test("S9: a process of a run cannot make decisions with the owner's token", async () => {
    await serve({ isOfRun: async () => true });
    const caller = await client();
    assert.equal((await caller.call('task.add', { title: 'Found' })).title, 'Found');
    const persons = Object.keys(requestShapes).filter(
      (name) => deciders[name as RequestName] === 'person',
    ) as RequestName[];
    assert.ok(persons.length > 30);
    const decided: readonly [RequestName, object][] = [
      ...persons.map((name): [RequestName, object] => [name, {}]),
      ['task.add', { title: 'Take over', gate: 'true' }],
      ['task.add', { title: 'Land untested', test_mode: 'disabled' }],
      ['task.add', { title: 'Land untested', test_scope: 'skip' }],
      ['task.add', { title: 'Run elsewhere', agent: 'claude:opus', runs_on: 'remote' }],
      ['task.add', { title: 'Join', epic: 'e', priority: 'critical', max_attempts: 99 }],
    ];
    for (const [name, params] of decided) {
      await assert.rejects(caller.call(name, params as never), (error) => {
        assert.ok(error instanceof Refusal);
        assert.equal(error.kind, 'not_for_agents');
        return true;
      });
    }
    assert.equal((await caller.call('status', {})).tasks.length, 1);
    assert.equal(hasLeft, false);
  });

  test('S9: each request names who may send it, and read requests change nothing', () => {
    assert.deepEqual(Object.keys(deciders).sort(), Object.keys(requestShapes).sort());
    const changing =
      /add|edit|close|move|remove|restore|pause|cancel|retry|hint|resolve|merge|send|take|give|start|resume|stop|prune|reset|undo|approve|answer|import|plan|shutdown|leave|preflight|follow|drain|release|keep|drop|overrule|reply|switch|test$/u;
    const wrong = Object.entries(deciders).filter(
      ([name, decider]) => (decider === 'read') === changing.test(name),
    );
    assert.deepEqual(wrong, []);
  });

  test('a request gets its answer, and the number of clients is reported', async () => {
    await serve();
    const caller = await client();
    const task = await caller.call('task.add', { title: 'Say hello' });
    assert.equal(task.title, 'Say hello');
    caller.close();
    await until(() => counts.length === 2);
    assert.deepEqual(counts, [1, 0]);
  });

  test('a refusal keeps its kind and sentence, and any other failure is not a refusal', async () => {
    backend = memoryBackend({
      why: () => {
        throw new Refusal('unknown_id', 'There is no task x.');
      },
      diff: () => {
        throw new Error('broken');
      },
    });
    await serve();
    const caller = await client();
    await assert.rejects(caller.call('why', { id: 'x' }), (error) => {
      assert(error instanceof Refusal);
      assert.equal(error.kind, 'unknown_id');
      assert.equal(error.message, 'There is no task x.');
      return true;
    });
    await assert.rejects(caller.call('diff', { id: 'x' }), (error) => {
      assert(error instanceof Error && !(error instanceof Refusal));
      assert.equal(error.message, 'broken');
      return true;
    });
  });

  test('parameters with an invalid structure do not reach a handler', async () => {
    await serve();
    const caller = await client();
    for (const params of [{}, { id: 5 }, [], 'x', null, { id: null }, { id: ['a'] }]) {
      await assert.rejects(caller.call('why', params as { id: string }), Refusal);
    }
    assert.deepEqual(backend.calls, []);
  });

  test('a wrong token is refused and disconnected', async () => {
    await serve();
    for (const wrong of ['', 'b'.repeat(32), 'a'.repeat(31), `${token}a`]) {
      await assert.rejects(connectSocket(address(wrong)), (error) => {
        assert(error instanceof ConnectFailure);
        assert.equal(error.kind, 'refused');
        return true;
      });
    }
    assert.deepEqual(counts, []);
  });

  test('without a listener, the backend is unreachable', async () => {
    await assert.rejects(connectSocket(address()), (error) => {
      assert(error instanceof ConnectFailure);
      assert.equal(error.kind, 'unreachable');
      return true;
    });
  });

  const versions = [
    { client: '0.2.0', idle: true, leaves: true },
    { client: '0.2.0', idle: false, leaves: false },
    { client: '0.1.0', idle: true, leaves: false },
    { client: '0.0.9', idle: true, leaves: false },
    { client: '0.10.0', idle: true, leaves: true },
  ];
  for (const { client: version, idle, leaves } of versions) {
    test(`a client ${version} and a backend 0.1.0 that is ${idle ? 'idle' : 'working'}: ${leaves ? 'it leaves' : 'it stays'}`, async () => {
      await serve({ isIdle: () => idle });
      if (!leaves) {
        await (await client({ version })).call('status', {});
        assert.equal(hasLeft, false);
        return;
      }
      await assert.rejects(client({ version }), (error) => {
        assert(error instanceof ConnectFailure);
        assert.equal(error.kind, 'leaving');
        return true;
      });
      await until(() => hasLeft);
    });
  }

  test('a client follows the feed without a gap, from a number, over many pages', async () => {
    await serve();
    backend.feed.append(...Array.from({ length: 2500 }, () => ({})));
    const caller = await client();
    const seen: number[] = [];
    await caller.follow(10, (events) => seen.push(...seqs(events)), assert.fail);
    for (let count = 0; count < 20; count += 1) backend.feed.append({});
    await until(() => seen.length === 2510);
    assert.deepEqual(
      seen,
      Array.from({ length: 2510 }, (_, at) => at + 11),
    );
  });

  test('two followers of one connection each see everything once', async () => {
    await serve();
    backend.feed.append({}, {}, {});
    const caller = await client();
    const first: number[] = [];
    const second: number[] = [];
    await caller.follow(2, (events) => first.push(...seqs(events)), assert.fail);
    const stop = await caller.follow(0, (events) => second.push(...seqs(events)), assert.fail);
    backend.feed.append({});
    await until(() => first.length === 2 && second.length === 4);
    stop();
    backend.feed.append({});
    await until(() => first.length === 3);
    assert.deepEqual(
      [first, second],
      [
        [3, 4, 5],
        [1, 2, 3, 4],
      ],
    );
  });

  test('subscribe answers with a snapshot when the number is unknown or too old', async () => {
    await serve();
    const caller = await client();
    backend.feed.append(...Array.from({ length: 6000 }, () => ({})));
    const kinds = [];
    for (const after of [undefined, 5990, 6000, 0, 7000]) {
      const params = after === undefined ? {} : { after };
      kinds.push((await caller.call('subscribe', params)).kind);
    }
    assert.deepEqual(kinds, ['snapshot', 'replay', 'replay', 'snapshot', 'snapshot']);
  });

  test('when the backend exits, followers get the reason and calls are rejected', async () => {
    backend = memoryBackend({ why: () => new Promise(() => {}) });
    await serve();
    const caller = await client();
    const pending = caller.call('why', { id: 'x' });
    const ended = new Promise<string>((resolve, reject) => {
      caller.follow(0, () => {}, resolve).catch(reject);
    });
    await caller.call('status', {});
    await served?.close('It is late.');
    served = null;
    assert.equal(await ended, 'It is late.');
    await assert.rejects(pending, BackendGone);
    await assert.rejects(caller.call('status', {}), BackendGone);
  });

  test("the socket of a dead backend is replaced, but a live backend's socket and other files are not", async () => {
    await serve();
    await assert.rejects(serve(), /listens on .* already/u);
    const file = join(folder, 'file');
    writeFileSync(file, 'mine');
    await assert.rejects(serve({ path: file }), /is not a socket/u);
  });

  suite('misbehaving peers', () => {
    const hello = { token, client: 'x', version: '0.1.0', protocol: protocolVersion };

    const cases: { readonly name: string; readonly bytes: string }[] = [
      { name: 'no protocol at all', bytes: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' },
      { name: 'a header without an end', bytes: 'x'.repeat(10_000) },
      { name: 'a negative length', bytes: 'Content-Length: -5\r\n\r\n' },
      { name: 'a length that is no number', bytes: 'Content-Length: 0x10\r\n\r\n' },
      { name: 'two lengths', bytes: 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}' },
      { name: 'a huge message before the greeting', bytes: 'Content-Length: 70000\r\n\r\n' },
      { name: 'no JSON', bytes: 'Content-Length: 3\r\n\r\n{{{' },
      { name: 'another request before hello', bytes: message('status', {}) },
      { name: 'an unknown request before hello', bytes: message('__proto__', {}) },
      { name: 'hello of a wrong shape', bytes: message('hello', { token: 5 }) },
      { name: 'a wrong token', bytes: message('hello', { ...hello, token: 'b' }) },
      {
        name: 'a huge message after the greeting',
        bytes: `${message('hello', hello)}Content-Length: 99999999\r\n\r\n`,
      },
    ];
    for (const { name, bytes } of cases) {
      test(`${name}: the client is disconnected, and the next client is served`, async () => {
        await serve();
        await ended(bytes);
        await (await client()).call('status', {});
      });
    }

    test('JSON that is not a message is ignored', async () => {
      await serve();
      const bodies = ['null', '[]', '5', '"x"', '{}', '{"jsonrpc":"2.0"}', '{"id":1}'];
      const socket = connect(path);
      for (const body of bodies) socket.write(framed(body));
      socket.write(message('hello', hello));
      await until(() => counts.at(-1) === 1);
      socket.destroy();
    });

    test('a second hello is refused', async () => {
      await serve();
      const caller = await client();
      await assert.rejects(caller.call('hello', hello), Refusal);
    });

    /** Resolves when the server has ended the connection. */
    function ended(bytes: string): Promise<void> {
      return new Promise((resolve) => {
        const socket: Socket = connect(path, () => socket.write(bytes));
        socket.on('error', () => {});
        socket.on('close', () => resolve());
        socket.resume();
      });
    }
  });
});

function seqs(events: readonly EventView[]): number[] {
  return events.map((event) => event.seq);
}

function framed(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function message(method: string, params: unknown): string {
  return framed(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
}
