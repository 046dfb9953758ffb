// The Drover Code driver over the IDE bridge, with a double of the binary whose bridge works over
// pipes. Test names start with the row of the conformance checklist that they check.

import assert from 'node:assert/strict';
import { DroverCodeRun, kindOfFailure } from './drover-code-support.ts';
import { assertNothingLeft } from './support.ts';

suite('Drover Code driver over the bridge', function () {
  this.timeout(60_000);
  let own: DroverCodeRun;
  setup(() => {
    own = new DroverCodeRun(true);
  });
  teardown(() => own.remove());

  test('B08 the answer is shown even if nothing was streamed', async () => {
    const outcome = await own.start({ prompt: 'ünï 😀' });
    assert.deepEqual(outcome, { kind: 'done', summary: 'did: ünï 😀', deniedTools: [] });
    const [call] = own.realCalls();
    assert.equal(call?.mode, 'bridge');
    assert.equal(call.input, 'ünï 😀');
    assert.deepEqual(
      own.host.ofType('text').map((one) => one.text),
      ['did: ünï 😀'],
    );
    await assertNothingLeft(own.run.request.runId);
  });

  test('B07 a bridge that does not execute prompts is incompatible, and is stopped', async () => {
    own.play({ bridge: 'no-execute' });
    const [, retryable, message] = kindOfFailure(await own.start());
    assert.equal(retryable, false);
    assert.match(message, /does not offer to execute/);
    await assertNothingLeft(own.run.request.runId);
  });

  test('B09 the answer completes streamed text, which is shown only once', async () => {
    own.play({ bridge: 'deltas' });
    const outcome = await own.start();
    assert.equal(outcome.kind === 'done' && outcome.summary, 'first second');
    assert.deepEqual(
      own.host.ofType('text').map((one) => one.text),
      ['first ', 'second'],
    );
  });

  test('B13 an error of the agent loop is reported verbatim', async () => {
    own.play({ bridge: 'error' });
    assert.match(kindOfFailure(await own.start())[2], /api error 400: bad request/);
  });

  test('B16 a cancel ends the process, and the next prompt says that the conversation is lost', async () => {
    own.play({ bridge: 'hang' });
    const stop = new AbortController();
    const running = own.start({}, {}, stop.signal);
    await own.host.waitFor('output', (one) => one.text === 'working');
    stop.abort();
    assert.deepEqual(await running, { kind: 'stopped' });
    await assertNothingLeft(own.run.request.runId);
    own.play({});
    const outcome = await own.start({ resume: true, prompt: 'go on', promptIfForgotten: 'all' });
    assert.equal(outcome.kind === 'done' && outcome.summary, 'did: all');
    assert.ok(
      own.host.ofType('note').some((note) => /earlier conversation is lost/.test(note.text)),
    );
  });

  test('B17 an early exit is reported with the end of stderr, and its secrets are hidden', async () => {
    own.play({ bridge: 'crash' });
    const outcome = await own.start();
    assert.match(kindOfFailure(outcome)[2], /exited before it answered/);
    assert.ok(JSON.stringify(outcome).includes('it broke with [hidden]'));
  });

  test('B18 an exit before any frame because of a missing key is reported with its remedy', async () => {
    const outcome = await own.start({ env: { ANTHROPIC_API_KEY: '' } });
    const [kind, retryable, message] = kindOfFailure(outcome);
    assert.deepEqual([kind, retryable], ['agent_auth', false]);
    assert.match(message, /Set API Key/);
  });

  test('B22 both switches are set, and no mode that the person did not choose', async () => {
    await own.start({
      env: { DROVER_CODE_HEADLESS: '1', DROVER_CODE_PERMISSION_PRESET: 'bypass' },
    });
    const [call] = own.realCalls();
    assert.equal(call?.env['DROVER_CODE_IDE_BRIDGE'], '1');
    assert.equal(call.env['CLAUDE_CODE_IDE_BRIDGE'], '1');
    assert.equal(call.env['DROVER_CODE_HEADLESS'], undefined);
    assert.equal(call.env['DROVER_CODE_PERMISSION_PRESET'], undefined);
  });

  test('a prompt of several megabytes arrives completely', async () => {
    const prompt = '😀 line\n'.repeat(300_000);
    const outcome = await own.start({ prompt });
    assert.equal(outcome.kind, 'done');
    assert.equal(own.realCalls()[0]?.input, prompt);
  });
});
