// A socket that is taken, a backend of another version, and one that a person has stopped: each is one clear state, and
// each has a way on that works.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { ExportsWhenReady } from '../../../extension/tools/exports.ts';
import { ready, untilBoard, waitMs, workspaceRoot } from './support.ts';

suite('problems with the backend', () => {
  let exports: ExportsWhenReady;
  let server: Server | null = null;

  suiteSetup(async () => {
    exports = await ready();
  });

  suiteTeardown(() => server?.close());

  test('a file in place of the socket is named, and removing it helps', async () => {
    const path = socketPath();
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(path, 'not a socket');
    await vscode.commands.executeCommand('drover.tree.focus');
    await untilReason('backend_failed', /exists and is not a socket; remove it/);
    rmSync(path);
    await vscode.commands.executeCommand('drover.reconnect');
    await untilBoard(exports, () => true);
  });

  test('a backend that a person stops stays stopped until a person starts it', async () => {
    await vscode.commands.executeCommand('drover.stopBackend');
    await untilReason('backend_stopped', /^The backend was stopped/);
    await untilNoAddress();
  });

  test('a newer backend is named, and gets no requests', async () => {
    const asked: string[] = [];
    server = await serveAsNewer(asked);
    await vscode.commands.executeCommand('drover.reconnect');
    await untilReason('backend_version', /version 9\.9\.9\) is newer than this extension/);
    assert.deepEqual(
      asked.filter((name) => name !== 'initialize'),
      [],
    );
    server.close();
    rmSync(addressPath());
    await vscode.commands.executeCommand('drover.reconnect');
    await untilBoard(exports, () => true);
  });

  /** A backend answers that it ends before it has taken its address away. */
  async function untilNoAddress(): Promise<void> {
    const endMs = Date.now() + waitMs;
    while (existsSync(addressPath())) {
      assert.ok(Date.now() < endMs, 'a stopped backend takes its address away');
      await delay(50);
    }
  }

  async function untilReason(reason: string, message: RegExp): Promise<void> {
    await exports.until((connection) => {
      return (
        connection.kind === 'unavailable' &&
        connection.reason === reason &&
        message.test(connection.message) &&
        connection.action?.command === 'drover.reconnect'
      );
    }, waitMs);
  }
});

function addressPath(): string {
  return join(workspaceRoot(), '.drover', 'backend.json');
}

function socketPath(): string {
  const runtime = process.env['XDG_RUNTIME_DIR'] ?? '';
  const commonDir = realpathSync(join(workspaceRoot(), '.git'));
  const name = createHash('sha256').update(commonDir).digest('hex').slice(0, 16);
  return join(runtime, 'drover', `${name}.sock`);
}

/** A peer that greets as a backend of a later version would; this process stands for it. */
async function serveAsNewer(asked: string[]): Promise<Server> {
  const path = join(workspaceRoot(), '.drover', 'newer.sock');
  const served = createServer((socket) => {
    const wire = createMessageConnection(
      new StreamMessageReader(socket),
      new StreamMessageWriter(socket),
    );
    wire.onRequest((name: string) => {
      asked.push(name);
      const hello = { version: '9.9.9', protocol: 99, pid: 1, root: '', leaving: false };
      return { capabilities: { experimental: hello } };
    });
    wire.listen();
  });
  await new Promise<void>((resolve) => served.listen(path, resolve));
  const stat = readFileSync(`/proc/${process.pid}/stat`, 'latin1');
  const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  const address = { pid: process.pid, start_time: startTime, socket: path, token: 'x' };
  writeFileSync(addressPath(), JSON.stringify({ ...address, version: '9.9.9', protocol: 99 }));
  return served;
}
