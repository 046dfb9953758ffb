// A fleet whose machines are disconnected, killed and suspended, with several real processes and a
// real PostgreSQL.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFleet, type OpenedFleet } from '../../server/durable/fleet/open.ts';
import { isDatabaseTrouble } from '../../server/durable/fleet/trouble.ts';
import { LostLease } from '../../server/durable/port.ts';
import { removeFolder } from '../remove-folder.ts';
import { startChild, type TestChild } from './child-process.ts';
import type { ChildOrders } from './child.ts';
import { leaseThatNeverEndsMs } from './conformance-processes.ts';
import {
  closeTestPostgres,
  fleetHarness,
  testPostgres,
  type FleetTestTables,
} from './fleet-harness.ts';
import { startStallingProxy } from './stalling-proxy.ts';
import { readLog, sixSteps } from './workflows.ts';
import { sized } from '../tier.ts';

const takeOverAfterMs = 5_000;
const histories = sized(1, 3);
const workflows = 24;

interface HistoryBench {
  readonly url: string;
  readonly folder: string;
  /** A machine of the fleet. */
  readonly child: (orders?: Partial<ChildOrders>) => TestChild;
}

function onBench(body: (bench: HistoryBench) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-history-'));
    const url = await fleetHarness.createStore(folder);
    const children: TestChild[] = [];
    const child: HistoryBench['child'] = (orders) => {
      const started = startChild({
        adapter: 'fleet',
        location: url,
        folder,
        leaseMs: takeOverAfterMs,
        ...orders,
      });
      children.push(started);
      return started;
    };
    try {
      await body({ url, folder, child });
    } finally {
      for (const started of children) started.kill('SIGKILL');
      await Promise.all(children.map(({ ended }) => ended));
      await fleetHarness.dropStore(url);
      removeFolder(folder);
    }
  };
}

/** A small pseudo-random number generator that gives the same numbers for the same seed. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

suite('fleet: histories', () => {
  suiteSetup(() => testPostgres());
  suiteTeardown(() => closeTestPostgres());

  for (const mend of ['mend', 'mendForNew'] as const) {
    const back = mend === 'mend' ? 'is back' : 'has only new connections';
    test(
      `a disconnected machine stops, loses its work to others, stores nothing more, and continues when it ${back}`,
      onBench(async ({ url, folder, child }) => {
        const proxy = await startStallingProxy((await testPostgres()).port);
        const road = new URL(url);
        road.port = String(proxy.port);
        const options = { url: road.href, prepare: false, takeOverAfterMs };
        const cutOff = await openFleet<FleetTestTables>(options);
        try {
          await cutOffInMidStep(cutOff, { cut: proxy.cut, mend: proxy[mend] }, async () => {
            const other = child({ leaseMs: leaseThatNeverEndsMs });
            await other.said('launched');
            return other;
          });
          assert.deepEqual(readLog(folder), ['z2', 'z3']);
        } finally {
          proxy.mend();
          await cutOff.close();
          await proxy.close();
        }
      }),
    );
  }

  for (let seed = 1; seed <= histories; seed += 1) {
    test(
      `machines are killed and stopped, seed ${seed}`,
      onBench((bench) => runHistory(bench, chance(seed))),
    );
  }
});

async function cutOffInMidStep(
  { durable }: OpenedFleet<FleetTestTables>,
  proxy: { readonly cut: () => void; readonly mend: () => void },
  startOther: () => Promise<TestChild>,
): Promise<void> {
  const inside = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const fenced = Promise.withResolvers<unknown>();
  durable.workflow('zombie', async (run) => {
    if (run.workflowId === 'after') return 'back';
    await run.step('z1', async () => undefined);
    const late = run.step('z2', async (signal) => {
      inside.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      stopped.resolve();
    });
    late.catch((error: unknown) => fenced.resolve(error));
    await late;
    return 'not cut off';
  });
  await durable.launch();
  await durable.start('zombie', 'w1', null, { queue: 'q' });
  await inside.promise;
  const other = await startOther();
  proxy.cut();
  await stopped.promise;
  await other.said('ran z3');
  proxy.mend();
  assert.ok((await fenced.promise) instanceof LostLease);
  assert.equal((await askAgain(() => durable.wait('w1'))).result, 'done');
  await other.close();
  await askAgain(() => durable.start('zombie', 'after', null, { queue: 'q' }));
  assert.equal((await askAgain(() => durable.wait('after'))).result, 'back');
}

/**
 * Until its first heartbeat succeeds, a machine that was disconnected drops its connections, and
 * queries on one report it.
 */
async function askAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseTrouble(error)) throw error;
    }
  }
}

async function runHistory(
  { url, folder, child }: HistoryBench,
  random: (below: number) => number,
): Promise<void> {
  const queues = { q: { perProcess: 3, concurrency: 6 } };
  const machines = [child({ queues }), child({ queues }), child({ queues })];
  await Promise.all(machines.map((machine) => machine.said('launched')));
  const here = await openFleet<FleetTestTables>({ url, prepare: false, takeOverAfterMs });
  try {
    const ids = Array.from({ length: workflows }, (_, index) => `w${index}`);
    for (const id of ids) await here.durable.start('six', id, { start: 100 }, { queue: 'q' });
    let asleep: TestChild | null = null;
    for (let turn = 0; turn < 4; turn += 1) {
      // A failure occurs whenever some more of them have ended.
      await here.durable.wait(`w${turn * 4 + random(4)}`);
      const victim = machines.splice(random(machines.length), 1)[0];
      if (asleep === null && random(2) === 0) {
        victim?.kill('SIGSTOP');
        asleep = victim ?? null;
      } else {
        victim?.kill('SIGKILL');
        asleep?.kill('SIGCONT');
        asleep = null;
      }
      machines.push(child({ queues }));
    }
    const ends = await Promise.all(ids.map((id) => here.durable.wait(id)));
    const other = ends.filter(({ result }) => result !== 121);
    assert.deepEqual(other, []);
    const notes = await here.db.selectFrom('notes').select('text').execute();
    assert.deepEqual(
      notes.map(({ text }) => text).toSorted(),
      ids.map((id) => `${id} s3`).toSorted(),
    );
    const done = new Set(readLog(folder));
    assert.ok(ids.every((id) => sixSteps.every((step) => done.has(`${id} ${step}`))));
  } finally {
    await here.close();
  }
}
