// The same protocol over a pair of pipes, and the client without a connection.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { protocolVersion } from '../../../server/protocol/api.ts';
import type { Answer, Client, Notifications } from '../../../server/protocol/api.ts';
import { localClient } from '../../../server/rpc/transport/local.ts';
import { serveStreams } from '../../../server/rpc/transport/server.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
}

suite('standard input and output', () => {
  test('no token is required, and the server notices when the client disconnects', async () => {
    const backend = memoryBackend();
    const there = new PassThrough();
    const back = new PassThrough();
    const counts: number[] = [];
    let isOver = false;
    const served = serveStreams({
      input: there,
      output: back,
      handlers: backend.handlers,
      feed: backend.feed,
      version: '0.1.0',
      root: '/project',
      onClientCount: (count) => counts.push(count),
      isIdle: () => true,
      onLeaving: () => {},
      onEnd: () => {
        isOver = true;
      },
    });
    const client = createMessageConnection(
      new StreamMessageReader(back),
      new StreamMessageWriter(there),
    );
    const seen: number[] = [];
    client.onNotification('events', ({ events }: Notifications['events']) => {
      seen.push(events.length);
    });
    client.listen();
    const hello = { token: '', client: 'editor', version: '0.1.0', protocol: protocolVersion };
    await client.sendRequest('hello', hello);
    const task = await client.sendRequest<Answer<'task.add'>>('task.add', { title: 'Over pipes' });
    assert.equal(task.title, 'Over pipes');
    await client.sendRequest('subscribe', { after: backend.feed.events.length });
    backend.feed.append({});
    await until(() => seen.length === 1);
    client.dispose();
    there.end();
    await until(() => isOver);
    assert.deepEqual(counts, [1, 0]);
    await served.close('over');
  });
});

suite('local client', () => {
  function open(): {
    client: Client;
    closed: () => number;
    backend: ReturnType<typeof memoryBackend>;
  } {
    const backend = memoryBackend();
    let closed = 0;
    const client = localClient(backend.handlers, backend.feed, () => {
      closed += 1;
    });
    return { client, backend, closed: () => closed };
  }

  test('it calls the handlers, and refuses when closed', async () => {
    const { client, closed } = open();
    assert.equal((await client.call('task.add', { title: 'Here' })).title, 'Here');
    client.close();
    client.close();
    assert.equal(closed(), 1);
    await assert.rejects(client.call('status', {}), /closed/u);
  });

  test('it follows changes even if another process appends silently', async () => {
    const { client, backend } = open();
    const seen: number[] = [];
    const stop = await client.follow(
      0,
      (events) => seen.push(...events.map((e) => e.seq)),
      assert.fail,
    );
    backend.feed.append({});
    await until(() => seen.length === 1);
    backend.feed.events.push({ ...backend.feed.events[0]!, seq: 2 }); // no listener is called
    await until(() => seen.length === 2);
    stop();
    backend.feed.append({});
    assert.deepEqual(seen, [1, 2]);
    client.close();
  });

  test('subscribe answers like the backend', async () => {
    const { client, backend } = open();
    backend.feed.append({}, {});
    assert.equal((await client.call('subscribe', { after: 1 })).kind, 'replay');
    assert.equal((await client.call('subscribe', {})).kind, 'snapshot');
    const hello = await client.call('hello', { token: '', client: '', version: '', protocol: 1 });
    assert.equal(hello.leaving, false);
    client.close();
  });
});
