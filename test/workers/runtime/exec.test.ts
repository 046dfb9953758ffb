// Commands of the worker runtime (worker contract §4, §9): how they start, their output, how they
// end.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import { ask, exec, follow, linesOf, runToEnd } from '../support/http.ts';
import { useRuntimes, type RuntimeProcess } from '../support/runtime-process.ts';

const done = (events: Awaited<ReturnType<typeof runToEnd>>) => events.at(-1)?.data;

function isAlive(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}

suite('worker runtime: commands', () => {
  const start = useRuntimes();

  const bodies: readonly (readonly [string, number, string])[] = [
    ['{"command":" "}', 400, 'command required\n'],
    ['{"command":""}', 400, 'command required\n'],
    ['{"command":null}', 400, 'command required\n'],
    ['{}', 400, 'command required\n'],
    ['null', 400, 'command required\n'],
    ['{"command":5}', 400, 'bad json\n'],
    ['{"command":"a"', 400, 'bad json\n'],
    ['["a"]', 400, 'bad json\n'],
    ['command', 400, 'bad json\n'],
    ['', 400, 'bad json\n'],
    [JSON.stringify({ command: 'x'.repeat(1024 * 1024) }), 413, 'command too large\n'],
  ];

  test('R09 a command is checked, and its job starts at once', async () => {
    const runtime = await start();
    for (const [body, status, text] of bodies) {
      const answer = await ask(runtime, '/exec', { method: 'POST', body });
      assert.deepEqual([answer.status, answer.text], [status, text], body.slice(0, 40));
    }
    const body = ' {"command":"echo \\"}\\"; sleep 60","timeout":3} and more';
    const startMs = performance.now();
    const { status, headers, text } = await ask(runtime, '/exec', { body });
    assert.ok(performance.now() - startMs < 1000);
    assert.deepEqual([status, headers['content-type']], [200, 'application/json']);
    const [, job = ''] = /^\{"job_id":"([0-9a-f]{32})"\}\n$/.exec(text) ?? [];
    const stream = await follow(runtime, job);
    assert.equal((await stream.event(() => true)).data.line, '}');
  });

  test('R10 a command runs in the workspace, and does not get the token', async () => {
    const runtime = await start({ env: { ANTHROPIC_API_KEY: 'of the model' } });
    const events = await runToEnd(
      runtime,
      'pwd; printenv ANTHROPIC_API_KEY; env; cat; readlink /proc/self/fd/1',
    );
    const lines = linesOf(events);
    assert.deepEqual(lines.slice(0, 2), [runtime.workspace, 'of the model']);
    assert.equal(
      lines.some((line) => line.includes('AGENT_TOKEN')),
      false,
    );
    assert.equal(lines.join('\n').includes(runtime.token), false);
    // A real pipe, which can be opened by name; a socket could not.
    const opened = await runToEnd(
      runtime,
      'echo one > /dev/stdout; [ -p /dev/stdout ] && echo pipe',
    );
    assert.deepEqual(linesOf(opened), ['one', 'pipe']);
  });

  test('R11 lines are numbered from 0, each stream is in order, and the last event is the end', async () => {
    const runtime = await start();
    const count = 900;
    const numbers = `i=0; while [ $i -lt ${String(count / 2)} ]; do echo out $i; echo err $i >&2; i=$((i+1)); done`;
    const events = await runToEnd(runtime, `${numbers}; exit 7`);
    assert.deepEqual(
      events.map(({ id }) => id),
      events.map((_, index) => index),
    );
    assert.deepEqual(done(events), { done: true, exit_code: 7 });
    for (const stream of ['stdout', 'stderr']) {
      const word = stream.slice(3);
      const expected = Array.from({ length: count / 2 }, (_, i) => `${word} ${String(i)}`);
      assert.deepEqual(linesOf(events, stream), expected);
    }
  });

  test('R11 also: line endings, empty lines, an unterminated last line, and bytes that are not text are kept', async () => {
    const runtime = await start();
    const text = String.raw`a\r\n\n\r\nb\rc\n<&>\xe2\x80\xa8\n\xff\xc3(\n\xe6\xbc\xa2 last`;
    const events = await runToEnd(
      runtime,
      `printf '${text.replaceAll(/\\x(..)/g, (_, hex: string) => `\\${parseInt(hex, 16).toString(8)}`)}'`,
    );
    assert.deepEqual(linesOf(events), [
      'a',
      '',
      '',
      'b\rc',
      '<&>\u2028',
      '\ufffd\ufffd(',
      '漢 last',
    ]);
  });

  test('R12 long lines arrive in chunks, and nothing blocks', async () => {
    const runtime = await start();
    const program = `
      const characters = '漢'.repeat(349_525) + 'x';
      process.stdout.write(characters + '\\n');
      process.stdout.write('z'.repeat(10 * 1024 * 1024));
      process.stderr.write('the end\\n');`;
    const events = await runToEnd(runtime, `'${process.execPath}' -e "${program}"`);
    const [first = '', second = ''] = linesOf(events);
    assert.equal(first, `${'漢'.repeat(349_525)}x`);
    assert.equal(second, 'z'.repeat(10 * 1024 * 1024));
    assert.deepEqual(linesOf(events, 'stderr'), ['the end']);
    const longest = Math.max(...events.map(({ data }) => Buffer.byteLength(data.line ?? '')));
    assert.ok(longest <= 32 * 1024 && longest > 30 * 1024, String(longest));
    assert.deepEqual(done(events), { done: true, exit_code: 0 });
  });

  test('R13 the end of a command that a signal killed names the signal', async () => {
    const runtime = await start();
    const killed = await runToEnd(runtime, 'echo before; kill -KILL $$');
    assert.deepEqual(done(killed), { done: true, exit_code: -1, signal: 'KILL' });
    assert.deepEqual(linesOf(killed), ['before']);
    const ended = await runToEnd(runtime, 'kill -TERM $$');
    assert.deepEqual(done(ended), { done: true, exit_code: -1, signal: 'TERM' });
  });

  test('a command that cannot start reports the reason, and ends', async () => {
    const runtime = await start();
    const tooLong = await runToEnd(runtime, `: ${'x'.repeat(200_000)}`);
    assert.match(linesOf(tooLong, 'stderr')[0] ?? '', /could not be started: .*E2BIG/);
    assert.deepEqual(done(tooLong), { done: true, exit_code: 1 });
    await runToEnd(runtime, 'cd ..; rm -r workspace');
    const nowhere = await runToEnd(runtime, 'true');
    assert.match(linesOf(nowhere, 'stderr')[0] ?? '', /workspace .* does not exist/);
    assert.equal((await ask(runtime, '/workspace')).text, 'workspace not found\n');
  });

  test('R21 a job ends 2 s after its command, even if other processes hold its output open', async () => {
    const runtime = await start();
    const events = await runToEnd(
      runtime,
      `(while :; do echo more; sleep 0.2; done) & echo $! > pid; setsid sleep 30 & echo ended`,
    );
    assert.deepEqual(done(events), { done: true, exit_code: 0 });
    assert.ok(linesOf(events).length < 60);
    // Its own group goes with the job.
    const pid = Number(readFileSync(join(runtime.workspace, 'pid'), 'utf8'));
    await eventually('the grandchild is gone', () => !isAlive(pid));
    const startMs = performance.now();
    assert.deepEqual(linesOf(await runToEnd(runtime, 'sleep 60 & echo next')), ['next']);
    const ms = performance.now() - startMs;
    assert.ok(ms > 1900 && ms < 20_000, String(ms));
  });

  test("R21 also: output before the command's end is not lost, however much it is", async () => {
    const runtime = await start();
    const waits = 'until [ -e ../go ]; do sleep 0.02; done';
    const stream = await follow(
      runtime,
      await exec(runtime, `${waits}; sleep 30 & seq 20000 & wait $!`),
    );
    writeFileSync(join(runtime.folder, 'go'), '');
    await stream.ended;
    assert.equal(linesOf(stream.events).length, 20_000);
    assert.deepEqual(done(stream.events), { done: true, exit_code: 0 });
  });

  async function canceled(runtime: RuntimeProcess, command: string) {
    const job = await exec(runtime, command);
    const stream = await follow(runtime, job);
    await stream.event(({ data }) => data.line === 'ready');
    const answer = await ask(runtime, `/exec/${job}/cancel`, { method: 'POST' });
    assert.equal(answer.status, 202);
    await stream.ended;
    return { job, events: stream.events };
  }

  test('R22 a cancel sends TERM to the whole group, then KILL', async () => {
    const runtime = await start({ env: { DROVER_WORKER_KILL_MS: '400' } });
    const polite = await canceled(
      runtime,
      `trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done`,
    );
    assert.deepEqual(linesOf(polite.events), ['ready', 'asked']);
    assert.deepEqual(done(polite.events), { done: true, exit_code: 3 });
    const deaf = await canceled(runtime, `trap '' TERM; echo ready; while :; do sleep 0.05; done`);
    assert.deepEqual(done(deaf.events), { done: true, exit_code: -1, signal: 'KILL' });
    const stopped = await canceled(
      runtime,
      `trap 'exit 4' TERM; echo ready; kill -STOP $$; sleep 60`,
    );
    assert.equal(done(stopped.events)?.exit_code, 4);
    const again = await ask(runtime, `/exec/${deaf.job}/cancel`, { method: 'POST' });
    assert.equal(again.status, 202);
    const unknown = `/exec/${'0'.repeat(32)}/cancel`;
    assert.equal((await ask(runtime, unknown, { method: 'POST' })).status, 404);
    assert.equal((await ask(runtime, `/exec/${deaf.job}/cancel`)).status, 405);
  });

  test('R23 SIGTERM ends the job, and its readers get the end', async () => {
    const runtime = await start({ env: { DROVER_WORKER_KILL_MS: '400' } });
    const job = await exec(
      runtime,
      `trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done`,
    );
    const streams = [await follow(runtime, job), await follow(runtime, job, '0')];
    await streams[0]?.event(({ data }) => data.line === 'ready');
    const startMs = performance.now();
    runtime.program.signal('SIGTERM');
    for (const stream of streams) {
      await stream.ended;
      assert.deepEqual(done(stream.events), { done: true, exit_code: -1, signal: 'KILL' });
    }
    assert.equal((await runtime.program.ended).code, 0);
    assert.ok(performance.now() - startMs < 15_000);
  });

  test('if a runtime is killed, its command is killed too', async () => {
    const runtime = await start();
    const job = await exec(
      runtime,
      `trap '' TERM HUP; echo $$ > pid; echo ready; while :; do sleep 0.05; done`,
    );
    const stream = await follow(runtime, job);
    await stream.event(({ data }) => data.line === 'ready');
    const pid = Number(readFileSync(join(runtime.workspace, 'pid'), 'utf8'));
    runtime.program.signal('SIGKILL');
    await assert.rejects(stream.ended);
    await eventually('the command is gone', () => !isAlive(pid));
  });

  test('a runtime whose lifetime has expired ends as if it were asked to', async () => {
    const runtime = await start({ args: ['--lifetime', '1s'] });
    const events = await runToEnd(runtime, 'sleep 60');
    assert.deepEqual(done(events), { done: true, exit_code: -1, signal: 'TERM' });
    const { code, stderr } = await runtime.program.ended;
    assert.deepEqual(
      [code, stderr],
      [0, 'worker-runtime: The lifetime of this runtime is over.\n'],
    );
    assert.equal(existsSync(runtime.workspace), true);
  });
});
