// The calling end of the connection: connect, do the handshake, send requests, follow the feed
// without a gap.

import { lstatSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import {
  createMessageConnection,
  NullLogger,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { MessageConnection } from 'vscode-jsonrpc/node';
import { Refusal } from '../../core/failure.ts';
import type { AgentClient } from '../../protocol/agent-requests.ts';
import { protocolVersion } from '../../protocol/api.ts';
import type {
  Answer,
  BackendAddress,
  Client,
  EventView,
  Notifications,
  Params,
  RequestName,
} from '../../protocol/api.ts';
import { droverVersion } from '../../protocol/version.ts';
import { BackendGone, ConnectFailure, fromResponseError } from './errors.ts';
import { messageBytesMax } from './connection.ts';
import { MessageSizeGuard } from './size-guard.ts';

const connectWaitMs = 2000;
const helloWaitMs = 10_000;
const lastWordsMs = 25;
const pageSize = 1000;
const subscribeTriesMax = 10;

export interface ConnectOptions {
  /** Name of the caller for the backend's log: `cli`, `vscode`. */
  readonly client?: string;
  readonly version?: string;
  /** The user's browser. */
  readonly device?: string;
}

/** Connects and does the handshake. Throws `ConnectFailure` if that fails. */
export async function connectSocket(
  address: BackendAddress,
  options: ConnectOptions = {},
): Promise<Client> {
  const socket = await openBackendSocket(address);
  return await greet(socket, address.token, options);
}

/** Connects an agent, whose token allows a different list of requests. */
export async function connectAgentSocket(
  address: Pick<BackendAddress, 'socket'>,
  token: string,
): Promise<AgentClient> {
  checkOwner(address.socket);
  const socket = await openSocket(address.socket);
  const client = await greet(socket, token, { client: 'agent' });
  return client as unknown as AgentClient;
}

/** The bare connection, for a client that does the handshake itself. Throws `ConnectFailure`. */
export async function openBackendSocket(address: BackendAddress): Promise<Socket> {
  checkOwner(address.socket);
  return await openSocket(address.socket);
}

/** The token must not be sent to another user's socket. */
function checkOwner(path: string): void {
  const uid = process.getuid?.();
  const facts = path.startsWith('\\\\') ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined || uid === undefined || facts.uid === uid || facts.uid === 0) return;
  throw new ConnectFailure('refused', `The socket ${path} belongs to another user.`);
}

function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const fail = (reason: string): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new ConnectFailure('unreachable', `No backend answers on ${path}: ${reason}.`));
    };
    const timer = setTimeout(() => fail('it took too long'), connectWaitMs);
    socket.once('error', (error) => fail(error.message));
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

async function greet(socket: Socket, token: string, options: ConnectOptions): Promise<Client> {
  const client = wireClient(socket);
  const version = options.version ?? droverVersion;
  const late = new Promise<never>((_, reject) => {
    const failure = new ConnectFailure('unreachable', 'The backend does not answer the greeting.');
    // A process that was suspended finds its timers due first, so received data is read before the
    // failure counts.
    setTimeout(() => setImmediate(reject, failure), helloWaitMs).unref();
  });
  try {
    const { client: caller = 'cli', device } = options;
    const named = device === undefined ? {} : { device };
    const params = { token, client: caller, version, protocol: protocolVersion, ...named };
    const answer = await Promise.race([client.call('hello', params), late]);
    if (answer.leaving) {
      throw new ConnectFailure('leaving', 'The running backend is older and is shutting down.');
    }
    if (answer.protocol !== protocolVersion) throw protocolFailure(answer, version);
    return client;
  } catch (error) {
    client.close();
    if (error instanceof Refusal) throw new ConnectFailure('refused', error.message);
    if (error instanceof BackendGone) throw new ConnectFailure('unreachable', error.message);
    throw error;
  }
}

function protocolFailure(answer: Answer<'hello'>, version: string): ConnectFailure {
  const text =
    answer.protocol < protocolVersion
      ? `The running backend (${answer.version}) is older than this drover (${version}) and is working: ` +
        'wait until it is idle, or stop it with "drover server stop" of its own version.'
      : `The running backend (${answer.version}) is newer than this drover (${version}): update drover.`;
  return new ConnectFailure('protocol', text);
}

interface Follower {
  last: number;
  readonly onEvents: (events: readonly EventView[]) => void;
  readonly onEnd: (reason: string) => void;
}

function wireClient(socket: Socket): Client {
  const guard = new MessageSizeGuard(messageBytesMax);
  socket.on('error', () => guard.destroy());
  socket.on('close', () => guard.destroy());
  socket.pipe(guard);
  const connection = createMessageConnection(
    new StreamMessageReader(guard),
    new StreamMessageWriter(socket),
    NullLogger,
  );
  const followers = new Set<Follower>();
  let reason = 'the backend has stopped';
  let isClosed = false;

  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    connection.dispose();
    socket.unpipe(guard);
    guard.destroy();
    socket.destroy();
    const left = [...followers];
    followers.clear();
    for (const follower of left) follower.onEnd(reason);
  };
  // Messages that arrived before the end, such as its reason, are still queued in the connection
  // and are handled first.
  connection.onClose(() => setTimeout(close, lastWordsMs));
  connection.onError(close);
  connection.onNotification('events', ({ events }: Notifications['events']) => {
    for (const follower of followers) hand(follower, events);
  });
  connection.onNotification('leaving', (params: Notifications['leaving']) => {
    reason = params.reason;
  });
  connection.listen();

  const call = async <N extends RequestName>(name: N, params: Params<N>): Promise<Answer<N>> => {
    if (isClosed) throw new BackendGone('The connection to the backend is closed.');
    return await send(connection, name, params);
  };
  return {
    call,
    async follow(after, onEvents, onEnd) {
      const follower: Follower = { last: after, onEvents, onEnd };
      await catchUp(call, follower, followers);
      return () => {
        followers.delete(follower);
      };
    },
    close() {
      followers.clear();
      close();
    },
  };
}

async function send<N extends RequestName>(
  connection: MessageConnection,
  name: N,
  params: Params<N>,
): Promise<Answer<N>> {
  try {
    return await connection.sendRequest<Answer<N>>(name, params);
  } catch (error) {
    throw fromResponseError(error);
  }
}

function hand(follower: Follower, events: readonly EventView[]): void {
  const fresh = events.filter((event) => event.seq > follower.last);
  const last = fresh.at(-1);
  if (last === undefined) return;
  follower.last = last.seq;
  follower.onEvents(fresh);
}

/**
 * Reads page by page until near the end, then subscribes. If the response is a snapshot, it reads
 * on and subscribes again.
 */
async function catchUp(
  call: Client['call'],
  follower: Follower,
  followers: Set<Follower>,
): Promise<void> {
  for (let tries = 0; tries < subscribeTriesMax; tries += 1) {
    for (;;) {
      const page = await call('events.read', { after: follower.last, limit: pageSize });
      hand(follower, page.events);
      if (page.events.length === 0) break;
    }
    followers.add(follower);
    // One subscription serves all followers of this connection, from the lowest number that any of
    // them needs.
    const after = Math.min(...[...followers].map((each) => each.last));
    const answer = await call('subscribe', { after });
    if (answer.kind === 'replay') return;
    followers.delete(follower);
  }
  throw new BackendGone('The events could not be read.');
}
