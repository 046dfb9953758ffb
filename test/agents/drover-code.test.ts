// The Drover Code driver against a double of its binary, in processes of its own. Names begin with the line of the
// conformance checklist that they show.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createDroverCodeDriver } from '../../server/agents/drover-code/driver.ts';
import type { DroverCodeDeps } from '../../server/agents/drover-code/headless-run.ts';
import { binaryKind } from '../../server/agents/drover-code/safe-probe.ts';
import { agentEnvironment } from '../../server/agents/environment.ts';
import type { AgentOutcome, AgentRequest, AgentSettings } from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/process-table.ts';
import type { DoubleCall, DoubleScript, DoubleStep } from '../doubles/drover-code.ts';
import {
  assertNothingLeft,
  createRecordingHost,
  createTestRun,
  everythingStored,
  killAndWait,
  minimalEnvironment,
  settingsOf,
  startUnderBackend,
  type RecordingHost,
  type TestRun,
} from './support.ts';

const doublePath = join(import.meta.dirname, '..', 'doubles', 'drover-code.ts');
const key = 'key-0123456789';
const ok = { schema_version: 1, ok: true };

suite('Drover Code driver', function () {
  this.timeout(60_000);
  let run: TestRun;
  let host: RecordingHost;
  let program: string;
  let doubleFolder: string;
  setup(() => {
    run = createTestRun();
    host = createRecordingHost();
    doubleFolder = join(run.folder, 'double');
    mkdirSync(doubleFolder);
    program = join(doubleFolder, 'drover-code');
    installDouble(false);
  });
  teardown(async () => {
    await createProcessTable().endTree(run.request.runId, null, 0);
    run.remove();
  });

  function installDouble(pipesReachBridge: boolean): void {
    const own = pipesReachBridge ? 'export DOUBLE_BRIDGE_OVER_PIPES=1\n' : '';
    const start = `exec "${process.execPath}" "${doublePath}" "${doubleFolder}" "$@"`;
    writeFileSync(program, `#!/bin/sh\n${own}${start}\n`, { mode: 0o755 });
  }
  function play(script: DoubleScript): void {
    writeFileSync(join(doubleFolder, 'script.json'), JSON.stringify(script));
  }
  function calls(): DoubleCall[] {
    const path = join(doubleFolder, 'calls.ndjson');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as DoubleCall);
  }
  /** Those that had work to do; the probe is a call too. */
  const realCalls = (): DoubleCall[] =>
    calls().filter((call) => call.env['ANTHROPIC_API_KEY'] !== 'probe');

  const settings = (more: Partial<AgentSettings> = {}): AgentSettings =>
    settingsOf('drover-code', { path: program, ...more });
  const requestOf = (more: Partial<AgentRequest> = {}): AgentRequest => {
    const env = { ...run.request.env, ANTHROPIC_API_KEY: key, ...more.env };
    return { ...run.request, secrets: [key], ...more, env };
  };
  function start(
    more: Partial<AgentRequest> = {},
    deps: Partial<DroverCodeDeps> = {},
    signal = new AbortController().signal,
  ): Promise<AgentOutcome> {
    const own = { processTable: createProcessTable(), baseDir: '/', graceMs: 500, ...deps };
    return createDroverCodeDriver(settings(), own).run(requestOf(more), host, signal);
  }
  const event = (type: string, fields: object = {}): DoubleStep => ({
    do: 'print',
    text: `${JSON.stringify({ ...fields, ts: '2026-01-02T03:04:05.123456789Z', type })}\n`,
  });
  function git(...args: string[]): string {
    return execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: run.cwd,
      env: { ...minimalEnvironment, HOME: join(run.folder, 'home') },
      stdio: 'pipe',
      encoding: 'utf8',
    });
  }
  function repository(): void {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'base');
  }
  function kindOfFailure(outcome: AgentOutcome): readonly [string, boolean, string] {
    assert.ok(outcome.kind === 'failed', JSON.stringify(outcome));
    const { kind, retryable, message } = outcome.failure;
    return [kind, retryable, message];
  }

  test('B19 a stock binary with pipes is headless-only, probed away from the worktree', async () => {
    assert.equal(
      await binaryKind(program, process.env['PATH'] ?? '', createProcessTable()),
      'headless-only',
    );
    const [probe] = calls();
    assert.equal(probe?.env['ANTHROPIC_BASE_URL'], 'http://127.0.0.1:9');
    assert.equal(probe.env['ANTHROPIC_API_KEY'], 'probe');
    assert.ok(!probe.cwd.startsWith(run.cwd) && !existsSync(probe.cwd));
  });

  test('B20 headless-only: the headless way runs, and no byte of JSON-RPC is written', async () => {
    play({ steps: [event('text_delta', { text: 'fine' })] });
    const outcome = await start();
    assert.deepEqual(outcome, { kind: 'done', summary: 'fine', deniedTools: [] });
    const [call, ...more] = realCalls();
    assert.deepEqual(more, []);
    assert.equal(call?.mode, 'headless');
    assert.equal(call.input, undefined);
    assert.equal(call.env['DROVER_CODE_IDE_BRIDGE'], undefined);
  });

  test('B22 the environment has neither tokens nor switches that nobody configured', async () => {
    const unwanted = {
      UKC_TOKEN: 'a',
      LINEAR_API_KEY: 'b',
      GITHUB_TOKEN: 'c',
      DROVER_CODE_HEADLESS: '1',
      DROVER_CODE_HEADLESS_PLAIN: '1',
      DROVER_CODE_PERMISSION_PRESET: 'unikernel',
    };
    const base = { ...run.request.env, ...unwanted };
    await start({ env: agentEnvironment(base, 'drover-code', {}, []) });
    for (const name of Object.keys(unwanted)) {
      assert.equal(realCalls()[0]?.env[name], undefined, name);
    }
  });

  test('B25 arguments, JSON lines, no input, a prompt that is no command, files beside the log', async () => {
    const outcome = await start({ prompt: '\n /quit now' });
    assert.equal(outcome.kind, 'done');
    const [call] = realCalls();
    const log = run.request.logPath;
    assert.deepEqual(call?.argv, [
      '--headless',
      '--prompt-file',
      `${log}.prompt`,
      '--result-json',
      `${log}.result.json`,
    ]);
    assert.equal(call.env['DROVER_CODE_JSONL'], '1');
    assert.equal(call.stdinIsCharacterDevice, true);
    const prompt = Buffer.from(call.promptBase64 ?? '', 'base64').toString();
    assert.match(prompt, /^The task is:\n\n \/quit now/);
    assert.equal(existsSync(`${log}.prompt`), false);
  });

  test('B26 unknown types, text that is no JSON and a cut last line do no harm', async () => {
    const steps: DoubleStep[] = [
      event('text_delta', { text: 'before ' }),
      { do: 'print', text: 'no json\n{"broken\n{"type":7}\n' },
      event('from_the_future', { x: 1 }),
      event('tool_start', { id: 't1', name: 'bash', call_index: 0, input_summary: 'ls' }),
      event('tool_done', { id: 't1', name: 'bash', is_error: false, output_summary: 'a' }),
      event('text_delta', { text: 'after' }),
      { do: 'print', text: '{"text":"cut of' },
    ];
    play({ steps });
    const outcome = await start();
    assert.deepEqual(outcome, { kind: 'done', summary: 'after', deniedTools: [] });
    assert.equal(host.ofType('tool_call')[0]?.title, 'bash ls');
    assert.equal(host.ofType('tool_result')[0]?.text, 'a');
  });

  test('B27 success needs exit code 0 and a result file that says ok', async () => {
    play({ result: ok });
    assert.equal((await start()).kind, 'done');
    play({ result: null, steps: [event('done')] });
    const [kind, , message] = kindOfFailure(await start());
    assert.equal(kind, 'agent_failed');
    assert.match(message, /no result file.*unknown/);
  });

  const exits: readonly [number, string, string, boolean][] = [
    [1, 'it went wrong', 'agent_failed', true],
    [2, 'bad prompt file', 'agent_failed', false],
    [4, 'token budget exceeded (watchdog)', 'agent_limit', false],
    [4, 'timeout exceeded (watchdog)', 'timeout', false],
    [5, 'connection refused', 'agent_overloaded', true],
  ];
  for (const [exit, error, kind, retryable] of exits) {
    test(`B28 exit code ${exit} with "${error}" is ${kind}`, async () => {
      play({ exit, result: { schema_version: 1, ok: false, error } });
      const found = kindOfFailure(await start());
      assert.deepEqual(found.slice(0, 2), [kind, retryable]);
      assert.ok(found[2].includes(error));
    });
  }

  test('B18 a missing key is said with its remedy', async () => {
    const env = { ANTHROPIC_API_KEY: '' };
    const [kind, , message] = kindOfFailure(await start({ env }));
    assert.equal(kind, 'agent_auth');
    assert.match(message, /Set API Key/);
  });

  test('B29 a denied call that never began is shown as denied', async () => {
    const denial = { id: 'x', name: 'git_push', is_error: true, output_summary: 'denied by user' };
    play({ steps: [event('tool_done', denial)] });
    const outcome = await start();
    assert.deepEqual(outcome, { kind: 'done', summary: '', deniedTools: ['git_push'] });
    assert.equal(host.ofType('tool_call')[0]?.name, 'git_push');
    assert.equal(host.ofType('tool_result')[0]?.isError, true);
  });

  test('B30 a binary that has changed is probed again', async () => {
    const table = createProcessTable();
    const path = process.env['PATH'] ?? '';
    for (let count = 0; count < 2; count++) await binaryKind(program, path, table);
    assert.equal(calls().length, 1);
    utimesSync(program, 1, 1);
    await binaryKind(program, path, table);
    assert.equal(calls().length, 2);
    installDouble(true);
    assert.equal(await binaryKind(program, path, table), 'bridge');
  });

  test('H02 exit code 1 after our signal is a stop, whatever the file says', async () => {
    play({ steps: [event('tool_start', { id: 'a', name: 'bash' }), { do: 'sleep' }] });
    const stop = new AbortController();
    const running = start({}, {}, stop.signal);
    await host.waitFor('tool_call');
    stop.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
  });

  test('H03 a result of an earlier run is removed before the start', async () => {
    mkdirSync(join(run.folder, 'log'));
    writeFileSync(`${run.request.logPath}.result.json`, JSON.stringify(ok));
    play({ result: null });
    assert.match(kindOfFailure(await start())[2], /no result file/);
    assert.equal(realCalls()[0]?.resultExisted, false);
  });

  test('H05 a prompt of 300 KiB arrives byte for byte', async () => {
    const prompt = `quote " ' \` $(touch x) \\ ü 😀\n`.repeat(10_000).slice(0, 300 * 1024);
    await start({ prompt });
    assert.equal(realCalls()[0]?.promptBase64, Buffer.from(prompt).toString('base64'));
    assert.equal(existsSync(join(run.cwd, 'x')), false);
  });

  test('H06 a denied tool is a failure without a change, and a notice with one', async () => {
    repository();
    const denial = { id: 'x', name: 'bash', is_error: true, output_summary: 'denied by user' };
    play({ steps: [event('tool_done', denial)] });
    const [, retryable, message] = kindOfFailure(await start());
    assert.equal(retryable, false);
    assert.match(message, /refused bash, and nothing was changed/);
    play({ steps: [event('tool_done', denial), { do: 'write', path: 'made.txt', text: 'x' }] });
    assert.equal((await start()).kind, 'done');
    assert.ok(host.ofType('note').some((note) => /refused: bash/.test(note.text)));
  });

  test('H07 at the cap of turns it is ended', async () => {
    const usage = event('usage', { total_input_tokens: 5, total_output_tokens: 2 });
    play({ steps: [usage, usage, usage, { do: 'sleep' }] });
    const [kind, retryable, message] = kindOfFailure(await start({}, { turnsMax: 3 }));
    assert.deepEqual([kind, retryable], ['agent_limit', false]);
    assert.match(message, /after 3 turns/);
    assert.equal(host.ofType('usage').at(-1)?.usage.inputTokens, 5);
  });

  test('H08 what ignores SIGTERM is killed with its children', async () => {
    const begun = event('tool_start', { id: 'a', name: 'bash' });
    play({ steps: [{ do: 'ignore-term' }, { do: 'child' }, begun, { do: 'sleep' }] });
    const stop = new AbortController();
    const running = start({}, {}, stop.signal);
    await host.waitFor('tool_call');
    stop.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    await assertNothingLeft(run.request.runId);
  });

  test('H11 a flood of events is drained and its log stays bounded', async () => {
    const line = `${JSON.stringify({ type: 'text_delta', text: 'word\n', ts: 'x' })}\n`;
    play({ steps: [{ do: 'repeat', count: 100_000, text: line }] });
    const outcome = await start({ maxOutputBytes: 1_000_000 });
    assert.ok(outcome.kind === 'done');
    assert.ok(outcome.summary.length <= 2_000);
    assert.equal(host.ofType('text').length, 100_000);
    assert.ok(everythingStored(join(run.folder, 'log')).length < 2_000_000);
  });

  test('T02 a key is in no argument, prompt file, log or sentence', async () => {
    play({
      exit: 1,
      steps: [{ do: 'stderr', text: `with ${key}\n` }, event('error', { message: key })],
      result: { schema_version: 1, ok: false, error: `refused ${key}` },
    });
    const outcome = await start({ prompt: `use ${key}` });
    const [call] = realCalls();
    const shown = [call?.argv, call?.promptBase64, outcome, host.events];
    const stored = everythingStored(join(run.folder, 'log'));
    assert.equal(`${JSON.stringify(shown)}${stored}`.includes(key), false);
    assert.equal(Buffer.from(call?.promptBase64 ?? '', 'base64').includes(key), false);
  });

  test('an empty prompt starts nothing', async () => {
    assert.match(kindOfFailure(await start({ prompt: ' \n' }))[2], /empty/);
    assert.deepEqual(calls(), []);
  });

  test('a run that a dead backend left is followed to its end by the next', async () => {
    const goOn = join(run.folder, 'go on');
    play({
      steps: [
        event('usage', { total_input_tokens: 3 }),
        event('tool_done', {
          id: 'x',
          name: 'bash',
          is_error: true,
          output_summary: 'denied by user',
        }),
        { do: 'await', path: goOn },
        event('text_delta', { text: 'the end' }),
      ],
    });
    const { backend, agent } = await startUnderBackend(settings(), requestOf());
    const logged = () =>
      existsSync(run.request.logPath) ? readFileSync(run.request.logPath, 'utf8') : '';
    while (!logged().includes('tool_result')) await new Promise((next) => setTimeout(next, 20));
    await killAndWait(backend);
    const own = { processTable: createProcessTable(), baseDir: '/' };
    const driver = createDroverCodeDriver(settings(), own);
    const following = driver.adopt(requestOf(), agent, host, new AbortController().signal);
    writeFileSync(goOn, '');
    const expected = { kind: 'done', summary: 'the end', deniedTools: ['bash'] };
    assert.deepEqual(await following, expected);
    // Once more, as after a backend that died before it had stored the outcome.
    const again = createRecordingHost();
    const signal = new AbortController().signal;
    assert.deepEqual(await driver.adopt(requestOf(), agent, again, signal), expected);
    assert.deepEqual(again.ofType('exit'), []);
    await assertNothingLeft(run.request.runId);
  });

  test('H12 a run in a worktree leaves the checkout as it was', async () => {
    repository();
    const worktree = join(run.folder, 'slot');
    git('worktree', 'add', '-q', worktree, 'HEAD');
    const before = [git('status', '--porcelain'), git('rev-parse', 'HEAD'), readdirSync(run.cwd)];
    play({ steps: [{ do: 'write', path: 'made.txt', text: 'x' }] });
    assert.equal((await start({ cwd: worktree })).kind, 'done');
    assert.deepEqual(readdirSync(worktree).toSorted(), ['.git', 'made.txt']);
    const after = [git('status', '--porcelain'), git('rev-parse', 'HEAD'), readdirSync(run.cwd)];
    assert.deepEqual(after, before);
  });

  suite('over the bridge', () => {
    setup(() => installDouble(true));

    test('B08 the answer is shown although nothing was streamed', async () => {
      const outcome = await start({ prompt: 'ünï 😀' });
      assert.deepEqual(outcome, { kind: 'done', summary: 'did: ünï 😀', deniedTools: [] });
      const [call] = realCalls();
      assert.equal(call?.mode, 'bridge');
      assert.equal(call.input, 'ünï 😀');
      assert.deepEqual(
        host.ofType('text').map((one) => one.text),
        ['did: ünï 😀'],
      );
      await assertNothingLeft(run.request.runId);
    });

    test('B07 a bridge that does not execute is incompatible, and ended', async () => {
      play({ bridge: 'no-execute' });
      const [, retryable, message] = kindOfFailure(await start());
      assert.equal(retryable, false);
      assert.match(message, /does not offer to execute/);
      await assertNothingLeft(run.request.runId);
    });

    test('B09 what was streamed is completed by the answer, and shown once', async () => {
      play({ bridge: 'deltas' });
      const outcome = await start();
      assert.equal(outcome.kind === 'done' && outcome.summary, 'first second');
      assert.deepEqual(
        host.ofType('text').map((one) => one.text),
        ['first ', 'second'],
      );
    });

    test('B13 an error of the loop is told in its words', async () => {
      play({ bridge: 'error' });
      assert.match(kindOfFailure(await start())[2], /api error 400: bad request/);
    });

    test('B16 cancel ends the process; the next prompt says that the conversation is lost', async () => {
      play({ bridge: 'hang' });
      const stop = new AbortController();
      const running = start({}, {}, stop.signal);
      await host.waitFor('output', (one) => one.text === 'working');
      stop.abort();
      assert.deepEqual(await running, { kind: 'stopped' });
      await assertNothingLeft(run.request.runId);
      play({});
      const outcome = await start({ resume: true, prompt: 'go on', promptIfForgotten: 'all' });
      assert.equal(outcome.kind === 'done' && outcome.summary, 'did: all');
      assert.ok(host.ofType('note').some((note) => /earlier one is lost/.test(note.text)));
    });

    test('B17 an end in the middle is told with the end of stderr, its secrets hidden', async () => {
      play({ bridge: 'crash' });
      const outcome = await start();
      assert.match(kindOfFailure(outcome)[2], /ended before its answer/);
      assert.ok(JSON.stringify(outcome).includes('it broke with [hidden]'));
    });
  });
});
