// Conformance: order, limits, cancel and resume within one process.

import assert from 'node:assert/strict';
import type { Check } from './conformance.ts';
import { readLog, registerTestWorkflows } from './workflows.ts';

export function describeQueues(check: Check): void {
  check('takes higher priorities first, then the order of starting', async (bench) => {
    const { durable } = await bench.open();
    const order: string[] = [];
    durable.workflow('mark', async (run) => void order.push(run.workflowId));
    durable.queue('q', { perProcess: 1 });
    const starts: readonly (readonly [string, number | undefined])[] = [
      ['low', -1],
      ['normal 1', undefined],
      ['high 1', 5],
      ['normal 2', 0],
      ['high 2', 5],
      ['top', 90],
    ];
    for (const [id, priority] of starts) {
      await durable.start('mark', id, null, {
        queue: 'q',
        ...(priority !== undefined && { priority }),
      });
    }
    await durable.launch();
    await Promise.all(starts.map(([id]) => durable.wait(id)));
    assert.deepEqual(order, ['top', 'high 1', 'high 2', 'normal 1', 'normal 2', 'low']);
  });

  check('continues after the last step when work was handed over', async (bench) => {
    const { durable } = await bench.open();
    const ran: string[] = [];
    let isAllowed = false;
    durable.workflow('move', async (run) => {
      await run.step('first', async () => void ran.push('first'));
      await run.step('second', async () => {
        ran.push('second');
        if (isAllowed) return;
        isAllowed = true;
        throw run.handOver();
      });
      return 'moved';
    });
    await durable.launch();
    await durable.start('move', 'w1', null, { queue: 'q' });
    assert.equal((await durable.wait('w1')).result, 'moved');
    assert.deepEqual(ran, ['first', 'second', 'second']);
  });

  for (const limits of [{ perProcess: 3 }, { concurrency: 3 }, { perProcess: 9, concurrency: 3 }]) {
    check(`keeps the limits ${JSON.stringify(limits)} of a queue`, async (bench) => {
      const { durable } = await bench.open();
      let running = 0;
      let most = 0;
      const threeRun = Promise.withResolvers<void>();
      durable.workflow('count', async (run) => {
        running += 1;
        most = Math.max(most, running);
        if (running === 3) threeRun.resolve();
        await run.step('turn', async () => {
          await threeRun.promise;
          // Enough time for a fourth one to start, if it were allowed.
          await new Promise((resolve) => setTimeout(resolve, 5));
        });
        running -= 1;
      });
      durable.queue('q', limits);
      await durable.launch();
      const ids = Array.from({ length: 20 }, (_, index) => `w${index}`);
      for (const id of ids) await durable.start('count', id, null, { queue: 'q' });
      await Promise.all(ids.map((id) => durable.wait(id)));
      assert.equal(most, 3);
    });
  }

  check('runs everything of a queue without limits at once', async (bench) => {
    const { durable } = await bench.open();
    const count = 150;
    let running = 0;
    let open: () => void = () => undefined;
    const allRun = new Promise<void>((resolve) => (open = resolve));
    durable.workflow('gather', async () => {
      running += 1;
      if (running === count) open();
      await allRun;
    });
    const ids = Array.from({ length: count }, (_, index) => `w${index}`);
    for (const id of ids) await durable.start('gather', id, null, { queue: 'q' });
    await durable.launch();
    await Promise.all(ids.map((id) => durable.wait(id)));
  });

  check('obeys a changed limit at once', async (bench) => {
    const store = await bench.open();
    registerTestWorkflows(store, { folder: bench.folder });
    store.durable.queue('q', { perProcess: 0 });
    await store.durable.launch();
    await store.durable.start('meet', 'meet-1', null, { queue: 'q' });
    await store.durable.start('meet', 'meet-2', null, { queue: 'q' });
    assert.equal((await store.durable.get('meet-1'))?.state, 'pending');
    store.durable.queue('q', { perProcess: 1 });
    store.durable.queue('q', { perProcess: 2 });
    const ends = await Promise.all([store.durable.wait('meet-1'), store.durable.wait('meet-2')]);
    assert.deepEqual(
      ends.map(({ state }) => state),
      ['succeeded', 'succeeded'],
    );
  });

  check('cancels a workflow that has not started', async (bench) => {
    const store = await bench.open();
    registerTestWorkflows(store, { folder: bench.folder });
    await store.durable.start('six', 'w1', { start: 0 }, { queue: 'q' });
    await store.durable.cancel('w1');
    assert.equal((await store.durable.get('w1'))?.state, 'cancelled');
    await store.durable.launch();
    assert.equal((await store.durable.wait('w1')).state, 'cancelled');
    assert.deepEqual(readLog(bench.folder), []);
  });

  check(
    'cancels a running workflow: the signal aborts, and the body has returned',
    async (bench) => {
      const store = await bench.open();
      let hangs: () => void = () => undefined;
      const hanging = new Promise<void>((resolve) => (hangs = resolve));
      registerTestWorkflows(store, { folder: bench.folder, tell: () => hangs() });
      await store.durable.launch();
      await store.durable.start('hang', 'w1', null, { queue: 'q' });
      await hanging;
      await store.durable.cancel('w1');
      assert.deepEqual(readLog(bench.folder), ['w1 first', 'w1 aborted']);
      const info = await store.durable.wait('w1');
      assert.deepEqual([info.state, info.result, info.error], ['cancelled', null, null]);
      await store.durable.cancel('w1');
      assert.deepEqual(await store.durable.get('w1'), info);
    },
  );

  check('a cancel does not undo a workflow that has succeeded', async (bench) => {
    const { durable } = await bench.open();
    durable.workflow('quick', async () => 'done');
    await durable.launch();
    await durable.start('quick', 'w1', null, { queue: 'q' });
    await durable.wait('w1');
    await durable.cancel('w1');
    await durable.resume('w1');
    assert.equal((await durable.get('w1'))?.state, 'succeeded');
  });

  check('resumes a cancelled workflow from its memos', async (bench) => {
    const { durable } = await bench.open();
    const ran: string[] = [];
    let reached: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => (reached = resolve));
    durable.workflow('twice', async (run) => {
      const first = await run.step('a', async () => ran.push('a'));
      await run.step('b', (signal) => {
        ran.push('b');
        if (ran.length > 2) return Promise.resolve();
        reached();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      });
      return first;
    });
    await durable.launch();
    await durable.start('twice', 'w1', null, { queue: 'q' });
    await blocked;
    await durable.cancel('w1');
    await durable.resume('w1');
    assert.equal((await durable.wait('w1')).result, 1);
    assert.deepEqual(ran, ['a', 'b', 'b']);
  });

  check('a workflow may start others and wait for them', async (bench) => {
    const { durable } = await bench.open();
    durable.queue('parents', { perProcess: 1 });
    durable.queue('children', { perProcess: 1 });
    durable.workflow('child', async (_run, input: number) => input * 2);
    durable.workflow('parent', async (run) => {
      let sum = 0;
      for (const n of [1, 2, 3]) {
        const id = `${run.workflowId}.${n}`;
        await durable.start('child', id, n, { queue: 'children' });
        sum += (await durable.wait(id)).result as number;
      }
      return sum;
    });
    await durable.launch();
    await durable.start('parent', 'w1', null, { queue: 'parents' });
    assert.equal((await durable.wait('w1')).result, 12);
  });

  check('close ends also while a workflow waits for another one', async (bench) => {
    const store = await bench.open();
    const { durable } = store;
    let waits: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (waits = resolve));
    durable.workflow('child', async (run) => run.sleepUntil(Number.MAX_SAFE_INTEGER));
    durable.workflow('parent', async () => {
      await durable.start('child', 'c1', null, { queue: 'q' });
      const ended = durable.wait('c1');
      waits();
      await ended;
    });
    await durable.launch();
    await durable.start('parent', 'w1', null, { queue: 'q' });
    await waiting;
    await store.close();
    const again = await bench.open();
    assert.equal((await again.durable.get('w1'))?.state, 'pending');
    assert.equal((await again.durable.get('c1'))?.state, 'pending');
  });
}
