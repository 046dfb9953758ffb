// Ctrl-C at a worker in a terminal reaches every process of its group, which does not include git.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Barrier, makeBarrier } from '../e2e/support/agent-scripts.ts';
import { removeFolder } from '../remove-folder.ts';

suite('git: signals to the whole group', () => {
  let folder = '';
  let begun: Barrier;
  let door: Barrier;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-group-'));
    begun = makeBarrier(folder, 'begun');
    door = makeBarrier(folder, 'door');
  });
  teardown(() => {
    begun.close();
    door.close();
    removeFolder(folder);
  });

  test('git completes commands that it has started', async () => {
    const script = `echo go > '${begun.path}'; ${door.wait}; echo finished`;
    const child = spawn(
      process.execPath,
      ['--no-warnings', join(import.meta.dirname, 'group-child.ts'), script],
      { detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    const waiting = spawn('/bin/sh', ['-c', begun.wait], { stdio: 'ignore' });
    await once(waiting, 'exit');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.kill(-(child.pid ?? 0), signal);
    }
    door.open();
    await once(child, 'close');
    assert.deepEqual(JSON.parse(said), { code: 0, problem: null, stdout: 'finished' });
  });
});
