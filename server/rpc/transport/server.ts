// The listening end: a socket (or a named pipe) that only this user can open, or standard input and
// output.

import { chmodSync, lstatSync, mkdirSync, statSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Refusal } from '../../core/failure.ts';
import { type AgentDoor, serveConnection, type ServedConnection } from './connection.ts';
import type { Feed } from './feed.ts';
import type { RequestHandlers } from './local.ts';

const connectionsMax = 64;

export interface ServeSocketOptions {
  /** Path of the socket file, or of a named pipe on Windows. */
  readonly path: string;
  /** A folder around the socket's folder, which is private too. */
  readonly within?: string;
  readonly token: string;
  readonly handlers: RequestHandlers;
  /** Admits agents, for fewer requests. */
  readonly agents?: AgentDoor;
  readonly feed: Feed;
  readonly version: string;
  readonly root: string;
  /** Whether the process at the other end belongs to an agent or a gate. */
  readonly isOfRun?: (socket: Socket) => Promise<boolean>;
  /** Called with the number of clients after the handshake, whenever it changes. */
  readonly onClientCount: (count: number) => void;
  readonly isIdle: () => boolean | Promise<boolean>;
  /**
   * A newer client got the response that this backend exits. The callee must end the process after
   * closing the server.
   */
  readonly onLeaving: () => void;
}

export interface ServedSocket {
  readonly path: string;
  /**
   * Listens again if the socket file is gone, because folders for run-time files are emptied, for
   * example when a user logs out. Clients that are connected are not disconnected.
   */
  heal(): Promise<void>;
  /** Notifies every client, closes their connections and removes the socket file. */
  close(reason: string): Promise<void>;
}

export async function serveSocket(options: ServeSocketOptions): Promise<ServedSocket> {
  await preparePath(options.path, options.within);
  const open = new Set<ServedConnection>();
  let clients = 0;
  const count = (change: number): void => {
    clients += change;
    options.onClientCount(clients);
  };
  const accept = (socket: Socket): void => {
    if (open.size >= connectionsMax && !makeRoom(open)) {
      socket.destroy();
      return;
    }
    const served = serveConnection(
      socket,
      socket,
      () => {
        open.delete(served);
        endSocket(socket);
      },
      {
        ...options,
        isOfRun: async () => (await options.isOfRun?.(socket)) ?? false,
        onOpen: () => count(1),
        onClosed: () => count(-1),
        onLeave: options.onLeaving,
      },
    );
    open.add(served);
  };
  let server = createServer(accept);
  await listen(server, options.path);
  return {
    path: options.path,
    async heal() {
      if (!server.listening || isThere(options.path)) return;
      server.close(); // before the next server starts, because this removes the file of that name
      server = createServer(accept);
      await preparePath(options.path, options.within);
      await listen(server, options.path);
    },
    async close(reason) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([...open].map((served) => served.leave(reason)));
      await closed;
    },
  };
}

/**
 * Disconnects the client that has been silent for longest before the handshake, so that silent
 * clients cannot keep others out. Returns false if all have done the handshake.
 */
function makeRoom(open: ReadonlySet<ServedConnection>): boolean {
  for (const served of open) {
    if (!served.isWaiting()) continue;
    served.close();
    return true;
  }
  return false;
}

export interface ServeStreamsOptions extends Omit<
  ServeSocketOptions,
  'path' | 'token' | 'isOfRun'
> {
  readonly input: Readable;
  readonly output: Writable;
  /** The client is gone, so this process has no client left to serve. */
  readonly onEnd: () => void;
}

/**
 * Serves one client over a pair of pipes: the process that started this one, so no token is
 * required.
 */
export function serveStreams(options: ServeStreamsOptions): {
  close(reason: string): Promise<void>;
} {
  const served = serveConnection(options.input, options.output, options.onEnd, {
    ...options,
    token: null,
    isOfRun: async () => false,
    onOpen: () => options.onClientCount(1),
    onClosed: () => options.onClientCount(0),
    onLeave: options.onLeaving,
  });
  return { close: (reason) => served.leave(reason) };
}

/** Pending output is still sent. A client that does not read cannot block the socket. */
function endSocket(socket: Socket): void {
  socket.on('error', () => {});
  socket.end();
  const timer = setTimeout(() => socket.destroy(), 500);
  timer.unref();
  socket.on('close', () => clearTimeout(timer));
}

async function listen(server: Server, path: string): Promise<void> {
  const before = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, () => resolve());
      process.umask(before); // the file exists as soon as listen returns
    });
  } finally {
    process.umask(before);
  }
  server.on('error', () => {});
  if (!isPipe(path)) chmodSync(path, 0o600);
}

/** In another user's folder, that user could replace the socket. */
function isOursOrRoots(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.();
}

function isThere(path: string): boolean {
  return isPipe(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isPipe(path: string): boolean {
  return path.startsWith('\\\\');
}

function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(folder);
  const openToAll = (mode & 0o002) !== 0 && (mode & 0o1000) === 0;
  if (!openToAll && isOursOrRoots(uid)) return;
  throw new Refusal(
    'socket',
    `Another user can write to the folder ${folder}. Choose one that only you can write to.`,
  );
}

/** Creates a private folder and removes leftovers of a dead backend. */
async function preparePath(path: string, within: string | undefined): Promise<void> {
  if (isPipe(path)) return;
  if (Buffer.byteLength(path) > 100) {
    throw new Refusal('socket', `The socket path ${path} is too long (at most 100 bytes).`);
  }
  if (within !== undefined) makePrivate(within);
  makePrivate(dirname(path));
  const present = lstatSync(path, { throwIfNoEntry: false });
  if (present === undefined) return;
  if (!present.isSocket()) {
    throw new Refusal(
      'socket',
      `${path} exists and is not a socket; remove it or choose another path.`,
    );
  }
  if (await someoneListens(path)) {
    throw new Refusal('socket', `A backend listens on ${path} already.`);
  }
  unlinkSync(path);
}

const probeWaitMs = 1000;

function someoneListens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const timer = setTimeout(() => finish(true), probeWaitMs);
    const finish = (answer: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
