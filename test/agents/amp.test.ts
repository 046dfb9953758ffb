// The Amp driver with a double of its binary: start, lines, end, and resuming.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readLog } from '../../server/agents/kit/log/event-log-reader.ts';
import type { AmpScript } from '../doubles/amp.ts';
import { AmpBench, ampKey, failureOf } from './amp-support.ts';
import { assertNothingLeft, everythingStored, withoutCount } from './support.ts';

suite('amp driver', function () {
  this.timeout(60_000);
  let bench: AmpBench;
  setup(() => {
    bench = new AmpBench();
  });
  teardown(() => bench.remove());

  const logged = () =>
    readLog(bench.run.request.logPath, { fromOffset: 0, limit: 1e6 }).events.map(
      ({ at: _at, ...event }) => event,
    );

  test('the prompt is sent on standard input, and every line becomes an event', async () => {
    bench.play({
      steps: [
        { do: 'think', text: 'hm' },
        { do: 'call', id: 't1', name: 'Bash', input: { cmd: 'ls\nrm x' } },
        { do: 'answer', id: 't1', text: 'a b', isError: true },
        { do: 'stderr', text: 'a warning\n' },
        { do: 'print', text: 'no json\n' },
        { do: 'write', path: 'made.txt', text: 'made' },
        { do: 'text', text: 'All done.' },
      ],
    });
    const prompt = 'first\n"$(touch x)" é';
    const outcome = await bench.start({ prompt });
    assert.deepEqual(outcome, { kind: 'done', summary: 'All done.', deniedTools: [] });
    const [call] = bench.calls();
    assert.ok(call !== undefined);
    assert.equal(call.prompt, prompt);
    assert.equal(call.cwd, bench.run.cwd);
    assert.deepEqual(call.argv, [
      '--execute',
      '--stream-json',
      '--stream-json-thinking',
      '--no-archive-after-execute',
      '--no-ide',
    ]);
    assert.ok(existsSync(join(bench.run.cwd, 'made.txt')));
    const thread = Object.keys(bench.threads())[0];
    const usage = (n: number) => ({
      type: 'usage',
      usage: { inputTokens: 10 * n, outputTokens: 2 * n, cacheReadTokens: 5 * n, costUsd: null },
    });
    const input = { cmd: 'ls\nrm x' };
    const events = logged();
    const fromStderr = events.filter(
      (event) => event.type === 'output' && event.stream === 'stderr',
    );
    assert.deepEqual(fromStderr, [{ type: 'output', stream: 'stderr', text: 'a warning' }]);
    assert.deepEqual(events.filter((event) => !fromStderr.includes(event)).map(withoutCount), [
      { type: 'started', agent: 'amp', sessionId: thread, resumed: false },
      { type: 'thinking', text: 'hm' },
      usage(1),
      { type: 'tool_call', id: 't1', name: 'Bash', title: 'Bash ls', input },
      usage(2),
      { type: 'tool_result', id: 't1', isError: true, text: 'a b' },
      { type: 'output', stream: 'stdout', text: 'no json' },
      { type: 'text', text: 'All done.' },
      usage(3),
      { type: 'exit', code: 0, signal: null },
    ]);
    assert.deepEqual(bench.host.events, events);
    await assertNothingLeft(bench.run.request.runId);
  });

  const ends: readonly (readonly [string, AmpScript, readonly [string, boolean, RegExp]])[] = [
    ['an error', { error: 'boom' }, ['agent_failed', true, /^Amp failed: boom$/]],
    ['no credit', { error: 'Out of credits' }, ['agent_billing', false, /no credit/]],
    ['a refused key', { error: '401 Unauthorized' }, ['agent_auth', false, /AMP_API_KEY/]],
    ['an overload', { error: 'Overloaded' }, ['agent_overloaded', true, /overloaded/]],
    [
      'a run that used up its turns',
      { error: 'too many', subtype: 'error_max_turns' },
      ['agent_limit', true, /turns for one run/],
    ],
    [
      'an approval that nobody can give',
      {
        error:
          'The following tools require user approval, which is not supported in stream JSON mode: Bash',
      },
      ['agent_failed', false, /mode: Bash\).*amp\.permissions/],
    ],
    [
      'a signal from outside',
      { error: 'User cancelled (SIGINT/SIGTERM)' },
      ['agent_failed', true, /interrupted the run of Amp/],
    ],
    [
      'exit code 0 without a result',
      { silent: true },
      ['agent_failed', true, /exit code 0 without a result/],
    ],
    [
      'an exit code without a result, with words that would mean something before the begin',
      { silent: true, exit: 7, steps: [{ do: 'stderr', text: '401 Unauthorized\n' }] },
      ['agent_failed', true, /exit code 7 without a result: 401 Unauthorized$/],
    ],
    ['a kill', { steps: [{ do: 'die' }] }, ['agent_failed', true, /killed by signal 9/]],
    [
      'a result of a kind that nobody knows',
      { subtype: 'surprise' },
      ['agent_failed', true, /^Amp failed/],
    ],
  ];
  for (const [title, script, [kind, retryable, message]] of ends) {
    test(`${title} is a failure`, async () => {
      bench.play(script);
      const found = failureOf(await bench.start());
      assert.deepEqual(found.slice(0, 2), [kind, retryable]);
      assert.match(found[2], message);
      await assertNothingLeft(bench.run.request.runId);
    });
  }

  test('a usage limit parks the account', async () => {
    const error = "You've exceeded your usage limit of $10. Try again later.";
    bench.play({ error });
    assert.deepEqual(await bench.start(), { kind: 'limited', untilMs: null, message: error });
  });

  test('text of the model and of its tools never determines the outcome', async () => {
    bench.play({
      steps: [
        { do: 'text', text: 'Out of credits, 401 Unauthorized, overloaded', stop: 'tool_use' },
        { do: 'answer', id: 't', text: 'rate limit', isError: true },
        { do: 'text', text: 'The API answers 401 Unauthorized.' },
      ],
    });
    assert.equal((await bench.start()).kind, 'done');
  });

  for (const prompt of ['one line', 'two\nlines\n']) {
    test(`Amp is stopped if no user is signed in and it waits for a code (${JSON.stringify(prompt)})`, async () => {
      const { AMP_API_KEY: _key, ...env } = bench.request().env;
      const request = { ...bench.request(), env, prompt };
      const outcome = await bench.driver().run(request, bench.host, new AbortController().signal);
      assert.deepEqual(failureOf(outcome).slice(0, 2), ['agent_auth', false]);
      assert.equal(everythingStored(bench.run.folder).includes('login-token-1234'), false);
      await assertNothingLeft(bench.run.request.runId);
    });
  }

  for (const text of ["Couldn't connect to the Amp server at x.", 'Cannot reach Amp servers.']) {
    test(`Amp that fails before its protocol starts is unreachable: ${text}`, async () => {
      bench.play({ refuses: text });
      assert.deepEqual(failureOf(await bench.start()).slice(0, 2), ['agent_overloaded', true]);
    });
  }

  test('a resumed thread gets only the next message', async () => {
    bench.play({ steps: [{ do: 'text', text: 'one' }, { do: 'die' }] }, {});
    await bench.start({ prompt: 'the task' });
    const outcome = await bench.start({ resume: true, prompt: 'go on', promptIfForgotten: 'all' });
    assert.equal(outcome.kind, 'done');
    const [thread = ''] = Object.keys(bench.threads());
    assert.deepEqual(bench.calls()[1]?.argv.slice(0, 3), ['threads', 'continue', thread]);
    assert.deepEqual(bench.threads()[thread]?.messages, ['the task', 'go on']);
    const started = bench.host
      .ofType('started')
      .map(({ sessionId, resumed }) => [sessionId, resumed]);
    assert.deepEqual(started, [
      [thread, false],
      [thread, true],
    ]);
    // The log has a single total.
    assert.equal(bench.host.ofType('usage').at(-1)?.usage.inputTokens, 10);
  });

  test('a new thread gets the whole task if the old thread is missing or never got the task', async () => {
    bench.play({});
    await bench.start();
    bench.forgetThreads();
    const resumed = { resume: true, prompt: 'go on', promptIfForgotten: 'the whole task' };
    assert.equal((await bench.start(resumed)).kind, 'done');
    assert.equal((await bench.start({ ...resumed, sessionId: 'never-started' })).kind, 'done');
    assert.deepEqual(
      bench.calls().map(({ prompt, argv }) => [argv[0], prompt]),
      [
        ['--execute', 'do it'],
        ['threads', 'go on'],
        ['--execute', 'the whole task'],
        ['--execute', 'the whole task'],
      ],
    );
    const notes = bench.host.ofType('note').filter(({ text }) => text.includes('is missing'));
    assert.equal(notes.length, 2);
  });

  test('the arguments contain the mode, the permissions, the tools and custom arguments, but no token', async () => {
    bench.play({});
    const settings = { model: 'high', permissionMode: 'bypassPermissions', args: ['--fast'] };
    const tools = {
      command: '/bin/true',
      args: ['a'],
      env: { TOKEN: 'tok-123456' },
      configPath: '/nowhere',
    };
    const request = bench.request({ tools });
    await bench.driver(settings).run(request, bench.host, new AbortController().signal);
    const [call] = bench.calls();
    const path = `${request.logPath}.amp-mcp.json`;
    assert.deepEqual(call?.argv.slice(5), [
      '--mode',
      'high',
      '--dangerously-allow-all',
      '--mcp-config',
      path,
      '--fast',
    ]);
    assert.deepEqual(call.tools, {
      drover: { command: '/bin/true', args: ['a'], env: { TOKEN: 'tok-123456' } },
    });
    assert.equal(existsSync(path), false);
    assert.equal(bench.host.ofType('started')[0]?.model, 'high');
  });

  test('planning grants no additional permissions, and the whole last answer is the plan', async () => {
    const plan = `# Plan\n${'- a step\n'.repeat(500)}end`;
    bench.play({ steps: [{ do: 'text', text: plan }] });
    const outcome = await bench
      .driver({ permissionMode: 'bypassPermissions' })
      .run(bench.request({ planning: true }), bench.host, new AbortController().signal);
    assert.deepEqual(outcome, { kind: 'done', summary: plan, deniedTools: [] });
    assert.equal(bench.calls()[0]?.argv.includes('--dangerously-allow-all'), false);
  });

  test('a stop kills the whole process tree, and the session can be resumed', async () => {
    bench.play({ steps: [{ do: 'child' }, { do: 'text', text: 'here' }, { do: 'sleep' }] }, {});
    const abort = new AbortController();
    const running = bench.start({}, {}, abort.signal);
    await bench.host.waitFor('text');
    abort.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    await assertNothingLeft(bench.run.request.runId);
    assert.equal((await bench.start({ resume: true })).kind, 'done');
    assert.equal(bench.calls()[1]?.argv[0], 'threads');
  });

  for (const [title, steps] of [
    ['one that tells of our signal', [{ do: 'sleep' }]],
    ['one that ignores it', [{ do: 'ignore-term' }, { do: 'sleep' }]],
  ] as const) {
    test(`Amp is stopped at its time limit: ${title}`, async () => {
      bench.play({ steps });
      assert.equal(failureOf(await bench.start({ timeoutMs: 1_500 }))[0], 'timeout');
      await assertNothingLeft(bench.run.request.runId);
    });
  }

  test('an agent that is silent for too long is stopped', async () => {
    bench.play({ steps: [{ do: 'text', text: 'one', stop: 'tool_use' }, { do: 'sleep' }] });
    const outcome = await bench.start({ stallWarnMs: 100, stallEndMs: 300 });
    assert.equal(failureOf(outcome)[0], 'agent_stalled');
    await assertNothingLeft(bench.run.request.runId);
  });

  test('an agent that is silent while a tool runs is not stopped', async () => {
    const release = join(bench.run.folder, 'release');
    bench.play({
      steps: [
        { do: 'call', id: 't', name: 'Bash', input: { cmd: 'make' } },
        { do: 'await', path: release },
        { do: 'answer', id: 't', text: 'made' },
      ],
    });
    const running = bench.start({ stallWarnMs: 6_000, stallEndMs: 6_000 });
    await bench.host.waitFor('tool_call');
    await delay(6_500);
    writeFileSync(release, '');
    assert.equal((await running).kind, 'done');
  });

  test('processes that remain after the result are killed, and the result counts', async () => {
    bench.play({ steps: [{ do: 'text', text: 'ready' }], lingers: true });
    const outcome = await bench.start({}, { lingerMs: 100 });
    assert.deepEqual(outcome, { kind: 'done', summary: 'ready', deniedTools: [] });
    await assertNothingLeft(bench.run.request.runId);
  });

  test('refused tools are listed by name', async () => {
    bench.play({ denials: ['Bash', 'Bash', 'edit_file'] });
    const outcome = await bench.start();
    assert.deepEqual(outcome.kind === 'done' && outcome.deniedTools, ['Bash', 'edit_file']);
  });

  test('secrets are hidden in all stored and printed text', async () => {
    const steps = [{ do: 'text', text: `key ${ampKey}` }] as const;
    bench.play({ steps, error: `boom ${ampKey}` });
    const outcome = await bench.start();
    assert.match(failureOf(outcome)[2], /boom \[hidden\]/);
    assert.equal(everythingStored(dirname(bench.run.request.logPath)).includes(ampKey), false);
    assert.equal(JSON.stringify(bench.host.events).includes(ampKey), false);
  });

  test('a thread that no backend had read is resumed', async () => {
    bench.play({});
    await bench.start({ sessionId: 'of-another' });
    const [thread = ''] = Object.keys(bench.threads());
    const init = { type: 'system', subtype: 'init', session_id: thread };
    writeFileSync(`${bench.run.request.logPath}.stdout`, `${JSON.stringify(init)}\n`);
    assert.equal((await bench.start({ resume: true, prompt: 'go on' })).kind, 'done');
    assert.deepEqual(bench.threads()[thread]?.messages, ['do it', 'go on']);
  });

  test('the check reports the version, or the remedy if Amp is missing', async () => {
    const { ok, version } = await bench.driver().probe({ PATH: process.env['PATH'] ?? '' });
    assert.deepEqual([ok, version], [true, '0.0.1790142911-g7618fb']);
    const missing = bench.driver({ path: './no amp' });
    assert.match(
      (await missing.probe({ PATH: process.env['PATH'] ?? '' })).message,
      /npm install -g @ampcode\/cli/,
    );
    const signal = new AbortController().signal;
    const outcome = await missing.run(bench.request(), bench.host, signal);
    assert.equal(failureOf(outcome)[0], 'agent_missing');
  });
});
