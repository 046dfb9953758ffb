// A link is an argument of the browser that opens it, and other users of a machine can read arguments.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisPlatform } from '../../../server/platform/this-platform.ts';
import { Devices } from '../../../server/web/devices.ts';
import { Invitations } from '../../../server/web/invitations.ts';
import { PageSockets } from '../../../server/web/page-sockets.ts';
import { ProjectLinks } from '../../../server/web/project-links.ts';
import { startWebServer } from '../../../server/web/web-server.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('other users of the machine', () => {
  test('the system reports who owns a loopback connection if it has /proc', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    const user = thisPlatform.hasProcFiles ? (process.getuid?.() ?? null) : null;
    assert.equal(thisPlatform.connectionUser(socket.localPort ?? 0, port), user);
    assert.equal(thisPlatform.connectionUser(1, port), null);
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  for (const isOther of [true, false]) {
    test(`a link lets ${isOther ? 'no browser of another user' : 'a browser of this user'} in`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'drover-web-'));
      const devices = new Devices(join(folder, 'devices.json'), Date.now, () => {});
      const invitations = new Invitations(Date.now);
      const links = new ProjectLinks({
        read: () => [],
        open: async () => await Promise.reject(new Error('none')),
        tell: () => {},
      });
      const sockets = new PageSockets({ devices, links, own: {} as never, nowMs: Date.now });
      const server = await startWebServer({
        address: { host: '127.0.0.1', port: 0 },
        exposure: { kind: 'loopback' },
        folder,
        devices,
        invitations,
        sockets,
        isOtherUser: () => isOther,
      });
      const token = invitations.add({ role: 'decide', name: '' }, 60_000);
      const { status } = await fetch(`${server.origin}/enter`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: server.origin },
        body: JSON.stringify({ token }),
      });
      assert.equal(status, isOther ? 403 : 200);
      assert.equal(devices.list.length, isOther ? 0 : 1);
      await server.close();
      links.close();
      removeFolder(folder);
    });
  }
});
