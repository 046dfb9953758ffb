// The command driver with real programs: how they end, which output is kept, and which processes
// remain.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createCommandDriver } from '../../server/agents/command/driver.ts';
import type { ProgramDeps } from '../../server/agents/kit/run/agent-run.ts';
import { readLog } from '../../server/agents/kit/log/event-log-reader.ts';
import type { AgentOutcome, AgentRequest } from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import {
  assertNothingLeft,
  createRecordingHost,
  createTestRun,
  everythingStored,
  settingsOf,
  withoutCount,
  type RecordingHost,
  type TestRun,
} from './support.ts';

suite('command driver', function () {
  this.timeout(30_000);
  let run: TestRun;
  let host: RecordingHost;
  setup(() => {
    run = createTestRun();
    host = createRecordingHost();
  });
  teardown(async () => {
    await createProcessTable().endTree(run.request.runId, null, 0);
    run.remove();
  });

  function driver(script: string, options: Partial<ProgramDeps> = {}) {
    const settings = settingsOf('command', { path: 'sh', args: ['-c', script, 'agent'] });
    const processTable = createProcessTable();
    return createCommandDriver(settings, { processTable, baseDir: '/', graceMs: 500, ...options });
  }
  function start(
    script: string,
    request: Partial<AgentRequest> = {},
    signal = new AbortController().signal,
    deps: Partial<ProgramDeps> = {},
  ): Promise<AgentOutcome> {
    return driver(script, deps).run({ ...run.request, ...request }, host, signal);
  }
  const printed = (stream = 'stdout'): string[] =>
    host.ofType('output').flatMap((event) => (event.stream === stream ? [event.text] : []));

  test('its output while planning is the complete, bounded plan', async () => {
    const planned = await start('printf "# Plan\\n\\n1. One\\n"; echo no >&2', { planning: true });
    assert.deepEqual(planned, { kind: 'done', summary: '# Plan\n\n1. One', deniedTools: [] });
  });

  test('the prompt is on stdin, the worktree is the cwd, the last line is the summary, and the log is complete', async () => {
    const outcome = await start('pwd; cat; echo "to err" >&2; echo; echo " the end "; echo', {
      prompt: 'first\nsecond "$(touch x)"\n',
    });
    assert.deepEqual(outcome, { kind: 'done', summary: 'the end', deniedTools: [] });
    assert.deepEqual(printed(), [run.cwd, 'first', 'second "$(touch x)"', '', ' the end ', '']);
    assert.deepEqual(printed('stderr'), ['to err']);
    const last = host.events.map(withoutCount).at(-1);
    assert.deepEqual(last, { type: 'exit', code: 0, signal: null });
    const stored = readLog(run.request.logPath, { fromOffset: 0, limit: 100 }).events;
    assert.deepEqual(
      stored,
      host.events.map((event, n) => ({ at: stored[n]?.at, ...event })),
    );
    assert.equal(existsSync(join(run.cwd, 'x')), false);
    await assertNothingLeft(run.request.runId);
  });

  test('an exit code other than 0 is a failure that quotes the end of stderr', async () => {
    const outcome = await start('echo out; echo "it broke" >&2; exit 3');
    assert.deepEqual(outcome, {
      kind: 'failed',
      failure: {
        kind: 'agent_failed',
        retryable: true,
        message: 'sh ended with exit code 3: it broke',
        detail: 'out\nit broke',
      },
    });
  });

  test('a killed program has failed', async () => {
    const outcome = await start('kill -9 $$');
    const message = outcome.kind === 'failed' ? outcome.failure.message : '';
    // The message of the shell above differs.
    assert.match(message, /^sh ended with exit code 137 \(signal 9\)/);
  });

  test('a missing program is reported in a sentence with the remedy', async () => {
    const settings = settingsOf('command', { path: './no such agent' });
    const missing = createCommandDriver(settings, {
      processTable: createProcessTable(),
      baseDir: run.folder,
    });
    const outcome = await missing.run(run.request, host, new AbortController().signal);
    assert.ok(outcome.kind === 'failed');
    assert.equal(outcome.failure.kind, 'agent_missing');
    assert.equal(outcome.failure.retryable, false);
    assert.match(outcome.failure.message, /"\.\/no such agent" was not found.*\[agent\] path/);
    assert.equal((await missing.probe({ PATH: process.env['PATH'] ?? '' })).ok, false);
  });

  test("the program gets only the environment it was given and the marker, nothing of Drover's", async () => {
    await start('env', { env: { ...run.request.env, MINE: 'yes' } });
    const names = printed().map((line) => line.split('=')[0]);
    const unexpected = names.filter(
      (name) =>
        ![
          'PATH',
          'HOME',
          'LANG',
          'TERM',
          'MINE',
          'DROVER_RUN',
          'DROVER_TASK_ID',
          'DROVER_ATTEMPT',
          'PWD',
          'OLDPWD',
          'SHLVL',
          '_',
        ].includes(name ?? ''),
    );
    assert.deepEqual(unexpected, []);
    assert.ok(printed().includes(`DROVER_RUN=${run.request.runId}`));
  });

  test('secrets are hidden in all stored and printed text', async () => {
    const secret = 'sk-very-secret-1';
    const outcome = await start('cat; echo "key $KEY" >&2; echo "done $KEY"', {
      prompt: `use ${secret}\n`,
      env: { ...run.request.env, KEY: secret },
      secrets: [secret],
    });
    assert.deepEqual(outcome, { kind: 'done', summary: 'done [hidden]', deniedTools: [] });
    assert.equal(everythingStored(run.folder).includes(secret), false);
    assert.equal(JSON.stringify(host.events).includes(secret), false);
  });

  test('a stop kills the whole process tree, even shells that left the group', async () => {
    const abort = new AbortController();
    const running = start(
      'setsid sh -c "trap : TERM; echo away; sleep 600; sleep 600" & sleep 600 & wait',
      {},
      abort.signal,
    );
    await host.waitFor('output', (event) => event.text === 'away');
    abort.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    await assertNothingLeft(run.request.runId);
  });

  test('processes that outlive the program are killed', async () => {
    const outcome = await start('setsid sleep 600 & echo ok');
    assert.equal(outcome.kind, 'done');
    await assertNothingLeft(run.request.runId);
  });

  test('the program is stopped at its time limit', async () => {
    const outcome = await start('echo begun; sleep 600', { timeoutMs: 4_000 });
    assert.equal(outcome.kind === 'failed' && outcome.failure.kind, 'timeout');
    assert.match((outcome.kind === 'failed' && outcome.failure.detail) || '', /^begun/);
    await assertNothingLeft(run.request.runId);
  });

  test('silence is recorded but has no consequence', async () => {
    const running = start('until [ -e go ]; do sleep 0.05; done; echo ok', {
      stallWarnMs: 100,
      stallEndMs: 200,
    });
    await host.waitFor('note');
    await delay(300);
    assert.equal(host.ofType('note').length, 1);
    // After its line, silence starts again, and may be recorded again.
    writeFileSync(join(run.cwd, 'go'), '');
    assert.equal((await running).kind, 'done');
  });

  test('the program does not start before the engine has stored its process', async () => {
    const marker = join(run.folder, 'ran');
    host.onProcess = async (process) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(existsSync(marker), false);
      host.processes.push(process);
    };
    await start(`touch "${marker}"`);
    assert.equal(existsSync(marker), true);
    assert.equal(host.processes.length, 1);
  });

  test('a command whose output cannot be stored never runs', async () => {
    host.onProcess = () => Promise.reject(new Error('lease lost'));
    await assert.rejects(start('touch ran'), /lease lost/);
    assert.equal(existsSync(join(run.cwd, 'ran')), false);
    await assertNothingLeft(run.request.runId);
  });

  test('a flood of output is bounded on disk, keeps its head and tail, and counts every line', async () => {
    const flood = join(run.folder, 'flood.sh');
    // Prints 24 MB in lines of 64 bytes. The program waits while its output file is large, so it
    // ends only if Drover empties the file.
    const piece = `yes ${'0123456789abcdef'.repeat(4).slice(1)} | head -c 960000`;
    const wait = 'while [ $(stat -L -c %s /proc/self/fd/3) -gt 3000000 ]; do sleep 0.01; done';
    writeFileSync(
      flood,
      `exec 3>&1; n=0; while [ $n -lt 25 ]; do ${piece}; ${wait}; n=$((n+1)); done; echo last`,
    );
    const logFolder = dirname(run.request.logPath);
    let largest = 0;
    const measure = setInterval(() => {
      const sizes = readdirSync(logFolder).map(
        (name) => statSync(join(logFolder, name), { throwIfNoEntry: false })?.size ?? 0,
      );
      largest = Math.max(
        largest,
        sizes.reduce((sum, size) => sum + size, 0),
      );
    }, 5);
    let lines = 0;
    host.onEvent = (event) => {
      if (event.type === 'output') lines += 1;
    };
    const outcome = await start(`sh ${flood}`, { maxOutputBytes: 1e6 }, undefined, {
      emptySpoolAtBytes: 1e6,
    });
    clearInterval(measure);
    assert.deepEqual(outcome, { kind: 'done', summary: 'last', deniedTools: [] });
    assert.equal(lines, 24_000_000 / 64 + 1);
    assert.ok(largest < 8e6, `${largest} bytes at most`);
    const kept = readLog(run.request.logPath, { fromOffset: 0, limit: 1e6 }).events;
    assert.ok(
      kept.some((event) => event.type === 'note' && /bytes of output are missing/.test(event.text)),
    );
    assert.equal(kept[0]?.type, 'started');
  });
});
