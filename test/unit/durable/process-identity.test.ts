// Whether a process that owns work still lives.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  isProcessAlive,
  processIdentity,
} from '../../../server/durable/embedded/process-identity.ts';

suite('process identity', () => {
  const own = processIdentity();
  const [pid = '', start = '', nonce = ''] = own.split(':');
  const check = (identity: string, expected: boolean, why: string): void => {
    test(`${why}: ${expected ? 'counts as alive' : 'is dead'}`, () => {
      assert.equal(isProcessAlive(identity), expected);
    });
  };

  check(own, true, 'this process');
  check(`${pid}:${start}:other`, true, 'the same process under another nonce');
  check('', true, 'an unreadable identity');
  check('x:y:z', true, 'an unreadable pid');
  check(`${pid}:other-1.${'1'}:${nonce}`, true, 'a process of another boot or container');
  if (process.platform === 'linux') {
    check(`${pid}:${start}1:${nonce}`, false, 'the same pid with another start time');
    check(`${2 ** 22 + 1}:${start}:${nonce}`, false, 'a pid beyond all pids');
  }

  test('it is different at every call', () => {
    assert.notEqual(processIdentity(), own);
  });

  test('a killed process is dead', async () => {
    const program = new URL(
      '../../../server/durable/embedded/process-identity.ts',
      import.meta.url,
    );
    const script = `import { processIdentity } from ${JSON.stringify(program.href)};
      process.stdout.write(processIdentity() + '\\n'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    const identity = said.toString().trim();
    assert.equal(isProcessAlive(identity), true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(isProcessAlive(identity), false);
  });
});
