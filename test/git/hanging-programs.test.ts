// Programs that git starts and that hang: git's result arrives within its time limit, and they are
// killed with it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openGitProcesses, type GitProcesses } from '../../server/git/process/process.ts';
import { GitShells } from '../../server/git/process/shells.ts';
import { openRemote } from '../../server/git/remote/remote.ts';
import { makeFixture, type Fixture } from './fixture.ts';
import { makeFleet, openMachine } from './remote-fixture.ts';

const timeoutMs = 1_500;
/** For a busy machine; the programs hang for ten minutes. */
const withinMs = 30_000;

suite('git: programs that hang', () => {
  let fixture: Fixture;
  let server: Server | null = null;
  let shells: GitShells;
  let git: GitProcesses;
  setup(() => {
    fixture = makeFixture();
    shells = new GitShells();
    git = openGitProcesses({
      binary: '/usr/bin/git',
      environment: fixture.environment,
      concurrency: 2,
      maxOutputBytes: 1024 * 1024,
      timeoutMs,
      elsewhere: shells.run,
    });
  });
  teardown(async () => {
    shells.close();
    server?.close();
    server?.closeAllConnections();
    server = null;
    await untilEnded(fixture);
    fixture.remove();
  });

  /** A program that records its pid, ignores SIGTERM and keeps the output open. */
  const hanging = (name: string): string => {
    const path = join(fixture.home, name);
    const pids = join(fixture.home, 'pids');
    writeFileSync(path, `#!/bin/sh\ntrap '' TERM\necho $$ >> '${pids}'\nsleep 600\nsleep 600\n`);
    chmodSync(path, 0o755);
    return path;
  };

  const timesOut = async (args: readonly string[], userHooks = false): Promise<void> => {
    const startedMs = performance.now();
    const output = await git.run({ args, cwd: fixture.root, userHooks });
    assert.equal(output.problem, 'timeout');
    assert.ok(performance.now() - startedMs < withinMs);
    assert.ok(existsSync(join(fixture.home, 'pids')), 'the program was not started');
  };

  test('a hanging hook is killed', async () => {
    hanging('pro ject/.git/hooks/pre-commit');
    await timesOut(['commit', '--allow-empty', '-qm', 'x'], true);
  });

  test('a hanging clean filter, such as git-lfs, is killed', async () => {
    fixture.git('config', 'filter.slow.clean', `'${hanging('clean')}'`);
    fixture.write(join(fixture.root, '.gitattributes'), '*.bin filter=slow\n');
    fixture.write(join(fixture.root, 'a.bin'), 'a');
    await timesOut(['add', 'a.bin']);
  });

  test('a hanging credential helper is killed', async () => {
    server = createServer((_request, response) => {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    fixture.git('config', 'credential.helper', `!'${hanging('helper')}'`);
    const { port } = server.address() as AddressInfo;
    await timesOut(['ls-remote', `http://127.0.0.1:${String(port)}/x.git`]);
  });

  test('a hanging ssh program of the user makes the remote unreachable, but does not block the machine', async () => {
    const fleet = await makeFleet('file');
    try {
      const clone = fleet.clone('one');
      clone.git('remote', 'set-url', 'origin', 'ssh://host.invalid/x.git');
      clone.git('config', 'core.sshCommand', `'${hanging('own-ssh')}'`);
      const { local } = await openMachine(fleet.fixture, clone, 'one');
      const options = { remote: 'origin', timeoutMs, pausesMs: [] };
      const { health } = openRemote(local.context, options);
      const startedMs = performance.now();
      await health.probe();
      assert.ok(performance.now() - startedMs < withinMs);
      assert.notEqual(health.awaySinceMs, null);
    } finally {
      await untilEnded(fixture);
      await fleet.remove();
    }
  });
});

/** Waits until the hanging programs have exited, at most until the test's own time limit. */
async function untilEnded(fixture: Fixture): Promise<void> {
  const file = join(fixture.home, 'pids');
  if (!existsSync(file)) return;
  for (const pid of readFileSync(file, 'utf8').trim().split('\n').map(Number)) {
    while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}
