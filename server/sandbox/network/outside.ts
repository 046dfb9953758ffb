// The outer half of the network gate: starts the confined program and answers its requests over one
// inherited descriptor. Hosts that no rule names are refused here, outside of the sandbox.

import { spawn } from 'node:child_process';
import { createServer as createHttpServer, type IncomingMessage, request } from 'node:http';
import { createServer as createHttp2Server, constants, type ServerHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { parseHostRule, findRule, type HostRule } from '../../core/settings/network-hosts.ts';
import { addressFor } from './addresses.ts';
import { joined, proxyAuthority } from './joined.ts';
import { upstreamConnect, findUpstream } from './upstream.ts';

const connectTimeoutMs = 30_000;
const refusalsMax = 50;

class Refused extends Error {}

class WayOut {
  readonly #rules: readonly HostRule[];
  readonly #told = new Set<string>();

  constructor(rules: readonly HostRule[]) {
    this.#rules = rules;
  }

  /** Rejects with a sentence for the program that requested it. */
  async reach(host: string, port: number): Promise<Socket> {
    const rule = findRule(this.#rules, host, port);
    if (rule === null) throw new Refused(this.#refusal(host, port));
    const upstream = findUpstream(process.env, host);
    if (upstream !== null) return await upstreamConnect(upstream, host, port);
    const address = await addressFor(rule, host);
    if (address === null) throw new Error(`${shown(host)} has no address that may be reached`);
    return await connected(address.address, port);
  }

  #refusal(host: string, port: number): string {
    const place = `${shown(host)}:${port}`;
    const sentence = `drover: ${place} is not in [sandbox] network`;
    if (!this.#told.has(place) && this.#told.size < refusalsMax) {
      this.#told.add(place);
      process.stderr.write(`${sentence}\n`);
    }
    return sentence;
  }
}

/** Runs the program to its end. Resolves with its exit code. */
export async function runOutside(
  rules: readonly string[],
  [program = '', ...args]: readonly string[],
): Promise<number> {
  const wayOut = new WayOut(rules.flatMap((rule) => parseHostRule(rule) ?? []));
  // A signal reaches the whole group, but this half must end after its program.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => undefined);
  const child = spawn(program, args, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] });
  const pipe = child.stdio[3] as Duplex;
  pipe.on('error', () => undefined);
  serve(wayOut, pipe);
  return await new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`drover: ${error.message}\n`);
      resolve(127);
    });
    child.once('exit', (code) => resolve(code ?? 143));
  });
}

function serve(wayOut: WayOut, pipe: Duplex): void {
  const proxy = proxyServer(wayOut);
  const streams = createHttp2Server({ settings: { maxConcurrentStreams: 1_000 } });
  streams.on('sessionError', () => undefined);
  streams.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const authority = String(headers[':authority'] ?? '');
    if (headers[':method'] !== 'CONNECT') return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    if (authority === proxyAuthority) {
      stream.respond({ ':status': 200 });
      // The HTTP/1 server cannot write its head to an HTTP/2 stream directly, so a plain pair is
      // put in between.
      const [near, far] = duplexPair();
      joined(stream, near);
      proxy.emit('connection', far);
      return;
    }
    void direct(wayOut, stream, authority);
  });
  streams.emit('connection', pipe);
}

async function direct(wayOut: WayOut, stream: ServerHttp2Stream, authority: string): Promise<void> {
  const place = placeIn(authority);
  try {
    const socket = await wayOut.reach(place?.host ?? '', place?.port ?? 0);
    if (stream.destroyed) return void socket.destroy();
    stream.respond({ ':status': 200 });
    joined(stream, socket);
  } catch {
    if (!stream.destroyed) stream.close(constants.NGHTTP2_CONNECT_ERROR);
  }
}

function proxyServer(wayOut: WayOut) {
  const server = createHttpServer({ requestTimeout: 0 });
  server.on('connect', (asked: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => undefined);
    const place = placeIn(asked.url ?? '');
    wayOut.reach(place?.host ?? '', place?.port ?? 0).then(
      (socket) => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.write(head);
        joined(client, socket);
      },
      (error: unknown) => client.end(`HTTP/1.1 ${statusOf(error)}\r\nConnection: close\r\n\r\n`),
    );
  });
  server.on('request', (asked, answer) => {
    const url = URL.canParse(asked.url ?? '') ? new URL(asked.url ?? '') : null;
    if (url?.protocol !== 'http:') return void answer.writeHead(400).end();
    const port = url.port === '' ? 80 : Number(url.port);
    wayOut.reach(url.hostname, port).then(
      (socket) => {
        const onward = request({
          createConnection: () => socket,
          method: asked.method,
          path: `${url.pathname}${url.search}`,
          headers: { ...onwardHeaders(asked), host: url.host },
        });
        onward.on('response', (told) => {
          answer.writeHead(told.statusCode ?? 502, told.headers);
          told.pipe(answer);
        });
        onward.on('error', () => answer.destroy());
        answer.on('close', () => onward.destroy());
        asked.pipe(onward);
      },
      (error: unknown) => {
        const [status] = statusOf(error).split(' ', 1);
        answer.writeHead(Number(status), { connection: 'close' }).end(`${messageOf(error)}\n`);
      },
    );
  });
  return server;
}

function onwardHeaders({ headers }: IncomingMessage): IncomingMessage['headers'] {
  const kept = { ...headers };
  for (const name of ['proxy-authorization', 'proxy-connection', 'connection', 'keep-alive'])
    delete kept[name];
  return { ...kept, connection: 'close' };
}

function statusOf(error: unknown): string {
  return error instanceof Refused ? '403 Forbidden' : '502 Bad Gateway';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function placeIn(authority: string): { readonly host: string; readonly port: number } | null {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:]+):([0-9]{1,5})$/.exec(authority);
  return match === null ? null : { host: match[1] ?? '', port: Number(match[2]) };
}

function connected(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: connectTimeoutMs });
    socket.once('timeout', () => socket.destroy(new Error(`no answer from port ${port}`)));
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/** The printable form of a name that a confined program chose. */
function shown(host: string): string {
  return host.replaceAll(/[^\w.:[\]-]/g, '?').slice(0, 100);
}
