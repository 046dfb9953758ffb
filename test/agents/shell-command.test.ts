// S17: the path of a command with a secret from the project's settings to the shell.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestRun, runGate, type TestRun } from './support.ts';

suite('commands from settings', function () {
  this.timeout(30_000);
  let run: TestRun;
  setup(() => {
    run = createTestRun();
  });
  teardown(() => run.remove());

  test('S17: a command with a secret is not an argument of a process, and runs as written', async () => {
    if (process.platform !== 'linux') return;
    const secret = 'pl4nted-in-a-command';
    const seen = join(run.folder, 'arguments');
    const command = `set -e
x='${secret} "and" $HOME'; printf '%s|' "$x" > given
cat /proc/$$/cmdline /proc/$PPID/cmdline > "${seen}"; exit 7`;
    const outcome = await runGate(run, command, [secret]);
    assert.equal(outcome.exitCode, 7);
    assert.equal(readFileSync(join(run.cwd, 'given'), 'utf8'), `${secret} "and" $HOME|`);
    assert.equal(readFileSync(seen, 'utf8').includes(secret), false);
  });
});
