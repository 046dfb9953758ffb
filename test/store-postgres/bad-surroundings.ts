// Environments that fail on demand: a network that goes silent, a port without a listener, a small
// disk.

import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';

/** Sits between a client and the server; data that arrives while it stalls is never passed on. */
export async function stallingProxy(target: number): Promise<{
  readonly port: number;
  readonly stall: () => void;
  readonly goOn: () => void;
  readonly close: () => void;
}> {
  let open: Socket[] = [];
  let isStalled = false;
  const proxy = createServer((client) => {
    const server = connect(target, '127.0.0.1');
    const pair = { isStalled: false };
    const pass = (from: Socket, to: Socket): void => {
      from.on('data', (data) => {
        pair.isStalled ||= isStalled;
        if (!pair.isStalled) to.write(data);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    };
    pass(client, server);
    pass(server, client);
    open = [...open, client, server];
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return {
    port: address.port,
    stall: () => (isStalled = true),
    goOn: () => (isStalled = false),
    close: () => {
      proxy.close();
      for (const socket of open) socket.destroy();
    },
  };
}

export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}

/** Runs the body on a disk of a few megabytes if the current user may mount one. */
export async function onSmallDisk(body: (disk: string) => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const disk = mkdtempSync(join(tmpdir(), 'drover-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    removeFolder(disk);
    return;
  }
  try {
    chownSync(disk, 65_534, 65_534);
    await body(disk);
  } finally {
    execFileSync('umount', [disk]);
    removeFolder(disk);
  }
}
