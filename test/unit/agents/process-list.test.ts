// Reading /proc/<pid>/stat, whose second field may contain anything.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lowestPidSince, noteBirth } from '../../../server/agents/kit/process/pid-order.ts';
import {
  listProcesses,
  processStartTime,
  runMarker,
  startTimeOfNewChild,
} from '../../../server/agents/kit/process/process-list.ts';
import { parseStat } from '../../../server/platform/proc-stat.ts';
import { removeFolder } from '../../remove-folder.ts';

const rest = '1 77 77 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 0 0';

function check(text: string, expected: object | null): void {
  const listed = parseStat(5, text);
  if (expected === null) assert.equal(listed, null);
  else assert.deepEqual({ ...listed, ...expected }, listed);
}

suite('process list', () => {
  test('process numbers below a process are skipped while none can have been reused', () => {
    if (process.platform !== 'linux') return;
    // Ids may wrap around between the two reads, but not three times in a row.
    const proved = [1, 2, 3].filter(() => {
      // Not noted, and as old as the system: anything may have happened since.
      const born = { pid: spawnSync('true').pid, startTime: '0' };
      assert.equal(lowestPidSince(born), 0);
      noteBirth(born);
      spawnSync('true');
      return lowestPidSince(born) === born.pid;
    });
    assert.notEqual(proved.length, 0);
    const largest = Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
    assert.equal(lowestPidSince({ pid: largest, startTime: '0' }), 0, 'begun anew');
  });
  test('fields are counted from the last parenthesis', () => {
    check(`5 (sh) S ${rest}`, { parentPid: 1, groupId: 77, startTime: '987654', isZombie: false });
    check(`5 (a) b) R 9 (x) T ${rest}`, { isStopped: true, startTime: '987654' });
    check(`5 (sh) Z ${rest}`, { isZombie: true });
    check('5 (sh', null);
  });
  test('a list of the process itself finds only itself', () => {
    assert.notEqual(processStartTime(process.pid), null);
    assert.equal(processStartTime(2 ** 22 + 1), null);
  });
  test('processes that started later than a process are found with it, and older ones may be left out', async () => {
    if (process.platform === 'win32') return;
    const env = { PATH: process.env['PATH'], [runMarker]: 'list-test' };
    const first = spawn('sh', ['-c', 'read never'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    await once(first, 'spawn');
    const agent = { pid: first.pid ?? 0, startTime: startTimeOfNewChild(first.pid ?? 0) };
    const later = spawn('sh', ['-c', 'read never'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    await once(later, 'spawn');
    const marked = async (since: typeof agent | null): Promise<number[]> =>
      (await listProcesses('list-test', since))
        .filter((one) => one.hasMarker && !one.isZombie)
        .map((one) => one.pid);
    // The marker is seen once the program has replaced the copy of this process.
    for (let found: number[] = []; found.length < 2; found = await marked(null)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const all = await marked(agent);
    assert.ok(all.includes(agent.pid) && all.includes(later.pid ?? 0), String(all));
    if (process.platform === 'linux') {
      const listed = await listProcesses('list-test', agent);
      assert.ok(!listed.some((one) => one.pid === process.pid), 'an elder');
    }
    // An unknown start time excludes nothing.
    assert.ok((await marked({ ...agent, startTime: 'unknown' })).length >= all.length);
    for (const child of [first, later]) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });

  test('work that passes from one program to the next is always found', async () => {
    if (process.platform !== 'linux') return;
    await findAtEveryMoment('exec "$0"', 'program-test');
  });
  test('a process that forks and exits at once is always found', async () => {
    if (process.platform !== 'linux') return;
    await findAtEveryMoment('"$0" & exit 0', 'birth-test');
  });
});

const listings = 100;

/**
 * Lists beside a program that is controlled by `script`, in which `$0` is the program, until that
 * is removed.
 */
async function findAtEveryMoment(script: string, runId: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-list-'));
  const program = join(folder, 'program.sh');
  writeFileSync(program, `#!/bin/sh\necho begun\n${script}\n`, { mode: 0o700 });
  const env = { PATH: process.env['PATH'], [runMarker]: runId };
  const child = spawn(program, [], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child.stdout, 'close');
  try {
    await once(child.stdout, 'data');
    child.stdout.resume();
    for (let listing = 0; listing < listings; listing++) {
      const all = await listProcesses(runId);
      const mine = all.filter((one) => one.hasMarker && !one.isZombie);
      assert.ok(mine.length > 0, `not in listing ${listing}`);
    }
  } finally {
    removeFolder(folder);
    await ended;
  }
}
