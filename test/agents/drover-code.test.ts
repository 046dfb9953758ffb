// The Drover Code driver with a double of its binary, in separate processes. Test names start with
// the row of the conformance checklist that they check.

import assert from 'node:assert/strict';
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
import { binaryKind } from '../../server/agents/drover-code/safe-probe.ts';
import { agentEnvironment } from '../../server/agents/kit/process/environment.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import type { DoubleStep } from '../doubles/drover-code.ts';
import { droverCodeKey, DroverCodeRun, event, kindOfFailure } from './drover-code-support.ts';
import {
  assertNothingLeft,
  createRecordingHost,
  everythingStored,
  killAndWait,
  startUnderBackend,
} from './support.ts';

const ok = { schema_version: 1, ok: true };

suite('Drover Code driver', function () {
  this.timeout(60_000);
  let own: DroverCodeRun;
  setup(() => {
    own = new DroverCodeRun(false);
  });
  teardown(() => own.remove());

  test('B19 a stock binary with pipes is headless-only, and is probed outside the worktree', async () => {
    assert.equal(
      await binaryKind(own.program, process.env['PATH'] ?? '', createProcessTable()),
      'headless-only',
    );
    const [probe] = own.calls();
    assert.equal(probe?.env['ANTHROPIC_BASE_URL'], 'http://127.0.0.1:9');
    assert.equal(probe.env['ANTHROPIC_API_KEY'], 'probe');
    assert.ok(!probe.cwd.startsWith(own.run.cwd) && !existsSync(probe.cwd));
  });

  test('B20 a headless-only binary runs headless, and gets no byte of JSON-RPC', async () => {
    own.play({ steps: [event('text_delta', { text: 'fine' })] });
    const outcome = await own.start();
    assert.deepEqual(outcome, { kind: 'done', summary: 'fine', deniedTools: [] });
    const [call, ...more] = own.realCalls();
    assert.deepEqual(more, []);
    assert.equal(call?.mode, 'headless');
    assert.equal(call.input, undefined);
    assert.equal(call.env['DROVER_CODE_IDE_BRIDGE'], undefined);
  });

  test('B22 the environment contains neither tokens nor switches that the user did not configure', async () => {
    const unwanted = {
      UKC_TOKEN: 'a',
      LINEAR_API_KEY: 'b',
      GITHUB_TOKEN: 'c',
      DROVER_CODE_HEADLESS: '1',
      DROVER_CODE_HEADLESS_PLAIN: '1',
      DROVER_CODE_PERMISSION_PRESET: 'unikernel',
    };
    const base = { ...own.run.request.env, ...unwanted };
    await own.start({ env: agentEnvironment(base, 'drover-code', {}, []) });
    for (const name of Object.keys(unwanted)) {
      assert.equal(own.realCalls()[0]?.env[name], undefined, name);
    }
  });

  test('B25 it gets arguments, no input and a prompt that is not a command, prints JSON lines, and has its files beside the log', async () => {
    const outcome = await own.start({ prompt: '\n /quit now' });
    assert.equal(outcome.kind, 'done');
    const [call] = own.realCalls();
    const log = own.run.request.logPath;
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

  test('B26 unknown types, text that is not JSON and a truncated last line do no harm', async () => {
    const steps: DoubleStep[] = [
      event('text_delta', { text: 'before ' }),
      { do: 'print', text: 'no json\n{"broken\n{"type":7}\n' },
      event('from_the_future', { x: 1 }),
      event('tool_start', { id: 't1', name: 'bash', call_index: 0, input_summary: 'ls' }),
      event('tool_done', { id: 't1', name: 'bash', is_error: false, output_summary: 'a' }),
      event('text_delta', { text: 'after' }),
      { do: 'print', text: '{"text":"cut of' },
    ];
    own.play({ steps });
    const outcome = await own.start();
    assert.deepEqual(outcome, { kind: 'done', summary: 'after', deniedTools: [] });
    assert.equal(own.host.ofType('tool_call')[0]?.title, 'bash ls');
    assert.equal(own.host.ofType('tool_result')[0]?.text, 'a');
  });

  test('B27 success needs exit code 0 and a successful result file', async () => {
    own.play({ result: ok });
    assert.equal((await own.start()).kind, 'done');
    own.play({ result: null, steps: [event('done')] });
    const [kind, , message] = kindOfFailure(await own.start());
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
      own.play({ exit, result: { schema_version: 1, ok: false, error } });
      const found = kindOfFailure(await own.start());
      assert.deepEqual(found.slice(0, 2), [kind, retryable]);
      assert.ok(found[2].includes(error));
    });
  }

  test('B18 a missing key is reported with its remedy', async () => {
    const env = { ANTHROPIC_API_KEY: '' };
    const [kind, , message] = kindOfFailure(await own.start({ env }));
    assert.equal(kind, 'agent_auth');
    assert.match(message, /Set API Key/);
  });

  test('B29 a denied call that never started is shown as denied', async () => {
    const denial = { id: 'x', name: 'git_push', is_error: true, output_summary: 'denied by user' };
    own.play({ steps: [event('tool_done', denial)] });
    const outcome = await own.start();
    assert.deepEqual(outcome, { kind: 'done', summary: '', deniedTools: ['git_push'] });
    assert.equal(own.host.ofType('tool_call')[0]?.name, 'git_push');
    assert.equal(own.host.ofType('tool_result')[0]?.isError, true);
  });

  test('B30 a changed binary is probed again', async () => {
    const table = createProcessTable();
    const path = process.env['PATH'] ?? '';
    for (let count = 0; count < 2; count++) await binaryKind(own.program, path, table);
    assert.equal(own.calls().length, 1);
    utimesSync(own.program, 1, 1);
    await binaryKind(own.program, path, table);
    assert.equal(own.calls().length, 2);
    own.install(true);
    assert.equal(await binaryKind(own.program, path, table), 'bridge');
  });

  test("H02 exit code 1 after Drover's signal is a stop, whatever the result file says", async () => {
    own.play({ steps: [event('tool_start', { id: 'a', name: 'bash' }), { do: 'sleep' }] });
    const stop = new AbortController();
    const running = own.start({}, {}, stop.signal);
    await own.host.waitFor('tool_call');
    stop.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
  });

  test('H03 the result of an earlier run is removed before the start', async () => {
    mkdirSync(join(own.run.folder, 'log'));
    writeFileSync(`${own.run.request.logPath}.result.json`, JSON.stringify(ok));
    own.play({ result: null });
    assert.match(kindOfFailure(await own.start())[2], /no result file/);
    assert.equal(own.realCalls()[0]?.resultExisted, false);
  });

  test('H05 a prompt of 300 KiB arrives unchanged', async () => {
    const prompt = `quote " ' \` $(touch x) \\ ü 😀\n`.repeat(10_000).slice(0, 300 * 1024);
    await own.start({ prompt });
    assert.equal(own.realCalls()[0]?.promptBase64, Buffer.from(prompt).toString('base64'));
    assert.equal(existsSync(join(own.run.cwd, 'x')), false);
  });

  test('H06 a denied tool is a failure if nothing changed, and a notice otherwise', async () => {
    own.repository();
    const denial = { id: 'x', name: 'bash', is_error: true, output_summary: 'denied by user' };
    own.play({ steps: [event('tool_done', denial)] });
    const [, retryable, message] = kindOfFailure(await own.start());
    assert.equal(retryable, false);
    assert.match(message, /refused bash, and nothing was changed/);
    own.play({ steps: [event('tool_done', denial), { do: 'write', path: 'made.txt', text: 'x' }] });
    assert.equal((await own.start()).kind, 'done');
    assert.ok(own.host.ofType('note').some((note) => /refused: bash/.test(note.text)));
  });

  test('H07 the run is stopped at the turn limit', async () => {
    const usage = event('usage', { total_input_tokens: 5, total_output_tokens: 2 });
    own.play({ steps: [usage, usage, usage, { do: 'sleep' }] });
    const [kind, retryable, message] = kindOfFailure(await own.start({}, { turnsMax: 3 }));
    assert.deepEqual([kind, retryable], ['agent_limit', false]);
    assert.match(message, /after 3 turns/);
    assert.equal(own.host.ofType('usage').at(-1)?.usage.inputTokens, 5);
  });

  test('H08 a process that ignores SIGTERM is killed together with its children', async () => {
    const begun = event('tool_start', { id: 'a', name: 'bash' });
    own.play({ steps: [{ do: 'ignore-term' }, { do: 'child' }, begun, { do: 'sleep' }] });
    const stop = new AbortController();
    const running = own.start({}, {}, stop.signal);
    await own.host.waitFor('tool_call');
    stop.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    await assertNothingLeft(own.run.request.runId);
  });

  test('H11 a flood of events is drained, and its log stays bounded', async () => {
    const line = `${JSON.stringify({ type: 'text_delta', text: 'word\n', ts: 'x' })}\n`;
    own.play({ steps: [{ do: 'repeat', count: 100_000, text: line }] });
    const outcome = await own.start({ maxOutputBytes: 1_000_000 });
    assert.ok(outcome.kind === 'done');
    assert.ok(outcome.summary.length <= 2_000);
    assert.equal(own.host.ofType('text').length, 100_000);
    assert.ok(everythingStored(join(own.run.folder, 'log')).length < 2_000_000);
  });

  test('T02 a key appears in no argument, prompt file, log or message', async () => {
    own.play({
      exit: 1,
      steps: [
        { do: 'stderr', text: `with ${droverCodeKey}\n` },
        event('error', { message: droverCodeKey }),
      ],
      result: { schema_version: 1, ok: false, error: `refused ${droverCodeKey}` },
    });
    const outcome = await own.start({ prompt: `use ${droverCodeKey}` });
    const [call] = own.realCalls();
    const shown = [call?.argv, call?.promptBase64, outcome, own.host.events];
    const stored = everythingStored(join(own.run.folder, 'log'));
    assert.equal(`${JSON.stringify(shown)}${stored}`.includes(droverCodeKey), false);
    assert.equal(Buffer.from(call?.promptBase64 ?? '', 'base64').includes(droverCodeKey), false);
  });

  test('an empty prompt starts nothing', async () => {
    assert.match(kindOfFailure(await own.start({ prompt: ' \n' }))[2], /empty/);
    assert.deepEqual(own.calls(), []);
  });

  test('the next backend follows a run that a dead backend left to its end', async () => {
    const goOn = join(own.run.folder, 'go on');
    own.play({
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
    const { backend, agent } = await startUnderBackend(own.settings(), own.request());
    const logged = () =>
      existsSync(own.run.request.logPath) ? readFileSync(own.run.request.logPath, 'utf8') : '';
    while (!logged().includes('tool_result')) await new Promise((next) => setTimeout(next, 20));
    await killAndWait(backend);
    const deps = { processTable: createProcessTable(), baseDir: '/' };
    const driver = createDroverCodeDriver(own.settings(), deps);
    const following = driver.adopt(own.request(), agent, own.host, new AbortController().signal);
    writeFileSync(goOn, '');
    const expected = { kind: 'done', summary: 'the end', deniedTools: ['bash'] };
    assert.deepEqual(await following, expected);
    // Runs again, as after a backend that died before it had stored the outcome.
    const again = createRecordingHost();
    const signal = new AbortController().signal;
    assert.deepEqual(await driver.adopt(own.request(), agent, again, signal), expected);
    assert.deepEqual(again.ofType('exit'), []);
    await assertNothingLeft(own.run.request.runId);
  });

  test('H12 a run in a worktree does not change the checkout', async () => {
    own.repository();
    const worktree = join(own.run.folder, 'slot');
    own.git('worktree', 'add', '-q', worktree, 'HEAD');
    const before = [
      own.git('status', '--porcelain'),
      own.git('rev-parse', 'HEAD'),
      readdirSync(own.run.cwd),
    ];
    own.play({ steps: [{ do: 'write', path: 'made.txt', text: 'x' }] });
    assert.equal((await own.start({ cwd: worktree })).kind, 'done');
    assert.deepEqual(readdirSync(worktree).toSorted(), ['.git', 'made.txt']);
    const after = [
      own.git('status', '--porcelain'),
      own.git('rev-parse', 'HEAD'),
      readdirSync(own.run.cwd),
    ];
    assert.deepEqual(after, before);
  });

  test('S01 the prompt lists the allowed commands in a SQLForge project', async () => {
    own.repository();
    writeFileSync(join(own.run.cwd, 'sqlforge.yml'), 'default_environment: dev\n');
    await own.start({ prompt: 'add a metric' });
    const prompt = Buffer.from(own.realCalls()[0]?.promptBase64 ?? '', 'base64').toString();
    assert.match(prompt, /^add a metric\n\nThis is a SQLForge project/);
  });
});
