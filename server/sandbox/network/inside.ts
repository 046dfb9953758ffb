// The inner half of the network gate: in its own network namespace, it listens as a proxy and on
// the allowed ports of this machine, and passes every connection to the outer half.

import { spawn } from 'node:child_process';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { createServer, Socket, type AddressInfo } from 'node:net';
import { joined, proxyAuthority } from './joined.ts';

/** Inherited from the outer half through the sandbox. */
const descriptor = 3;

/** Runs the program to its end. Resolves with its exit code. */
export async function runInside(
  ports: readonly number[],
  [program = '', ...args]: readonly string[],
): Promise<number> {
  const pipe = new Socket({ fd: descriptor, readable: true, writable: true });
  const session = connectHttp2('http://outside', { createConnection: () => pipe });
  session.on('error', () => undefined);
  const proxyPort = await listening(session, 0, proxyAuthority, '127.0.0.1');
  for (const port of ports) {
    const place = `localhost:${port}`;
    await listening(session, port, place, '127.0.0.1').catch(() => undefined);
    await listening(session, port, place, '::1').catch(() => undefined);
  }
  const env = { ...process.env, ...proxyVariables(proxyPort) };
  const child = spawn(program, args, { stdio: 'inherit', env });
  return await new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`drover: ${error.message}\n`);
      resolve(127);
    });
    child.once('exit', (code) => resolve(code ?? 143));
  });
}

function listening(
  session: ClientHttp2Session,
  port: number,
  authority: string,
  host: string,
): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const stream = session.request({ ':method': 'CONNECT', ':authority': authority });
    stream.once('response', (headers) => {
      if (headers[':status'] === 200) joined(socket, stream);
      else socket.destroy();
    });
    stream.once('error', () => socket.destroy());
    stream.once('close', () => {
      if (stream.readableEnded === false) socket.destroy();
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => resolve((server.address() as AddressInfo).port));
  });
}

function proxyVariables(port: number): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
  const own = 'localhost,127.0.0.1,::1';
  return {
    ...Object.fromEntries(
      names.flatMap((name) => [[name, url] as const, [name.toLowerCase(), url]]),
    ),
    NO_PROXY: own,
    no_proxy: own,
    NODE_USE_ENV_PROXY: '1',
  };
}
