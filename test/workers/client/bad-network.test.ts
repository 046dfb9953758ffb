// The execution client follows a job of the worker runtime over a network that cuts connections.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { followJob, type JobEnd } from '../../../server/workers/client/follow-job.ts';
import { startJob } from '../../../server/workers/client/worker-calls.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { startBadNetwork, type BadNetwork } from '../support/bad-network.ts';
import { follow as followDirectly } from '../support/http.ts';
import { useRuntimes, type RuntimeProcess } from '../support/runtime-process.ts';

const times = { firstDelayMs: 5, longestDelayMs: 40, giveUpMs: 60_000, quietMs: 60_000 };

interface Followed {
  readonly lines: string[];
  /** Events that the client has said to be missing. */
  lost: number;
  readonly end: Promise<JobEnd>;
  readonly runtime: RuntimeProcess;
  readonly job: string;
}

suite('execution client over a bad network', () => {
  const start = useRuntimes();
  let network: BadNetwork | null = null;
  teardown(async () => {
    await network?.close();
    network = null;
  });

  async function follow(command: string, bytesMax: number): Promise<Followed> {
    const runtime = await start();
    const job = await startJob(runtime, command, AbortSignal.timeout(60_000));
    assert.ok(job.ok);
    network = await startBadNetwork(runtime.url, bytesMax);
    const worker = { url: network.url, token: runtime.token };
    const followed: { lines: string[]; lost: number } = { lines: [], lost: 0 };
    const output = {
      onLine: (_: string, line: string) => void followed.lines.push(line),
      // The notice itself has the number of the first event that is missing.
      onGap: (count: number | null) => void (followed.lost += count ?? 1),
      onAway: () => undefined,
    };
    const signal = AbortSignal.timeout(60_000);
    const end = followJob(worker, job.value, output, signal, { times });
    return Object.assign(followed, { end, runtime, job: job.value });
  }

  test('a command whose answer is lost is requested again by its key, and runs once', async () => {
    const runtime = await start();
    // The first answer is lost, the second request meets a network that is away.
    const answers = [0, 0, Number.POSITIVE_INFINITY];
    network = await startBadNetwork(runtime.url, (connection) => answers[connection - 1] ?? 0);
    const worker = { url: network.url, token: runtime.token };
    const signal = AbortSignal.timeout(60_000);
    const again = { times, isGone: async () => false, stop: signal };
    const command = 'echo begun >> begun; until [ -e go ]; do sleep 0.02; done';
    const job = await startJob(worker, command, signal, again);
    assert.ok(job.ok, JSON.stringify(job));
    writeFileSync(join(runtime.workspace, 'go'), '');
    await (
      await followDirectly(runtime, job.value)
    ).ended;
    assert.equal(readFileSync(join(runtime.workspace, 'begun'), 'utf8'), 'begun\n');
    assert.equal(network.cuts(), 2);
    const another = await startJob(runtime, 'true', signal);
    assert.ok(another.ok && another.value !== job.value);
  });

  const done = { kind: 'done', exitCode: 3, signal: null };
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n + 1));

  test('C24 also: with an interruption every two kilobytes, wherever it falls, each line arrives once', async () => {
    // Fewer than the runtime keeps, so that no time between two connections can lose one.
    const followed = await follow(
      'for i in $(seq 30); do seq $((i*30-29)) $((i*30)); sleep 0.03; done; exit 3',
      2000,
    );
    assert.deepEqual(await followed.end, done);
    assert.deepEqual(followed.lines, numbers(900));
    assert.equal(followed.lost, 0);
    assert.ok((network?.cuts() ?? 0) > 15);
  });

  test('C21 also: lines lost while nothing is connected are counted, and nothing arrives twice', async () => {
    const followed = await follow('seq 60000; exit 3', 60_000);
    assert.deepEqual(await followed.end, done);
    const seen = followed.lines.map(Number);
    assert.ok(seen.every((n, at) => at === 0 || n > (seen[at - 1] ?? 0)));
    assert.equal(seen.length + followed.lost, 60_000);
    assert.equal(seen.at(-1), 60_000);
  });

  test('if the network fails while the job ends, the rest arrives when it is back', async () => {
    const followed = await follow(
      'seq 400; until [ -e go ]; do sleep 0.02; done; seq 401 800; exit 3',
      Number.POSITIVE_INFINITY,
    );
    await eventually('the first lines are there', () => followed.lines.length === 400);
    network?.breakDown();
    writeFileSync(join(followed.runtime.workspace, 'go'), '');
    // Past the broken network.
    await (
      await followDirectly(followed.runtime, followed.job, '9999')
    ).ended;
    network?.repair();
    assert.deepEqual(await followed.end, done);
    assert.deepEqual(followed.lines, numbers(800));
  });
});
