// The demo driver with its real agent: edits, questions, hints, limits, crashes and resuming.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDriver } from '../../server/agents/drivers.ts';
import type { AgentOutcome, AgentRequest } from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import {
  assertNothingLeft,
  createRecordingHost,
  createTestRun,
  settingsOf,
  type RecordingHost,
  type TestRun,
} from './support.ts';

suite('demo driver', function () {
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

  function start(
    prompt: string,
    options: Partial<AgentRequest> = {},
    signal = new AbortController().signal,
  ): Promise<AgentOutcome> {
    const processTable = createProcessTable();
    const driver = createDriver(settingsOf('demo'), { processTable, baseDir: '/', version: '0' });
    const env = { ...run.request.env, DROVER_DEMO_STEP_MS: '1' };
    return driver.run({ ...run.request, env, prompt, ...options }, host, signal);
  }
  const file = (path: string): string => readFileSync(join(run.cwd, path), 'utf8');
  const lines = (): string[] =>
    host
      .ofType('text')
      .map(({ text }) => text)
      .filter((text) => text.startsWith('line '));
  const summary = (outcome: AgentOutcome): string | null =>
    outcome.kind === 'done' ? outcome.summary : null;

  test('without directives, it writes a small file named after the task', async () => {
    const outcome = await start('Task: Add a thing\nDescription: nice');
    assert.equal(outcome.kind, 'done');
    assert.match(file('demo/task-aaaaaaaa.md'), /^# Add a thing\n/);
    assert.ok(host.ofType('text').length >= 3);
    await assertNothingLeft(run.request.runId);
  });

  test('it writes, appends to and edits files', async () => {
    await start(
      'demo: write d/f one\ndemo: append d/f two\ndemo: edit-line d/f 4 four\ndemo: say ok',
    );
    assert.equal(file('d/f'), 'one\ntwo\n\nfour\n');
    assert.deepEqual(
      host.ofType('tool_call').map((event) => event.name),
      ['write', 'append', 'edit-line'],
    );
  });

  test('it writes nothing outside the worktree', async () => {
    const outcome = await start('demo: write ../outside x');
    assert.equal(outcome.kind === 'failed' && outcome.failure.kind, 'agent_failed');
    assert.equal(existsSync(join(run.folder, 'outside')), false);
  });

  test('it asks a question and uses the answer', async () => {
    host = createRecordingHost((question) => question.choices[1] ?? null);
    await start('demo: ask Which? | a | b\ndemo: write answer {{answer}}');
    assert.equal(file('answer'), 'b\n');
    assert.deepEqual(
      host.ofType('answered').map((event) => event.choice),
      ['b'],
    );
  });

  test('if it is stopped while asking, it gets no answer, and asks again when resumed', async () => {
    const stop = new AbortController();
    const prompt = 'demo: ask Which? | a | b\ndemo: write answer {{answer}}';
    host = createRecordingHost(() => {
      stop.abort();
      return null; // as a question ends with its attempt
    });
    assert.deepEqual(await start(prompt, {}, stop.signal), { kind: 'stopped' });
    assert.equal(existsSync(join(run.cwd, 'answer')), false);
    host = createRecordingHost((question) => question.choices[1] ?? null);
    assert.equal((await start(prompt, { resume: true })).kind, 'done');
    assert.equal(file('answer'), 'b\n');
  });

  test('it takes a hint while it is working', async () => {
    // It works until it gets its answer, which waits for the hint.
    host = createRecordingHost(async () => {
      host.hint({ id: 'hint-1', text: 'demo: write hinted yes' });
      await host.waitFor('hint', (event) => event.state === 'delivered');
      return 'yes';
    });
    const outcome = await start('demo: ask Go on? | yes\ndemo: write a 1');
    assert.equal(outcome.kind, 'done');
    assert.equal(file('hinted'), 'yes\n');
    assert.deepEqual(host.deliveredHints, ['hint-1']);
    assert.deepEqual(
      host.ofType('hint').map((event) => event.state),
      ['sent', 'delivered'],
    );
  });

  test('it fails as often as the directive says', async () => {
    assert.equal((await start('demo: fail 1', { attempt: 1 })).kind, 'failed');
    assert.equal((await start('demo: fail 1', { attempt: 2 })).kind, 'done');
  });

  test('it reaches a limit once, then continues', async () => {
    const prompt = 'demo: append f 1\ndemo: limit 3600000\ndemo: append f 2\ndemo: say end';
    const limited = await start(prompt);
    assert.ok(
      limited.kind === 'limited' && limited.untilMs !== null && limited.untilMs > Date.now(),
    );
    assert.equal(summary(await start('go on', { resume: true })), 'end');
    assert.equal(file('f'), '1\n2\n');
  });

  test('if it is killed midway, its session continues after the last step', async () => {
    const prompt = 'demo: append f 1\ndemo: crash\ndemo: append f 2';
    assert.equal((await start(prompt)).kind, 'failed');
    assert.equal((await start(prompt, { resume: true })).kind, 'done');
    assert.equal(file('f'), '1\n2\n');
  });

  test('it prints until it is released, and continues counting when resumed', async () => {
    const go = join(run.folder, 'go');
    const prompt = `demo: say-until ${go} line {{n}}\ndemo: say over`;
    const stop = new AbortController();
    const first = start(prompt, {}, stop.signal);
    await host.waitFor('text', ({ text }) => text === 'line 2');
    stop.abort();
    assert.deepEqual(await first, { kind: 'stopped' });
    const before = lines();
    const second = start(prompt, { resume: true });
    await host.waitFor('text', ({ text }) => text === `line ${before.length + 2}`);
    writeFileSync(go, '');
    assert.equal(summary(await second), 'over');
    const all = lines();
    assert.ok(all.length > before.length + 2);
    assert.deepEqual(
      all,
      all.map((_, index) => `line ${index}`),
    );
  });

  test('the next part of an attempt does its own work in the same session', async () => {
    await start('demo: write one.txt 1');
    await start('demo: write two.txt 2', { taskId: 'task-aaaaaaaa.2', resume: true });
    assert.deepEqual([file('one.txt'), file('two.txt')], ['1\n', '2\n']);
  });

  test('it still knows the task if it was stopped in its first step', async () => {
    let asked = 0;
    host = createRecordingHost((_question, withdrawn) => {
      asked += 1;
      if (asked > 1) return 'yes';
      return new Promise((resolve) => {
        withdrawn.addEventListener('abort', () => resolve(null));
      });
    });
    const stop = new AbortController();
    const first = start('demo: ask Go on? | yes\ndemo: write a.txt 1', {}, stop.signal);
    await host.waitFor('question', () => true);
    stop.abort();
    assert.equal((await first).kind, 'stopped');
    assert.equal((await start('Go on.', { resume: true })).kind, 'done');
    assert.equal(file('a.txt'), '1\n');
  });

  test('a stop ends it and the processes that it started', async () => {
    const abort = new AbortController();
    const running = start('demo: leave-running\ndemo: sleep 60000', {}, abort.signal);
    await host.waitFor('text');
    abort.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    await assertNothingLeft(run.request.runId);
  });

  test('it reports an external cause', async () => {
    const outcome = await start('demo: blocked no licence');
    assert.equal(outcome.kind === 'done' && outcome.blockedReason, 'no licence');
  });
});
