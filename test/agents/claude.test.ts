// The Claude driver with the real Claude Code, against a model API on loopback: no account, no network, no money.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasConversation } from '../../server/agents/claude/invocation.ts';
import { permissionChoices } from '../../server/agents/claude/permissions.ts';
import { createDriver } from '../../server/agents/drivers.ts';
import { readLog } from '../../server/agents/kit/log/event-log-reader.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import { ownSandboxArguments } from '../../server/sandbox/own-switches.ts';
import { bash, createClaudeBench, dummyKey, failureKind, script } from './claude-bench.ts';
import {
  createRecordingHost,
  everythingStored,
  settingsOf,
  type RecordingHost,
} from './support.ts';
import { soakTest } from '../tier.ts';

suite('Claude driver with the real Claude Code', function () {
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

  test('Claude Code is found, and its version is read', async () => {
    assert.deepEqual(await bench.driver().probe({ PATH: process.env['PATH'] ?? '' }), {
      ok: true,
      version: '2.1.329',
      message: bench.claude,
    });
  });

  test('the sign-in check sends no request to a model', async () => {
    const { ANTHROPIC_API_KEY: _, ...without } = bench.environment();
    const account = async (env: Record<string, string>): Promise<boolean | undefined> =>
      (await bench.driver().account?.(env))?.isSignedIn;
    assert.equal(await account(bench.environment()), true);
    assert.equal(await account(without), false);
    assert.deepEqual(bench.fake.requests, []);
  });

  test('strict use of its own sandbox refuses to start if that sandbox cannot work', async () => {
    const switches = ownSandboxArguments('claude', { network: 'model-only', write: [] });
    assert.ok(switches !== null);
    bench.fake.setScript(script('happy'));
    const outcome = await bench.start('HAPPY please', host, {
      request: {
        confine: async (start) => ({
          ok: true,
          // That PATH contains none of the programs that its sandbox needs.
          value: {
            ...start,
            args: [...start.args, ...switches],
            env: { ...start.env, PATH: bench.run.cwd },
          },
        }),
      },
    });
    assert.equal(outcome.kind, 'failed');
    const said = outcome.kind === 'failed' ? JSON.stringify(outcome.failure) : '';
    assert.match(said, /sandbox required but unavailable/);
    assert.deepEqual(bench.fake.requests, []);
  });

  test('a session of three turns completes, and stores no secret', async () => {
    bench.fake.setScript(script('happy'));
    const outcome = await bench.start('HAPPY please', host);
    assert.deepEqual(outcome, {
      kind: 'done',
      summary: 'Done: hello.txt was written.',
      deniedTools: [],
    });
    assert.equal(readFileSync(join(bench.run.cwd, 'hello.txt'), 'utf8'), 'hello\n');
    assert.deepEqual(
      host.events.map((event) => event.type),
      [
        'started',
        'text',
        'tool_call',
        'tool_result',
        'text',
        'tool_call',
        'tool_result',
        'text',
        'usage',
        'exit',
      ],
    );
    assert.deepEqual(host.ofType('usage')[0]?.usage.cacheReadTokens, 800);
    const stored = readLog(bench.run.request.logPath, { fromOffset: 0, limit: 100 }).events;
    assert.equal(stored.length, host.events.length);
    assert.equal(everythingStored(join(bench.run.folder, 'log')).includes(dummyKey), false);
    assert.equal(existsSync(`${bench.run.request.logPath}.stdout`), false);
  });

  test('permissions are allowed once, allowed for the session, or denied', async () => {
    bench.fake.setScript({
      conversations: [
        {
          name: 'p',
          match: { prompt: 'PERM', hasTools: true },
          steps: [
            { tools: [bash('touch one; echo 1')] },
            { tools: [bash('touch two; echo 2')] },
            { tools: [bash('mkdir three')] },
            { expect: { lastToolIsError: true }, say: 'over' },
          ],
        },
      ],
    });
    const answers = [permissionChoices.allow, permissionChoices.allow, permissionChoices.deny];
    host = createRecordingHost(() => answers.shift() ?? null);
    const outcome = await bench.start('PERM please', host, { permissionMode: 'manual' });
    assert.deepEqual(outcome, { kind: 'done', summary: 'over', deniedTools: ['Bash'] });
    assert.ok(existsSync(join(bench.run.cwd, 'one')) && existsSync(join(bench.run.cwd, 'two')));
    assert.equal(existsSync(join(bench.run.cwd, 'three')), false);
    assert.deepEqual(
      host.ofType('question').map((event) => event.kind),
      Array(3).fill('permission'),
    );
    assert.match(host.ofType('question')[0]?.text ?? '', /wants to use Bash:\ntouch one/);
  });

  soakTest(
    'a permission that is allowed for the session is not requested again, and nothing is written into the worktree',
    async () => {
      bench.fake.setScript({
        conversations: [
          {
            name: 'p',
            match: { prompt: 'PERM', hasTools: true },
            steps: [
              { tools: [{ name: 'Write', input: { file_path: '{{cwd}}/a', content: 'a' } }] },
              { tools: [{ name: 'Write', input: { file_path: '{{cwd}}/b', content: 'b' } }] },
              { say: 'over' },
            ],
          },
        ],
      });
      host = createRecordingHost(() => permissionChoices.always);
      const outcome = await bench.start('PERM please', host, { permissionMode: 'manual' });
      assert.equal(outcome.kind, 'done');
      assert.equal(host.ofType('question').length, 1);
      assert.equal(existsSync(join(bench.run.cwd, '.claude')), false);
      assert.ok(existsSync(join(bench.run.cwd, 'b')));
    },
  );

  test("a new session starts from another task's conversation, which stays unchanged", async () => {
    bench.fake.setScript(script('happy'));
    assert.equal((await bench.start('HAPPY please', host)).kind, 'done');
    const first = bench.run.request.sessionId;
    const sessionId = randomUUID();
    const before = bench.fake.requests.length;
    const outcome = await bench.start('HAPPY again', host, {
      request: { sessionId, forkOf: first, promptIfForgotten: 'HAPPY zebra' },
    });
    assert.equal(outcome.kind, 'done');
    const asked = JSON.stringify(bench.fake.requests.slice(before).map(({ body }) => body));
    assert.match(asked, /HAPPY please/);
    assert.match(asked, /HAPPY again/);
    assert.doesNotMatch(asked, /HAPPY zebra/);
    const env = bench.environment();
    assert.deepEqual([hasConversation(env, first), hasConversation(env, sessionId)], [true, true]);
  });

  test('if that conversation is missing, the new session gets the whole task and a note', async () => {
    bench.fake.setScript(script('happy'));
    const outcome = await bench.start('HAPPY again', host, {
      request: { forkOf: randomUUID(), promptIfForgotten: 'HAPPY zebra' },
    });
    assert.equal(outcome.kind, 'done');
    assert.match(JSON.stringify(bench.fake.requests.map(({ body }) => body)), /HAPPY zebra/);
    const { events } = readLog(bench.run.request.logPath, { fromOffset: 0, limit: 100 });
    const notes = events.filter((event) => event.type === 'note');
    assert.match(JSON.stringify(notes), /The conversation to continue is missing/);
  });

  test("the chosen answer reaches the agent's question", async () => {
    bench.fake.setScript(script('claude-control'));
    host = createRecordingHost((question) => question.choices[1] ?? null);
    const outcome = await bench.start('ASK me', host);
    assert.ok(outcome.kind === 'done');
    assert.match(outcome.summary, /"Which DB\?"="postgres"/);
    assert.deepEqual(
      host.ofType('question').map((event) => [event.kind, event.choices]),
      [['question', ['sqlite', 'postgres']]],
    );
  });

  test('a hint reaches the running turn and is acknowledged', async () => {
    bench.fake.setScript(script('claude-control'));
    const running = bench.start('HINTED please', host, { permissionMode: 'acceptEdits' });
    host = Object.assign(host, { ask: () => Promise.resolve(permissionChoices.allow) });
    await host.waitFor('tool_call');
    host.hint({ id: 'hint-7', text: 'mind the gap' });
    const outcome = await running;
    assert.deepEqual(outcome, { kind: 'done', summary: 'I saw the hint.', deniedTools: [] });
    assert.deepEqual(host.deliveredHints, ['hint-7']);
    assert.deepEqual(
      host.ofType('hint').map((event) => event.state),
      ['sent', 'delivered'],
    );
  });

  soakTest(
    'a hint after the last tool call becomes a separate turn, which Drover waits for',
    async () => {
      bench.fake.setScript({
        conversations: [
          { name: 'late', match: { prompt: 'LATER' }, steps: [{ say: 'answer to the hint' }] },
          { name: 'first', match: { prompt: 'FIRST' }, steps: [{ say: 'first', delayMs: 1_500 }] },
        ],
      });
      const running = bench.start('FIRST please', host);
      await bench.fake.waitFor((entry) => entry.path.startsWith('/v1/messages'));
      host.hint({ id: 'hint-8', text: 'LATER please' });
      const outcome = await running;
      assert.deepEqual(outcome, { kind: 'done', summary: 'answer to the hint', deniedTools: [] });
      assert.deepEqual(host.deliveredHints, ['hint-8']);
      assert.equal(host.ofType('usage').length, 2);
    },
  );

  soakTest('a temporary overload is a retry, not an error', async () => {
    bench.fake.setScript(script('faults'));
    const outcome = await bench.start('RETRY please', host, {
      request: {
        env: { ...bench.environment(), CLAUDE_CODE_MAX_RETRIES: '3' },
      },
    });
    assert.deepEqual(outcome, { kind: 'done', summary: 'worked after retries', deniedTools: [] });
    assert.deepEqual(
      host.ofType('retry').map((event) => event.status),
      [529, 429],
    );
  });

  soakTest('a lasting overload is reported', async () => {
    bench.fake.setScript(script('faults'));
    assert.equal(failureKind(await bench.start('OVERLOAD please', host)), 'agent_overloaded');
  });

  test('a usage limit is a state of the account, not a failure', async () => {
    bench.fake.setScript(script('faults'));
    const outcome = await bench.start('LIMIT please', host);
    assert.ok(outcome.kind === 'limited');
    assert.match(outcome.message, /usage limit/);
    assert.equal(host.ofType('retry').length, 0);
  });

  test('a wrong key ends the attempt at the first retry', async () => {
    bench.fake.setScript(script('faults'));
    const outcome = await bench.start('NOAUTH please', host, {
      request: {
        env: { ...bench.environment(), CLAUDE_CODE_MAX_RETRIES: '10' },
      },
    });
    assert.equal(failureKind(outcome), 'agent_auth');
    assert.equal(host.ofType('retry').length, 1);
  });

  soakTest('a missing key is reported', async () => {
    const { ANTHROPIC_API_KEY: _, ...env } = bench.environment();
    assert.equal(
      failureKind(await bench.start('anything', host, { request: { env } })),
      'agent_auth',
    );
    assert.deepEqual(bench.fake.requests, []);
  });

  soakTest('a refused request is a failure even though its subtype says success', async () => {
    bench.fake.setScript(script('faults'));
    assert.equal(failureKind(await bench.start('TOOLONG please', host)), 'agent_failed');
  });

  soakTest('an invalid argument is reported from stderr', async () => {
    const settings = settingsOf('claude', { path: bench.claude, args: ['--no-such-flag'] });
    const bad = createDriver(settings, {
      processTable: createProcessTable(),
      baseDir: '/',
      version: '0',
    });
    const outcome = await bad.run(
      { ...bench.run.request, env: bench.environment() },
      host,
      new AbortController().signal,
    );
    assert.ok(outcome.kind === 'failed');
    assert.match(outcome.failure.message, /no-such-flag/);
  });
});
