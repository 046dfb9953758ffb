// A backend dies while Amp keeps running or has ended: the next backend takes it over, and neither
// misses nor repeats anything.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readLog } from '../../server/agents/kit/log/event-log-reader.ts';
import { AmpBench, failureOf } from './amp-support.ts';
import { assertNothingLeft, killAndWait, startUnderBackend } from './support.ts';

suite('adopted Amp', function () {
  this.timeout(60_000);
  let bench: AmpBench;
  setup(() => {
    bench = new AmpBench();
  });
  teardown(() => bench.remove());

  const logged = () => readLog(bench.run.request.logPath, { fromOffset: 0, limit: 1e6 }).events;

  test('Amp outlives its backend, and the next backend neither misses nor repeats output', async () => {
    const release = join(bench.run.folder, 'release');
    bench.play({
      steps: [
        { do: 'repeat', count: 300, text: 'part' },
        { do: 'await', path: release },
        { do: 'repeat', count: 300, text: 'later' },
        { do: 'text', text: 'the end' },
      ],
    });
    const { backend, agent } = await startUnderBackend(bench.settings(), bench.request());
    while (logged().filter((event) => event.type === 'text').length < 100) await delay(10);
    await killAndWait(backend);
    writeFileSync(release, '');
    const adopt = () =>
      bench.driver().adopt(bench.request(), agent, bench.host, new AbortController().signal);
    const outcome = await adopt();
    assert.deepEqual(outcome, { kind: 'done', summary: 'the end', deniedTools: [] });
    const texts = logged().flatMap((event) => (event.type === 'text' ? [event.text] : []));
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    const expected = [...numbers.map((n) => `part ${n}`), ...numbers.map((n) => `later ${n}`)];
    assert.deepEqual(texts, [...expected, 'the end']);
    assert.equal(bench.host.ofType('usage').at(-1)?.usage.inputTokens, 6_010);
    // The engine died before it had stored that outcome, so the outcome is reported again, but only
    // once.
    assert.deepEqual(await adopt(), outcome);
    assert.equal(logged().filter((event) => event.type === 'exit').length, 1);
    const left = readdirSync(dirname(bench.run.request.logPath));
    assert.deepEqual(
      left.filter((name) => /stdout|stderr|stdin|mcp/.test(name)),
      [],
    );
    await assertNothingLeft(bench.run.request.runId);
  });

  test('the result of an Amp that ended without a backend is on disk', async () => {
    const release = join(bench.run.folder, 'release');
    const steps = [
      { do: 'text', text: 'one' },
      { do: 'await', path: release },
    ] as const;
    bench.play({ steps, error: 'boom' });
    const { backend, agent } = await startUnderBackend(bench.settings(), bench.request());
    while (!logged().some((event) => event.type === 'text')) await delay(10);
    await killAndWait(backend);
    writeFileSync(release, '');
    while (!existsSync(`${bench.run.request.logPath}.exit`)) await delay(10);
    const outcome = await bench
      .driver()
      .adopt(bench.request(), agent, bench.host, new AbortController().signal);
    assert.ok(outcome !== null);
    assert.deepEqual(failureOf(outcome), ['agent_failed', true, 'Amp failed: boom']);
  });

  for (const [title, step, expected] of [
    ['before its result: how its work ended is not known', { do: 'text', text: 'one' }, null],
    ['after its result: it counts', null, { kind: 'done', summary: '', deniedTools: [] }],
  ] as const) {
    test(`an Amp that is killed together with its backend, ${title}`, async () => {
      const release = join(bench.run.folder, 'never');
      const steps = step === null ? [] : [step, { do: 'await', path: release } as const];
      bench.play({ steps, lingers: true });
      const { backend, agent } = await startUnderBackend(bench.settings(), bench.request());
      const stdout = `${bench.run.request.logPath}.stdout`;
      const mark = step === null ? '"result"' : '"one"';
      while (!existsSync(stdout) || !readFileSync(stdout, 'utf8').includes(mark)) await delay(10);
      await killAndWait(backend);
      process.kill(-agent.pid, 'SIGKILL');
      const outcome = await bench
        .driver()
        .adopt(bench.request(), agent, bench.host, new AbortController().signal);
      assert.deepEqual(outcome, expected);
      await assertNothingLeft(bench.run.request.runId);
    });
  }

  test('an Amp that was asked to end while no backend was running continues', async () => {
    bench.play({ steps: [{ do: 'text', text: 'one' }, { do: 'sleep' }] }, {});
    const { backend, agent } = await startUnderBackend(bench.settings(), bench.request());
    while (!logged().some((event) => event.type === 'text')) await delay(10);
    await killAndWait(backend);
    process.kill(-agent.pid, 'SIGTERM');
    const signal = new AbortController().signal;
    assert.equal(await bench.driver().adopt(bench.request(), agent, bench.host, signal), null);
    assert.equal((await bench.start({ resume: true, prompt: 'go on' })).kind, 'done');
    assert.equal(bench.calls()[1]?.argv[0], 'threads');
  });
});
