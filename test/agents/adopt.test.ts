// A backend dies while its agent keeps running: the next backend takes over the agent, and neither
// misses nor repeats anything.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createCommandDriver } from '../../server/agents/command/driver.ts';
import { readLog } from '../../server/agents/kit/log/event-log-reader.ts';
import type { AgentOutcome, AgentProcess, AgentSettings } from '../../server/agents/port.ts';
import {
  createProcessTable,
  freeze,
  isAlive,
} from '../../server/agents/kit/process/process-table.ts';
import { runFiles } from '../../server/agents/kit/log/run-files.ts';
import {
  assertNothingLeft,
  createRecordingHost,
  createTestRun,
  killAndWait,
  settingsOf,
  startUnderBackend,
  type RecordingHost,
  type TestRun,
} from './support.ts';

suite('adopted agents', function () {
  this.timeout(30_000);
  let run: TestRun;
  let host: RecordingHost;
  let backend: ChildProcess | null;
  let settings: AgentSettings;
  setup(() => {
    run = createTestRun();
    host = createRecordingHost();
    backend = null;
  });
  teardown(async () => {
    backend?.kill('SIGKILL');
    await createProcessTable().endTree(run.request.runId, null, 0);
    run.remove();
  });

  async function startElsewhere(script: string): Promise<AgentProcess> {
    settings = settingsOf('command', { path: 'sh', args: ['-c', script] });
    const started = await startUnderBackend(settings, run.request);
    backend = started.backend;
    return started.agent;
  }
  async function killBackend(): Promise<void> {
    assert.ok(backend !== null);
    await killAndWait(backend);
  }
  function adopt(agent: AgentProcess): Promise<AgentOutcome | null> {
    const deps = { processTable: createProcessTable(), baseDir: '/', emptySpoolAtBytes: 50_000 };
    const driver = createCommandDriver(settings, deps);
    return driver.adopt(run.request, agent, host, new AbortController().signal);
  }
  const logged = (): string[] =>
    readLog(run.request.logPath, { fromOffset: 0, limit: 1e6 }).events.flatMap((event) =>
      event.type === 'output' ? [event.text] : [event.type],
    );
  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await delay(10);
  }
  const count = 4_000;
  const numbers = Array.from({ length: count }, (_, n) => `line ${n}`);
  const step = 'echo "line $n"; n=$((n+1)); [ $((n % 100)) = 0 ] && sleep 0.03';
  // Ensures that the agent is running when its backend has died, however long that took.
  const untilLetOn = 'until [ -e go ]; do sleep 0.05; done';
  const letOn = (): void => writeFileSync(join(run.cwd, 'go'), '');
  const middle = `[ $n = ${count / 2} ] && ${untilLetOn}`;
  const counting = `n=0; while [ $n -lt ${count} ]; do ${middle}; ${step}; done`;

  test('every line is recorded once if the backend is killed while the agent prints', async () => {
    const agent = await startElsewhere(`${counting}; echo end`);
    await until(() => logged().length > 300);
    await killBackend();
    assert.ok(isAlive(agent));
    letOn();
    assert.deepEqual(await adopt(agent), { kind: 'done', summary: 'end', deniedTools: [] });
    assert.deepEqual(logged(), ['started', ...numbers, 'end', 'exit']);
    await assertNothingLeft(run.request.runId);
  });

  test('an agent that ended without a backend leaves its exit code and its output on disk', async () => {
    const agent = await startElsewhere(`echo one; ${untilLetOn}; echo two; exit 4`);
    await until(() => logged().includes('one'));
    await killBackend();
    letOn();
    await until(() => existsSync(runFiles(run.request.logPath).exit));
    const outcome = await adopt(agent);
    assert.equal(
      outcome?.kind === 'failed' && outcome.failure.message,
      'sh ended with exit code 4: two',
    );
    assert.deepEqual(logged(), ['started', 'one', 'two', 'exit']);
    // The engine died before it had stored that outcome, so the outcome is reported again,
    // unchanged.
    assert.deepEqual(await adopt(agent), outcome);
    assert.deepEqual(logged(), ['started', 'one', 'two', 'exit']);
  });

  test('the work of an agent that a hung backend told to stop is kept if the agent had already finished', async () => {
    settings = settingsOf('command', {
      path: 'sh',
      args: ['-c', `echo one; ${untilLetOn}; echo two`],
    });
    const deps = { processTable: createProcessTable(), baseDir: '/', emptySpoolAtBytes: 50_000 };
    const stop = new AbortController();
    const running = createCommandDriver(settings, deps).run(run.request, host, stop.signal);
    await host.waitFor('output', (event) => event.text === 'one');
    letOn();
    // Nothing else happens in this process during that time, as in a process that gets no CPU time.
    const hung = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(runFiles(run.request.logPath).exit)) Atomics.wait(hung, 0, 0, 10);
    stop.abort();
    await running;
    const [agent] = host.processes;
    assert.ok(agent !== undefined);
    assert.deepEqual(await adopt(agent), { kind: 'done', summary: 'two', deniedTools: [] });
    await assertNothingLeft(run.request.runId);
  });

  test('if a backend told an agent to stop, the next backend cannot tell how much of the work is done', async () => {
    settings = settingsOf('command', { path: 'sh', args: ['-c', 'echo one; sleep 600'] });
    const deps = { processTable: createProcessTable(), baseDir: '/', emptySpoolAtBytes: 50_000 };
    const stop = new AbortController();
    const running = createCommandDriver(settings, deps).run(run.request, host, stop.signal);
    await host.waitFor('output', (event) => event.text === 'one');
    stop.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    const [agent] = host.processes;
    assert.ok(agent !== undefined);
    assert.equal(await adopt(agent), null);
  });

  test('the outcome of an agent that was killed together with its backend is unknown', async () => {
    const agent = await startElsewhere('echo one; sleep 600');
    await until(() => logged().includes('one'));
    await killBackend();
    process.kill(-agent.pid, 'SIGKILL');
    await until(() => !isAlive(agent));
    assert.equal(await adopt(agent), null);
    await assertNothingLeft(run.request.runId);
  });

  test('its time limit counts from its own start, whichever backend watches it', async () => {
    const agent = await startElsewhere('echo one; sleep 600');
    await until(() => logged().includes('one'));
    await killBackend();
    // Simulates a machine that slept in between.
    run = { ...run, request: { ...run.request, timeoutMs: 1 } };
    const outcome = await adopt(agent);
    assert.equal(outcome?.kind === 'failed' && outcome.failure.kind, 'timeout');
    await assertNothingLeft(run.request.runId);
  });

  test('the program never starts if the backend dies before it stores the process', async () => {
    const marker = join(run.folder, 'ran');
    const script = `touch '${marker}'`;
    writeFileSync(join(run.folder, 'x'), '');
    settings = settingsOf('command', { path: 'sh', args: ['-c', script] });
    const driver = createCommandDriver(settings, {
      processTable: createProcessTable(),
      baseDir: '/',
    });
    host.onProcess = () => Promise.reject(new Error('died'));
    await assert.rejects(driver.run(run.request, host, new AbortController().signal), /died/);
    assert.equal(existsSync(marker), false);
  });

  test('an agent that was suspended by a backend that died while emptying the output continues', async () => {
    const agent = await startElsewhere(`echo one; ${untilLetOn}; echo two`);
    await until(() => logged().includes('one'));
    await killBackend();
    assert.notEqual(await freeze(run.request.runId, agent), null);
    letOn();
    assert.deepEqual(await adopt(agent), { kind: 'done', summary: 'two', deniedTools: [] });
  });

  test('a pid that now belongs to another process is not mistaken for the agent', async () => {
    settings = settingsOf('command', { path: 'sh', args: [] });
    assert.equal(await adopt({ pid: process.pid, startTime: '1' }), null);
  });
});
