// The outer half of network access determines which hosts are reachable, whatever the inner half
// requests, because a confined program can replace the inner half.

import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * Sends requests over the inherited descriptor, like the inner half, and reports the status of each
 * answer.
 */
const hostile = `
const { connect } = require('node:http2');
const { Socket } = require('node:net');
const pipe = new Socket({ fd: 3, readable: true, writable: true });
const session = connect('http://outside', { createConnection: () => pipe });
const ask = (headers) => new Promise((resolve) => {
  const stream = session.request(headers);
  stream.once('response', (got) => { resolve(got[':status']); stream.close(); });
  stream.once('error', () => resolve('error'));
  stream.once('close', () => resolve('closed'));
});
(async () => {
  const told = [];
  for (const authority of process.argv.slice(1))
    told.push(await ask({ ':method': 'CONNECT', ':authority': authority }));
  told.push(await ask({ ':method': 'GET', ':path': '/', ':authority': process.argv[1], ':scheme': 'http' }));
  console.log(JSON.stringify(told));
  process.exit(0);
})();
`;

suite('network access from a sandbox', () => {
  test('a program in the sandbox reaches listed hosts and no others', async () => {
    const servers = [0, 1].map(() => createServer((socket) => socket.end('x')));
    const ports = await Promise.all(
      servers.map(
        (server) =>
          new Promise<number>((resolve) => {
            server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
          }),
      ),
    );
    const [listed, other] = ports;
    const gate = join(import.meta.dirname, '../../server/main/network-gate.ts');
    const rules = JSON.stringify([`localhost:${listed}`]);
    const asked = [
      `localhost:${listed}`,
      `localhost:${other}`,
      `127.0.0.1:${other}`,
      '169.254.169.254:80',
      ':',
      'x',
    ];
    const args = [
      '--no-warnings',
      gate,
      'outside',
      rules,
      process.execPath,
      '-e',
      hostile,
      ...asked,
    ];
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    for (const server of servers) server.close();
    const [first, ...others] = JSON.parse(said) as readonly unknown[];
    assert.equal(first, 200);
    assert.equal(others.length, asked.length);
    assert.deepEqual(
      others.filter((status) => status === 200),
      [],
    );
  });
});
