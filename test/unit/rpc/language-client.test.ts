// The messages of vscode-languageclient over the socket: its own greeting, then Drover's requests,
// then its farewell.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMessageConnection,
  NullLogger,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { MessageConnection } from 'vscode-jsonrpc/node';
import { protocolVersion, refusalErrorCode } from '../../../server/protocol/api.ts';
import type { Answer, Notifications } from '../../../server/protocol/api.ts';
import type { Initialized } from '../../../server/rpc/transport/language-client.ts';
import { serveSocket, type ServedSocket } from '../../../server/rpc/transport/server.ts';
import { memoryBackend, type MemoryBackend } from '../../doubles/memory-backend.ts';
import { removeFolder } from '../../remove-folder.ts';

const token = 'a'.repeat(32);
const hello = { token, client: 'vscode', version: '0.1.0', protocol: protocolVersion };

/** The client's own parameters, capabilities shortened. */
const initializeParams = {
  processId: null,
  clientInfo: { name: 'Visual Studio Code', version: '1.125.0' },
  locale: 'en',
  rootPath: '/project',
  rootUri: 'file:///project',
  capabilities: { workspace: { applyEdit: true }, general: { positionEncodings: ['utf-16'] } },
  initializationOptions: hello,
  trace: 'off',
  workspaceFolders: [{ uri: 'file:///project', name: 'project' }],
};

interface Peer {
  readonly connection: MessageConnection;
  readonly socket: Socket;
  readonly closed: Promise<void>;
}

suite('a language client', () => {
  let folder = '';
  let path = '';
  let backend: MemoryBackend;
  let served: ServedSocket;
  const counts: number[] = [];
  const peers: Peer[] = [];

  setup(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drover-lsp-'));
    path = join(folder, 'backend.sock');
    counts.length = 0;
    backend = memoryBackend({ shutdown: () => ({ leaving: true, reason: 'asked to leave' }) });
    served = await serveSocket({
      path,
      token,
      handlers: backend.handlers,
      feed: backend.feed,
      version: '0.1.0',
      root: '/project',
      onClientCount: (count) => counts.push(count),
      isIdle: () => true,
      onLeaving: () => {},
    });
  });

  teardown(async () => {
    for (const { connection, socket } of peers.splice(0)) {
      connection.dispose();
      socket.destroy();
    }
    await served.close('');
    removeFolder(folder);
  });

  async function peer(): Promise<Peer> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const connection = createMessageConnection(
      new StreamMessageReader(socket),
      new StreamMessageWriter(socket),
      NullLogger,
    );
    connection.listen();
    const made = { connection, socket, closed };
    peers.push(made);
    return made;
  }

  async function initialized(): Promise<Peer> {
    const made = await peer();
    await made.connection.sendRequest('initialize', initializeParams);
    await made.connection.sendNotification('initialized', {});
    return made;
  }

  test('it sends initialize and finds the answer of hello in the result', async () => {
    const { connection } = await peer();
    const answer = await connection.sendRequest<Initialized>('initialize', initializeParams);
    const expected: Answer<'hello'> = {
      version: '0.1.0',
      protocol: protocolVersion,
      pid: process.pid,
      root: '/project',
      leaving: false,
    };
    assert.deepEqual(answer.capabilities, { experimental: expected });
    assert.deepEqual(answer.droverHello, expected);
    assert.equal(answer.serverInfo.name, 'drover');
    assert.deepEqual(counts, [1]);
  });

  test('it sends requests, follows the feed, and ignores unknown messages', async () => {
    const { connection } = await initialized();
    await connection.sendNotification('$/setTrace', { value: 'messages' });
    await connection.sendNotification('workspace/didChangeConfiguration', { settings: null });
    await connection.sendNotification('$/cancelRequest', { id: 99 });
    const arrived = new Promise<number | undefined>((resolve) => {
      connection.onNotification('events', ({ events }: Notifications['events']) => {
        resolve(events[0]?.seq);
      });
    });
    await connection.sendRequest('subscribe', { after: 0 });
    backend.feed.append({});
    assert.equal(await arrived, 1);
    const task = await connection.sendRequest<{ title: string }>('task.add', { title: 'Say it' });
    assert.equal(task.title, 'Say it');
    await assert.rejects(
      connection.sendRequest('textDocument/hover', {}),
      (error) => error instanceof ResponseError && /does not exist/u.test(error.message),
    );
  });

  test('shutdown and exit end only its connection', async () => {
    const first = await initialized();
    const second = await initialized();
    // The client's own request: no parameters at all.
    assert.equal(await first.connection.sendRequest('shutdown'), null);
    await first.connection.sendNotification('exit');
    await first.closed;
    assert.deepEqual(
      backend.calls.map(({ name }) => name),
      [],
      'the backend was not asked to leave',
    );
    await second.connection.sendRequest('status', {});
    assert.deepEqual(counts, [1, 2, 1]);
  });

  test("shutdown is still Drover's own request for clients that sent hello", async () => {
    const { connection, closed, socket } = await peer();
    await connection.sendRequest('hello', hello);
    const answer = await connection.sendRequest<{ leaving: boolean }>('shutdown', {});
    assert.equal(answer.leaving, true);
    await connection.sendNotification('exit');
    await connection.sendRequest('status', {});
    socket.destroy();
    await closed;
  });

  const wrong: readonly [string, unknown][] = [
    ['no options', { ...initializeParams, initializationOptions: undefined }],
    ['null', null],
    ['another token', { ...initializeParams, initializationOptions: { ...hello, token: 'b' } }],
  ];
  for (const [name, params] of wrong) {
    test(`initialize with ${name} is refused and disconnected`, async () => {
      const { connection, closed } = await peer();
      await assert.rejects(connection.sendRequest('initialize', params), ResponseError);
      await closed;
      assert.deepEqual(counts, []);
    });
  }

  test('initialize twice is refused, and the connection continues', async () => {
    const { connection } = await initialized();
    await assert.rejects(
      connection.sendRequest('initialize', initializeParams),
      (error) => error instanceof ResponseError && error.code === refusalErrorCode,
    );
    await connection.sendRequest('status', {});
  });
});
