// Workers as processes of this machine, with a stand-in for the runtime.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processStartTime } from '../../../../server/agents/kit/process/process-list.ts';
import { createProcessProvisioner } from '../../../../server/workers/provisioners/process.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { removeFolder } from '../../../remove-folder.ts';

const runtime = `printf '{"url":"http://127.0.0.1:1","pid":%s}\\n' $$; exec sleep 600`;

suite('process provisioner', () => {
  let folder: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-process-'));
  });
  teardown(() => removeFolder(folder));

  test('processes searched for at the end are not older than the runtime', async () => {
    const ended: ({ readonly pid: number; readonly startTime: string } | null)[] = [];
    const provisioner = createProcessProvisioner({
      folder,
      program: '/bin/sh',
      args: ['-c', runtime],
      env: { PATH: process.env['PATH'] ?? '' },
      endMarked: async (_marker, first) => {
        ended.push(first);
        if (first !== null) process.kill(first.pid, 'SIGKILL');
      },
      startOutside: (_marker, start) => start,
      markerVariable: 'DROVER_TEST_MARKER',
      startTimeOf: processStartTime,
    });
    const spec = { name: 'drv-0123abcd-1', owner: 'me', token: 't', env: {}, image: null };
    const made = await provisioner.create({ ...spec, ttlMs: 60_000 }, new AbortController().signal);
    assert.ok(made.ok, made.ok ? '' : made.error.message);
    assert.deepEqual((await provisioner.destroy(made.value)).ok, true);
    const [first] = ended;
    assert.ok(first !== null && first !== undefined && first.startTime !== '');
    await eventually('the runtime is gone', async () => await provisioner.isGone?.(made.value));
    // Another process, as after a crash, knows of no oldest one.
    const name = 'drv-0123abcd-2';
    await provisioner.destroy({ name, id: name });
    assert.equal(ended[1], null);
    assert.deepEqual(readdirSync(folder), []);
  });
});
