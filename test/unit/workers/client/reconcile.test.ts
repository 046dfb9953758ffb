// C40: the instances that the next start destroys, and those that it never touches.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from '../../../../server/core/failure.ts';
import { reconcileLeases } from '../../../../server/workers/client/destroy.ts';
import type { Provisioner } from '../../../../server/workers/provisioners/port.ts';
import { removeFolder } from '../../../remove-folder.ts';

suite('leases of workers', () => {
  let folder: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-leases-'));
  });
  teardown(() => removeFolder(folder));

  test("C40 only the machine's own leases whose follower has exited are destroyed", async () => {
    const destroyed: string[] = [];
    const provisioner: Provisioner = {
      kind: 'hook',
      capabilities: { env: true, list: false, foreignPaths: true },
      create: async () => err({ message: 'never.', isCertain: true }),
      destroy: async ({ name }) => {
        destroyed.push(name);
        return ok(null);
      },
      list: async () => ok([]),
    };
    const lease = (name: string, owner: string): void => {
      mkdirSync(join(folder, 'leases'), { recursive: true });
      const content = {
        name,
        id: name,
        owner,
        run: 'r',
        pid: 1,
        pidStart: '1',
        createdAtMs: 1,
        deadlineMs: 2,
        provisioner: 'hook',
      };
      writeFileSync(join(folder, 'leases', `${name}.json`), JSON.stringify(content));
    };
    const [dead, live, other] = ['drv-00000001-1', 'drv-00000002-1', 'drv-00000003-1'];
    lease(dead, 'me');
    lease(live, 'me');
    lease(other, 'them');
    writeFileSync(join(folder, 'leases', 'damaged.json'), '{');
    const reconciled = await reconcileLeases({
      leases: join(folder, 'leases'),
      owner: 'me',
      isAlive: ({ name }) => name === live,
      open: () => provisioner,
    });
    assert.deepEqual(reconciled.destroyed, [dead]);
    assert.equal(reconciled.problems.length, 1);
    assert.deepEqual(destroyed, [dead]);
    const left = readdirSync(join(folder, 'leases')).toSorted();
    assert.deepEqual(left, ['damaged.json', `${live}.json`, `${other}.json`]);
  });
});
