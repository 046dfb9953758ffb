// Processes that have left their agent's tree are ended with the agent; a person's own processes
// stay.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processStartTime } from '../../server/agents/kit/process/process-list.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { removeFolder } from '../remove-folder.ts';

suite('orphans of an agent', () => {
  let folder: string;
  setup(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-orphans-')));
  });
  teardown(() => removeFolder(folder));

  /** Starts a process with an empty environment and without a parent; resolves with its id. */
  async function orphan(name: string): Promise<number> {
    const note = join(folder, name);
    const line = `setsid env -i sh -c 'echo $$ > ${name}; exec sleep 600' > /dev/null 2>&1 &`;
    spawn('sh', ['-c', line], { cwd: folder, stdio: 'ignore' });
    await eventually(
      'it runs',
      () => existsSync(note) && readFileSync(note, 'utf8').endsWith('\n'),
    );
    return Number(readFileSync(note, 'utf8'));
  }

  test('A2: orphans are ended, unless they are older than the agent or have a parent', async () => {
    // Only Linux reports the working folder of a process.
    if (process.platform !== 'linux') return;
    const older = await orphan('older');
    const child = spawn('sleep', ['600'], { cwd: folder, stdio: 'ignore' });
    await eventually('a later tick', async () => {
      const probe = spawn('sleep', ['5'], { stdio: 'ignore' });
      const start = Number(processStartTime(probe.pid ?? 0));
      probe.kill('SIGKILL');
      return start > Number(processStartTime(older));
    });
    const agentStart = String(Number(processStartTime(older)) + 1);
    const late = await orphan('late');
    await createProcessTable().endOrphansIn(folder, { pid: 0, startTime: agentStart });
    assert.equal(processStartTime(late), null);
    assert.notEqual(processStartTime(older), null);
    assert.notEqual(processStartTime(child.pid ?? 0), null);
    process.kill(older, 'SIGKILL');
    child.kill('SIGKILL');
  });
});
