// S7: processes that an agent or a gate leaves behind cannot hide from the control group of their
// run, whatever they clear.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createCommandDriver } from '../../server/agents/command/driver.ts';
import { processStartTime } from '../../server/agents/kit/process/process-list.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import {
  findRunGroup,
  isPopulated,
  makeRunGroup,
  removeGroup,
} from '../../server/agents/kit/process/run-group.ts';
import { eventually } from '../e2e/support/eventually.ts';
import {
  createRecordingHost,
  createTestRun,
  noGroups,
  runGate,
  settingsOf,
  type TestRun,
} from './support.ts';

suite('groups of runs', function () {
  this.timeout(30_000);
  let run: TestRun;
  let note: string;
  const worker = `worker/drv-${process.pid}`;
  suiteSetup(() => {
    const group = makeRunGroup('probe/of/the/system');
    assert.ok(group !== null, noGroups);
    removeGroup(group);
  });
  setup(() => {
    run = createTestRun();
    note = join(run.folder, 'pid');
  });
  teardown(async () => {
    for (const marker of [run.request.runId, worker]) {
      await createProcessTable().endTree(marker, null, 0);
    }
    run.remove();
  });

  /**
   * Leaves a process without parent, session, environment and folder, which is running when the
   * line ends.
   */
  const leave = (): string =>
    `(setsid env -i sh -c 'cd /; echo $$ > "${note}"; exec sleep 600' > /dev/null 2>&1 &)
     while ! [ -s "${note}" ]; do sleep 0.05; done; echo done`;
  const left = (): number => Number(readFileSync(note, 'utf8'));

  test("S7: an agent's process that left its group and session is killed, and 0 processes are counted", async () => {
    const settings = settingsOf('command', { path: 'sh', args: ['-c', leave(), 'agent'] });
    const deps = { processTable: createProcessTable(), baseDir: '/' };
    const host = createRecordingHost();
    const { signal } = new AbortController();
    const outcome = await createCommandDriver(settings, deps).run(run.request, host, signal);
    assert.equal(outcome.kind, 'done');
    assert.equal(processStartTime(left()), null);
    const told = { type: 'exit', code: 0, signal: null, left: 0, ended: 1 };
    assert.deepEqual(host.events.at(-1), told);
    assert.equal(findRunGroup(run.request.runId, null), null, 'the group is removed');
  });

  test("S7: a gate's process that left its group and session is killed too", async () => {
    const outcome = await runGate(run, leave());
    assert.equal(outcome.exitCode, 0);
    assert.equal(processStartTime(left()), null);
    assert.equal(findRunGroup(run.request.runId, null), null);
  });

  test('S7: a process that forks and exits faster than it can be signaled is killed too', async () => {
    // It exits by itself, so that nothing keeps running if this test fails, and records that it
    // has.
    const hops = `
      my ($note, $end) = (shift, time + 10); sub note { open(NOTE, ">", shift); print NOTE "x"; close NOTE }
      note($note); while (time < $end) { fork and exit } note("$note.over")`;
    const outcome = await runGate(
      run,
      `(setsid env -i perl -e '${hops}' "${note}" > /dev/null 2>&1 &)
          while ! [ -s "${note}" ]; do sleep 0.05; done`,
    );
    assert.equal(outcome.exitCode, 0);
    assert.equal(findRunGroup(run.request.runId, null), null);
    assert.equal(existsSync(`${note}.over`), false, 'it was killed');
  });

  test('a worker that a run starts outlives the run, and is ended by its own marker', async () => {
    const source = join(import.meta.dirname, '../../server/agents/kit/process/run-group.ts');
    const script = `
      import { spawn } from 'node:child_process';
      import { startBesideRun } from ${JSON.stringify(source)};
      const line = 'echo $$ > "$0"; exec sleep 600';
      const { program, args } = startBesideRun(${JSON.stringify(worker)},
        { program: '/bin/sh', args: ['-c', line, ${JSON.stringify(note)}] });
      const options = { cwd: '/', env: {}, detached: true, stdio: 'ignore' };
      spawn(program, args, options).unref();`;
    writeFileSync(join(run.folder, 'start.mjs'), script);
    const outcome = await runGate(
      run,
      `"${process.execPath}" "${join(run.folder, 'start.mjs')}"
          while ! [ -s "${note}" ]; do sleep 0.02; done`,
    );
    assert.equal(outcome.exitCode, 0);
    assert.equal(findRunGroup(run.request.runId, null), null);
    assert.notEqual(processStartTime(left()), null, 'it lives');
    await createProcessTable().endTree(worker, null, 0);
    assert.equal(processStartTime(left()), null);
    assert.equal(findRunGroup(worker, null), null);
  });

  test('groups that a run created below its own group are killed too', async () => {
    const group = makeRunGroup(run.request.runId);
    assert.ok(group !== null);
    const below = join(group, 'below');
    mkdirSync(below);
    const line = `printf 0 > "${below}/cgroup.procs"; ${leave()}`;
    spawn('sh', ['-c', line], { cwd: '/', env: { PATH: '/usr/bin:/bin' }, stdio: 'ignore' });
    await eventually('it runs', () => existsSync(note) && left() > 0);
    assert.equal(isPopulated(group), true);
    const { ended, left: count } = await createProcessTable().endTree(run.request.runId, null, 0);
    assert.ok(ended >= 1);
    assert.equal(count, 0);
    assert.equal(processStartTime(left()), null);
    assert.equal(existsSync(group), false);
  });

  test('the group of an earlier backend that was in another group is found', () => {
    const own = makeRunGroup(run.request.runId);
    assert.ok(own !== null);
    removeGroup(own);
    const other = join(dirname(own), `other-${basename(own)}`);
    const elsewhere = join(other, basename(own));
    mkdirSync(elsewhere, { recursive: true });
    assert.equal(findRunGroup(run.request.runId, null), elsewhere);
    removeGroup(other);
    assert.equal(findRunGroup(run.request.runId, null), null);
  });
});
