// The Claude driver with interruptions: silence, stop, kill, a dead backend, unexpected sessions.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { permissionChoices } from '../../server/agents/claude/permissions.ts';
import { readLog } from '../../server/agents/kit/log/event-log-reader.ts';
import { isAlive } from '../../server/agents/kit/process/process-table.ts';
import { bash, createClaudeBench, failureKind, script } from './claude-bench.ts';
import {
  assertNothingLeft,
  createRecordingHost,
  killAndWait,
  settingsOf,
  startUnderBackend,
  type RecordingHost,
} from './support.ts';

suite('Claude driver when runs are cut short', function () {
  this.timeout(120_000);
  const bench = createClaudeBench();
  let host: RecordingHost;
  suiteSetup(async function () {
    this.timeout(600_000);
    await bench.prepare();
  });
  setup(async () => {
    await bench.open();
    host = createRecordingHost();
  });
  teardown(() => bench.close());

  test('a stalled stream is detected and stopped, and can be resumed', async () => {
    const { conversations = [] } = script('faults');
    // This comes first, because the unanswered prompt stays in the conversation and would match as
    // well.
    const goOn = { name: 'go on', match: { prompt: 'GO ON' }, steps: [{ say: 'going on' }] };
    bench.fake.setScript({ conversations: [goOn, ...conversations] });
    const outcome = await bench.start('STALL please', host, {
      request: { stallWarnMs: 500, stallEndMs: 1_500 },
    });
    assert.equal(failureKind(outcome), 'agent_stalled');
    assert.ok(host.ofType('note').some((event) => /has sent no response/.test(event.text)));
    const resumed = await bench.start('GO ON', host, { request: { resume: true } });
    assert.deepEqual(resumed, { kind: 'done', summary: 'going on', deniedTools: [] });
  });

  test('silence does not count while a tool runs or a person is asked', async () => {
    const steps = [{ tools: [bash('sleep 7; echo b > slow.txt; echo b')] }, { say: 'over' }];
    bench.fake.setScript({
      conversations: [{ name: 's', match: { prompt: 'QUIET', hasTools: true }, steps }],
    });
    host = createRecordingHost(async (question) => {
      await delay(7_000);
      return question.choices[0] ?? null;
    });
    // Silence counts from before the start of Claude Code, which takes a while.
    const limits = { stallWarnMs: 3_000, stallEndMs: 6_000 };
    const outcome = await bench.start('QUIET please', host, {
      request: limits,
      permissionMode: 'manual',
    });
    assert.deepEqual(outcome, { kind: 'done', summary: 'over', deniedTools: [] });
    assert.equal(host.ofType('question').length, 1);
  });

  test('a stop ends the turn, the tool and the process, and the session can be resumed', async () => {
    bench.fake.setScript(script('claude-control'));
    host = createRecordingHost(() => permissionChoices.allow);
    const abort = new AbortController();
    const running = bench.start('SLOW please', host, { signal: abort.signal });
    await host.waitFor('tool_call', (event) => event.name === 'Bash');
    abort.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    await assertNothingLeft(bench.run.request.runId);
    const resumed = await bench.start('NEXT please', host, { request: { resume: true } });
    assert.deepEqual(resumed, { kind: 'done', summary: 'answer to NEXT', deniedTools: [] });
    assert.equal(host.ofType('started').at(-1)?.resumed, true);
  });

  test('a stop withdraws an open question', async () => {
    bench.fake.setScript(script('claude-control'));
    const abort = new AbortController();
    host = createRecordingHost(
      (_question, signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))),
    );
    const running = bench.start('ASK me', host, { signal: abort.signal });
    await host.waitFor('question');
    abort.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    assert.equal(host.ofType('question_withdrawn').length, 1);
  });

  test('an agent that is killed while a tool runs continues the same session, and its tokens are counted', async () => {
    bench.fake.setScript(script('claude-control'));
    host = createRecordingHost(() => permissionChoices.allow);
    const running = bench.start('SLOW please', host);
    await host.waitFor('tool_call', (event) => event.name === 'Bash');
    const [shell] = host.processes;
    assert.ok(shell !== undefined);
    process.kill(-shell.pid, 'SIGKILL');
    const outcome = await running;
    assert.equal(failureKind(outcome), 'agent_failed');
    const before = host.ofType('usage').at(-1)?.usage;
    assert.ok(before !== undefined && before.inputTokens > 0);
    const resumed = await bench.start('NEXT please', host, { request: { resume: true } });
    assert.deepEqual(resumed, { kind: 'done', summary: 'answer to NEXT', deniedTools: [] });
    const after = host.ofType('usage').at(-1)?.usage;
    assert.ok(after !== undefined && after.inputTokens > before.inputTokens);
    assert.equal(new Set(bench.fake.requests.map((request) => request.session)).size, 1);
  });

  test('if its backend dies, its output is recorded once, then the session continues', async () => {
    bench.fake.setScript({
      conversations: [
        { name: 'next', match: { prompt: 'NEXT' }, steps: [{ say: 'answer to NEXT' }] },
        {
          name: 'slow',
          match: { prompt: 'SLOW', hasTools: true },
          steps: [
            { say: 'sleeping', tools: [bash('sleep 1; echo over > f; cat f')] },
            { say: 'slept' },
          ],
        },
      ],
    });
    const request = { ...bench.run.request, env: bench.environment(), prompt: 'SLOW please' };
    const { backend, agent } = await startUnderBackend(
      settingsOf('claude', { path: bench.claude }),
      request,
    );
    const logged = () => readLog(request.logPath, { fromOffset: 0, limit: 1_000 }).events;
    while (!logged().some((event) => event.type === 'tool_call')) await delay(20);
    await killAndWait(backend);
    while (isAlive(agent)) await delay(20); // its input is closed: it ends after the turn
    const outcome = await bench.start('NEXT please', host, { request: { resume: true } });
    assert.deepEqual(outcome, { kind: 'done', summary: 'answer to NEXT', deniedTools: [] });
    const texts = logged().flatMap((event) => (event.type === 'text' ? [event.text] : []));
    assert.deepEqual(texts, ['sleeping', 'slept', 'answer to NEXT']);
    assert.equal(logged().filter((event) => event.type === 'tool_result').length, 1);
    const usages = logged().flatMap((event) =>
      event.type === 'usage' ? [event.usage.inputTokens] : [],
    );
    assert.deepEqual(usages, [200, 300]);
  });

  test('waiting for a person does not count toward the time limit', async () => {
    bench.fake.setScript(script('claude-control'));
    host = createRecordingHost(async (question) => {
      await delay(10_500);
      return question.choices[0] ?? null;
    });
    assert.equal(
      (await bench.start('ASK me', host, { request: { timeoutMs: 10_000 } })).kind,
      'done',
    );
  });

  test('the agent is stopped at its time limit', async () => {
    bench.fake.setScript({ fallback: { say: 'late', delayMs: 20_000 } });
    assert.equal(
      failureKind(await bench.start('anything', host, { request: { timeoutMs: 1_500 } })),
      'timeout',
    );
  });

  test('a shell that left the process group is killed', async () => {
    bench.fake.setScript({
      conversations: [
        {
          name: 'away',
          match: { prompt: 'AWAY', hasTools: true },
          steps: [
            { tools: [bash('setsid sleep 600 > /dev/null 2>&1 & echo started')] },
            { say: 'over' },
          ],
        },
      ],
    });
    host = createRecordingHost(() => permissionChoices.allow);
    assert.equal((await bench.start('AWAY please', host)).kind, 'done');
    await assertNothingLeft(bench.run.request.runId);
  });

  test('an existing session is resumed', async () => {
    bench.fake.setScript(script('claude-control'));
    await bench.start('NEXT please', host);
    const outcome = await bench.start('NEXT again', host, { request: { resume: false } });
    assert.equal(outcome.kind, 'done');
    assert.deepEqual(
      host.ofType('started').map((event) => event.resumed),
      [false, true],
    );
  });

  test('a missing session is replaced by a new one with the same id', async () => {
    bench.fake.setScript(script('claude-control'));
    const outcome = await bench.start('NEXT please', host, {
      request: { resume: true, sessionId: randomUUID() },
    });
    assert.equal(outcome.kind, 'done');
    assert.deepEqual(
      host.ofType('started').map((event) => event.resumed),
      [false],
    );
    assert.ok(host.ofType('note').some((event) => /is missing/.test(event.text)));
  });

  test('a session that is in use is not started twice', async () => {
    bench.fake.setScript({ fallback: { say: 'slow', delayMs: 1_000 } });
    const first = bench.start('one', host);
    await bench.fake.waitFor(() => true);
    const second = await bench.start('two', host, {
      request: { logPath: join(bench.run.folder, 'log', 'other.ndjson') },
    });
    assert.equal(failureKind(second), 'agent_failed');
    assert.match(second.kind === 'failed' ? second.failure.message : '', /in use by process/);
    assert.equal((await first).kind, 'done');
  });
});
