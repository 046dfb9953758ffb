// The event stream of the worker runtime (worker contract §5, §9): replay, gaps, slow readers, and an end that always arrives.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jobKeptMs, keepaliveMs, killAfterMs } from '../../../server/workers/wire.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { sized } from '../../tier.ts';
import { ask, exec, follow, runToEnd, type SeenEvent } from '../support/http.ts';
import { useRuntimes, type RuntimeProcess } from '../support/runtime-process.ts';

const gap = 'stream replay gap: some earlier events were evicted from the worker buffer';
const isDone = ({ data }: SeenEvent): boolean => data.done === true;
/**
 * A command continues when this file exists; the test creates it by another way than the runtime.
 */
const untilGo = 'until [ -e ../go ]; do sleep 0.02; done';

function go({ folder }: RuntimeProcess): void {
  writeFileSync(join(folder, 'go'), '');
}

async function replay(runtime: RuntimeProcess, job: string, lastEventId?: string) {
  const stream = await follow(runtime, job, lastEventId);
  await stream.ended;
  return stream.events;
}

suite('worker runtime: event stream', () => {
  const start = useRuntimes();

  test("the time limits are the contract's", () => {
    assert.deepEqual([keepaliveMs, jobKeptMs, killAfterMs], [15_000, 900_000, 10_000]);
  });

  test('R14 a quiet job sends its headers at once, and comments', async () => {
    const runtime = await start({ env: { DROVER_WORKER_KEEPALIVE_MS: '150' } });
    const job = await exec(runtime, untilGo);
    const startMs = performance.now();
    const stream = await follow(runtime, job);
    assert.ok(performance.now() - startMs < 1000);
    const { headers } = stream.response;
    assert.deepEqual(
      [headers['content-type'], headers['cache-control']],
      ['text/event-stream', 'no-cache'],
    );
    assert.match(await stream.comment(), /^:/);
    await eventually('further comments', () => stream.comments.length > 2);
    assert.deepEqual(stream.events, []);
    go(runtime);
    await stream.ended;
    assert.deepEqual(
      stream.events.map(({ id }) => id),
      [0],
    );
  });

  const starts: readonly (readonly [string | undefined, number])[] = [
    [undefined, 0],
    ['0', 1],
    ['3', 4],
    ['-1', 0],
    ['-7', 0],
    ['', 0],
    ['x', 0],
    ['+2', 0],
    ['2.5', 0],
    ['1e1', 0],
    // The end is repeated rather than left out.
    ['5', 5],
    ['99', 5],
    ['9'.repeat(400), 5],
  ];

  test('R15 a reader starts after its Last-Event-ID', async () => {
    const runtime = await start();
    const job = await exec(runtime, 'seq 5');
    assert.equal((await replay(runtime, job)).length, 6);
    for (const [lastEventId, first] of starts) {
      const events = await replay(runtime, job, lastEventId);
      assert.equal(events[0]?.id, first, `Last-Event-ID: ${String(lastEventId)}`);
      assert.deepEqual(events.at(-1), { id: 5, data: { done: true, exit_code: 0 } });
    }
  });

  test('R15 also: after the newest event of a running job, only new events arrive', async () => {
    const runtime = await start();
    const job = await exec(runtime, `echo early; ${untilGo}; echo late`);
    const early = await follow(runtime, job);
    await early.event(({ data }) => data.line === 'early');
    const ahead = await follow(runtime, job, '500');
    go(runtime);
    await ahead.ended;
    assert.deepEqual(
      ahead.events.map(({ id }) => id),
      [1, 2],
    );
  });

  test('R16 a reader that missed events gets a notice and the last thousand', async () => {
    const runtime = await start();
    const job = await exec(runtime, 'seq 2500');
    await (
      await follow(runtime, job, '5000')
    ).ended;
    const notice = { id: 1, data: { line: gap, stream: 'stderr' } };
    const events = await replay(runtime, job, '0');
    assert.deepEqual(events[0], notice);
    // 2,500 lines and the end are the events 0 to 2500.
    assert.deepEqual(
      events.slice(1).map(({ id }) => id),
      Array.from({ length: 1000 }, (_, i) => 1501 + i),
    );
    // A request without a header gets no notice of missing events; one before all ids neither,
    // unless it is the one just before.
    assert.equal((await replay(runtime, job))[0]?.id, 1501);
    assert.equal((await replay(runtime, job, '-2'))[0]?.id, 1501);
    assert.deepEqual((await replay(runtime, job, '-1'))[0], { ...notice, id: 0 });
    assert.equal((await replay(runtime, job, '1500'))[0]?.id, 1501);
  });

  test("R16 also: output before a command's first reader is kept for that reader", async () => {
    const runtime = await start({ env: { DROVER_WORKER_STALLED_MS: '30000' } });
    const count = 3000;
    // So few bytes fit into the pipe: the file tells that all of them are there to be read.
    const job = await exec(runtime, `seq ${String(count)}; touch ../printed`);
    await eventually('all is printed', () => existsSync(join(runtime.folder, 'printed')));
    // Each answer is a turn of the runtime, in which it reads as much as it wants.
    for (let turn = 0; turn < 5; turn++) await ask(runtime, '/health');
    const ids = (await replay(runtime, job)).map(({ id }) => id);
    assert.deepEqual(
      ids,
      Array.from({ length: count + 1 }, (_, id) => id),
    );
  });

  test('R16 also: a command that prints a lot and is never read still ends', async () => {
    const runtime = await start();
    await exec(runtime, 'seq 300000; touch ../printed');
    await eventually('all is printed', () => existsSync(join(runtime.folder, 'printed')));
  });

  test('R16 also: the command waits for a slow reader, and nothing is lost', async () => {
    // A loaded machine may leave this process without a turn for longer than the second of the contract.
    const runtime = await start({ env: { DROVER_WORKER_STALLED_MS: '30000' } });
    const count = 60_000;
    const job = await exec(
      runtime,
      `${untilGo}; seq ${String(count)} | sed 's/$/ ${'x'.repeat(200)}/'`,
    );
    const stream = await follow(runtime, job);
    go(runtime);
    for (let rest = 0; rest < 8; rest++) {
      stream.response.pause();
      await delay(200);
      stream.response.resume();
      await delay(20);
    }
    await stream.ended;
    assert.deepEqual(
      stream.events.map(({ id }) => id),
      Array.from({ length: count + 1 }, (_, id) => id),
    );
  });

  test('R16 also: a reader that stops delays nothing, and gets the end when it reads again', async () => {
    const runtime = await start();
    const job = await exec(runtime, `${untilGo}; seq 100000 | sed 's/$/ ${'x'.repeat(200)}/'`);
    const still = await follow(runtime, job);
    still.response.pause();
    const brisk = await follow(runtime, job);
    go(runtime);
    await brisk.event(isDone);
    // Even a fast reader may be kept from reading for a second; it gets a notice of the missing
    // events.
    const ids = brisk.events.filter(({ data }) => data.line !== gap).map(({ id }) => id);
    const jumps = ids.filter((id, at) => id !== (ids[at - 1] ?? -1) + 1).length;
    assert.equal(brisk.events.length - ids.length, jumps);
    assert.equal(ids.at(-1), 100_000);
    still.response.resume();
    await still.ended;
    assert.deepEqual(still.events.at(-1), brisk.events.at(-1));
    const notices = still.events.filter(({ data }) => data.line === gap);
    assert.ok(notices.length > 0);
    // The notice covers exactly the missing events.
    const at = still.events.findIndex(({ data }) => data.line === gap);
    assert.equal(still.events[at]?.id, (still.events[at - 1]?.id ?? -2) + 1);
    assert.ok((still.events[at + 1]?.id ?? 0) > (still.events[at]?.id ?? 0));
  });

  test('R17 every reader gets the end, whenever it connects', async function () {
    this.timeout(600_000);
    const runtime = await start();
    const readersPerJob = 20;
    const jobs = sized(50, 500);
    for (let run = 0; run < jobs; run++) {
      const job = await exec(runtime, 'echo a; echo b');
      const readers = Array.from({ length: readersPerJob }, async (_, index) => {
        await delay(index % 10);
        const stream = await follow(runtime, job, index % 2 === 0 ? undefined : '1');
        await stream.ended;
        return stream.events.at(-1);
      });
      for (const last of await Promise.all(readers)) {
        assert.deepEqual(last, { id: 2, data: { done: true, exit_code: 0 } });
      }
    }
  });

  test('R18 the end is repeated to a reader that already has it', async () => {
    const runtime = await start();
    const job = await exec(runtime, 'echo a; exit 9');
    const [, end] = await replay(runtime, job);
    assert.deepEqual(await replay(runtime, job, '1'), [end]);
    assert.deepEqual(end, { id: 1, data: { done: true, exit_code: 9 } });
  });

  test('R19 several readers can read an ended job for a while, then it is unknown', async () => {
    const runtime = await start({ env: { DROVER_WORKER_KEEP_MS: '1500' } });
    const job = await exec(runtime, 'echo a');
    const [one, two] = await Promise.all([replay(runtime, job), replay(runtime, job)]);
    assert.deepEqual(one, two);
    // A job that runs is kept, however long it takes, and so is an ended one while the next runs.
    const longer = await exec(runtime, untilGo);
    assert.equal((await replay(runtime, job)).length, 2);
    await eventually('the job is forgotten', async () => {
      const { status, text } = await ask(runtime, `/exec/${job}/cancel`, { method: 'POST' });
      return status === 404 && text === 'unknown job_id\n';
    });
    const { status, text } = await ask(runtime, `/exec/${job}/stream`);
    assert.deepEqual([status, text], [404, 'unknown job_id\n']);
    const stream = await follow(runtime, longer);
    go(runtime);
    await stream.event(isDone);
  });

  test('many jobs with a lot of output do not fill the memory', async function () {
    this.timeout(120_000);
    const runtime = await start();
    const jobs: string[] = [];
    const print = `head -c 30000000 /dev/zero | tr '\\0' x`;
    for (let count = 0; count < 6; count++) {
      const job = await exec(runtime, print);
      await (
        await follow(runtime, job, '99999')
      ).ended;
      jobs.push(job);
    }
    // The oldest have kept their end alone, and say so.
    const [notice, end] = await replay(runtime, jobs[0] ?? '', '3');
    assert.equal(notice?.data.line, gap);
    assert.equal(end?.data.exit_code, 0);
    assert.ok((await replay(runtime, jobs.at(-1) ?? '')).length > 900);
    assert.equal((await runToEnd(runtime, 'echo a')).length, 2);
  });
});
