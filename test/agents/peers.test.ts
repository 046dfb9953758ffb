// S9: which process is at the other end of the owner's socket, according to Linux, whatever that
// process claims.

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRunGroup, removeGroup } from '../../server/agents/kit/process/run-group.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import { isPeerOfRun } from '../../server/agents/kit/process/peers.ts';
import { removeFolder } from '../remove-folder.ts';
import { noGroups } from './support.ts';

const project = 'ab12ab12ab12';
const runId = `${project}/task-a/1/task-a`;

suite('peers of the socket', function () {
  this.timeout(30_000);
  let folder: string;
  let server: Server;
  let child: ChildProcess | null = null;
  setup(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drover-peers-'));
    server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
  });
  teardown(async () => {
    child?.kill('SIGKILL');
    await createProcessTable().endTree(runId, null, 0);
    server.close();
    removeFolder(folder);
  });

  /** Connects from a separate process, started with this shell command. */
  async function peer(words: string, env: Readonly<Record<string, string>>): Promise<Socket> {
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const script = `require('net').connect(process.argv[1]); setTimeout(() => {}, 600000)`;
    const line = `${words} "$0" -e "$1" "$2"`;
    const args = ['-c', line, process.execPath, script, join(folder, 's')];
    child = spawn('sh', args, { env: { PATH: '/usr/bin:/bin', ...env }, stdio: 'ignore' });
    return await accepted;
  }

  test("a process of a run, its child, and a process with another project's marker are recognized", async () => {
    if (process.platform !== 'linux') return;
    const marked = await peer('exec', { DROVER_RUN: runId });
    assert.equal(await isPeerOfRun(marked, project), true);
    assert.equal(await isPeerOfRun(marked, 'ffffffffffff'), false);
    const cleared = await peer('env -i', { DROVER_RUN: runId });
    assert.equal(await isPeerOfRun(cleared, project), true, 'its parent is marked');
  });

  test("a person's own process is recognized", async () => {
    assert.equal(await isPeerOfRun(await peer('exec', {}), project), false);
  });

  test('a process without environment, session and parent is recognized by its control group', async () => {
    const group = makeRunGroup(runId);
    assert.ok(group !== null, noGroups);
    const join = `printf 0 > "${group}/cgroup.procs"; exec setsid env -i`;
    const socket = await peer(join, {});
    assert.equal(await isPeerOfRun(socket, project), true);
    child?.kill('SIGKILL');
    await createProcessTable().endTree(runId, null, 0);
    removeGroup(group);
  });
});
