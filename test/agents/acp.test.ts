// The generic ACP driver with an agent that implements the protocol with its own library, in
// separate processes.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDriver } from '../../server/agents/drivers.ts';
import type { AgentOutcome, AgentRequest } from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import { removeFolder } from '../remove-folder.ts';
import {
  assertNothingLeft,
  createRecordingHost,
  createTestRun,
  type RecordingHost,
  settingsOf,
  type TestRun,
} from './support.ts';

const double = join(import.meta.dirname, '..', 'doubles', 'acp-agent.ts');
const secret = 'key-0123456789';

suite('ACP driver', () => {
  let run: TestRun;
  setup(() => {
    run = createTestRun();
  });
  teardown(async () => {
    await assertNothingLeft(run.request.runId);
    run.remove();
  });

  function start(
    prompt: string,
    host: RecordingHost,
    more: Partial<AgentRequest> = {},
    signal = new AbortController().signal,
  ): Promise<AgentOutcome> {
    const settings = settingsOf('acp', { path: process.execPath, args: [double] });
    const deps = { processTable: createProcessTable(), baseDir: '/', version: '1.2.3' };
    const env = { ...run.request.env, ACP_KEY: secret, ...more.env };
    const request = { ...run.request, prompt, secrets: [secret], ...more, env };
    return createDriver(settings, deps).run(request, host, signal);
  }

  test('a turn with a permission reports the call, its result, the text and the tokens', async () => {
    const host = createRecordingHost((question) => question.choices[0] ?? null);
    const outcome = await start('WRITE it', host);
    assert.deepEqual(outcome, {
      kind: 'done',
      summary: 'remembers: nothing\nkey is [hidden]',
      deniedTools: [],
    });
    assert.ok(existsSync(join(run.cwd, 'made.txt')));
    const [question] = host.ofType('question');
    assert.deepEqual(question?.choices, ['Allow', 'Reject']);
    assert.match(question?.text ?? '', /Write made\.txt/);
    assert.deepEqual(
      host.events.map((event) => event.type),
      [
        'started',
        'note',
        'tool_call',
        'question',
        'answered',
        'tool_result',
        'text',
        'usage',
        'exit',
      ],
    );
    assert.deepEqual(host.ofType('usage')[0]?.usage.inputTokens, 12);
  });

  test('a refused permission is reported, and the turn continues', async () => {
    const host = createRecordingHost(() => 'Reject');
    const outcome = await start('WRITE it', host);
    assert.ok(outcome.kind === 'done');
    assert.deepEqual(outcome.deniedTools, ['Write made.txt']);
    assert.ok(!existsSync(join(run.cwd, 'made.txt')));
    assert.equal(host.ofType('tool_result')[0]?.isError, true);
  });

  test('an agent that is stopped and resumed continues its session, and its history is not sent again', async () => {
    const host = createRecordingHost();
    const stop = new AbortController();
    const first = start('SLEEP first', host, {}, stop.signal);
    await host.waitFor('note');
    stop.abort();
    assert.deepEqual(await first, { kind: 'stopped' });
    const second = createRecordingHost();
    const outcome = await start('go on', second, { resume: true, promptIfForgotten: 'all of it' });
    assert.ok(outcome.kind === 'done');
    assert.match(outcome.summary, /^remembers: SLEEP first\n/);
    assert.equal(second.ofType('started')[0]?.resumed, true);
    assert.ok(!second.ofType('text').some((event) => event.text.includes('replayed')));
  });

  test('an agent that has forgotten the task gets the whole task again', async () => {
    for (const forget of ['cannot load', 'session is gone', 'was never named']) {
      await start('first', createRecordingHost());
      const env: Record<string, string> = forget === 'cannot load' ? { ACP_FORGETS: '1' } : {};
      if (forget === 'session is gone') removeFolder(join(run.folder, 'home', 'acp-sessions'));
      if (forget === 'was never named')
        writeFileSync(join(run.folder, 'log', `${run.request.sessionId}.acp.json`), '{');
      const host = createRecordingHost();
      const more = { resume: true, promptIfForgotten: 'WRITE all', env };
      const outcome = await start('go on', host, more);
      assert.ok(outcome.kind === 'failed' || outcome.kind === 'done', forget);
      assert.equal(host.ofType('started')[0]?.resumed, false, forget);
      assert.equal(host.ofType('question').length, 1, forget);
    }
  });

  test('it plans in its own mode without asking the user, and implements the plan in another conversation', async () => {
    const host = createRecordingHost();
    const env = { ACP_MODES: '1' };
    const plan = { env, planning: true };
    const outcome = await start('WRITE a PLAN', host, plan);
    assert.ok(outcome.kind === 'done');
    assert.match(
      outcome.summary,
      /^# Plan in https:\/\/modes\.example\/#plan\n\n1\. One\n\nremembers/,
    );
    assert.deepEqual(
      [host.ofType('question').length, existsSync(join(run.cwd, 'made.txt'))],
      [0, false],
    );
    const again = createRecordingHost();
    const second = await start('PLAN again', again, { ...plan, resume: true });
    assert.ok(second.kind === 'done');
    assert.match(second.summary, /^# Plan in https:[^]*remembers: WRITE a PLAN/);
    const builder = createRecordingHost(() => 'Allow');
    const more = { env, resume: true, promptIfForgotten: 'WRITE all' };
    const built = await start('go on', builder, more);
    assert.ok(built.kind === 'done');
    assert.match(built.summary, /remembers: nothing/);
    assert.ok(existsSync(join(run.cwd, 'made.txt')));
  });

  const failures: readonly [string, string, RegExp][] = [
    ['NOAUTH', 'agent_auth', /not signed in/],
    ['CRASH', 'agent_failed', /exit code 3.*it broke/],
  ];
  for (const [word, kind, message] of failures) {
    test(`${word} is ${kind}`, async () => {
      const outcome = await start(word, createRecordingHost());
      assert.ok(outcome.kind === 'failed');
      assert.equal(outcome.failure.kind, kind);
      assert.match(outcome.failure.message, message);
    });
  }

  test('a used-up quota is reported as a limit of the account', async () => {
    const outcome = await start('LIMIT', createRecordingHost());
    assert.deepEqual(outcome, { kind: 'limited', untilMs: null, message: 'Quota exceeded' });
  });

  test("Drover's own tools are passed to new sessions and to loaded sessions", async () => {
    const token = 'f'.repeat(64);
    const env = { DROVER_MCP_TOKEN: token };
    const tools = { command: '/bin/node', args: ['cli.js', 'mcp'], env, configPath: '/x' };
    const secrets = [secret, token];
    for (const resume of [false, true]) {
      const host = createRecordingHost();
      await start('TOOLS', host, { tools, secrets, resume });
      const said = host
        .ofType('text')
        .map((event) => event.text)
        .join('');
      assert.deepEqual(JSON.parse(/servers (.*)/.exec(said)?.[1] ?? ''), [
        {
          name: 'drover',
          command: '/bin/node',
          args: ['cli.js', 'mcp'],
          env: [{ name: 'DROVER_MCP_TOKEN', value: '[hidden]' }],
        },
      ]);
    }
  });

  test('a program that does not speak the protocol is reported', async () => {
    const settings = settingsOf('acp', { path: '/bin/false' });
    const deps = { processTable: createProcessTable(), baseDir: '/', version: '1' };
    const driver = createDriver(settings, deps);
    const host = createRecordingHost();
    const outcome = await driver.run(run.request, host, new AbortController().signal);
    assert.ok(outcome.kind === 'failed');
    assert.match(outcome.failure.message, /false ended with exit code 1 before its turn was over/);
  });

  test('a missing program is reported with the remedy', async () => {
    const deps = { processTable: createProcessTable(), baseDir: '/', version: '1' };
    const driver = createDriver(settingsOf('gemini', { path: '/nowhere/gemini' }), deps);
    const probe = await driver.probe({ PATH: process.env['PATH'] ?? '' });
    assert.equal(probe.ok, false);
    assert.match(probe.message, /npm install -g @google\/gemini-cli/);
  });
});
