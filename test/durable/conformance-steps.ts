// Conformance: which steps are stored, which run again, and which do not.

import assert from 'node:assert/strict';
import { compatibilityNumber } from '../../server/core/compatibility.ts';
import { type DurableRun, LostLease, type WorkflowInfo } from '../../server/durable/port.ts';
import type { Check } from './conformance.ts';
import { ManualClock } from './manual-clock.ts';
import { registerTestWorkflows } from './workflows.ts';

const inQueue = { queue: 'q' };

export function describeSteps(check: Check, takesClock: boolean): void {
  check('stores the result of a workflow', async (bench) => {
    const { durable } = await bench.open();
    durable.workflow('add', async (run, input: { a: number; b: number }) => {
      const sum = await run.step('sum', async () => input.a + input.b);
      return { sum, list: [sum, null, 'text'] };
    });
    await durable.launch();
    await durable.start('add', 'w1', { a: 1, b: 2 }, inQueue);
    const ended = await durable.wait('w1');
    const expected: WorkflowInfo = {
      id: 'w1',
      name: 'add',
      queue: 'q',
      state: 'succeeded',
      result: { sum: 3, list: [3, null, 'text'] },
      error: null,
      // A single machine's database has no other machines that could not continue its work.
      compatibility: ended.compatibility === null ? null : compatibilityNumber,
    };
    assert.deepEqual(ended, expected);
    assert.deepEqual(await durable.get('w1'), expected);
  });

  check('knows nothing of an id that was never started', async (bench) => {
    const { durable } = await bench.open();
    assert.equal(await durable.get('nothing'), null);
    await assert.rejects(durable.wait('nothing'));
    await durable.cancel('nothing');
    await durable.resume('nothing');
    assert.equal(await durable.get('nothing'), null);
  });

  check('runs a step once under its name, with its result passed through JSON', async (bench) => {
    const { durable } = await bench.open();
    let runs = 0;
    durable.workflow('twice', async (run) => {
      const body = async (): Promise<unknown> => {
        runs += 1;
        return { at: new Date(0), nothing: undefined };
      };
      const [first, same] = await Promise.all([run.step('one', body), run.step('one', body)]);
      const again = await run.step('one', body);
      const nothing = await run.step('none', async () => undefined);
      return { first, same, again, nothing: nothing === undefined };
    });
    await durable.launch();
    await durable.start('twice', 'w1', null, inQueue);
    const at = { at: '1970-01-01T00:00:00.000Z' };
    assert.deepEqual((await durable.wait('w1')).result, {
      first: at,
      same: at,
      again: at,
      nothing: true,
    });
    assert.equal(runs, 1);
  });

  check('ends a workflow whose body throws as failed, with the message', async (bench) => {
    const { durable } = await bench.open();
    durable.workflow('bad', async (run) => {
      await run.step('fall', async () => {
        throw new Error('the sky is falling');
      });
    });
    await durable.launch();
    await durable.start('bad', 'w1', null, inQueue);
    const info = await durable.wait('w1');
    assert.deepEqual([info.state, info.error], ['failed', 'the sky is falling']);
  });

  check('writes a commit and the table of the user together', async (bench) => {
    const store = await bench.open();
    let runs = 0;
    store.durable.workflow('note', async (run) => {
      return run.commit('write', async (tx) => {
        runs += 1;
        await store.addNote(tx, 'written');
        return 'stored';
      });
    });
    await store.durable.launch();
    await store.durable.start('note', 'w1', null, inQueue);
    assert.equal((await store.durable.wait('w1')).result, 'stored');
    assert.deepEqual([await store.notes(), runs], [['written'], 1]);
  });

  check('rolls back a commit that throws, and does not remember it', async (bench) => {
    const store = await bench.open();
    let tries = 0;
    store.durable.workflow('note', async (run) => {
      return run.commit('write', async (tx) => {
        tries += 1;
        await store.addNote(tx, `try ${tries}`);
        if (tries === 1) throw new Error('not yet');
        return tries;
      });
    });
    await store.durable.launch();
    await store.durable.start('note', 'w1', null, inQueue);
    assert.equal((await store.durable.wait('w1')).state, 'failed');
    assert.deepEqual(await store.notes(), []);
    await store.durable.resume('w1');
    assert.equal((await store.durable.wait('w1')).result, 2);
    assert.deepEqual(await store.notes(), ['try 2']);
  });

  check('a write while the claim is held is rolled back if it throws', async (bench) => {
    const store = await bench.open();
    let tries = 0;
    store.durable.workflow('note', (run) =>
      run.whileHeld(async (tx) => {
        tries += 1;
        await store.addNote(tx, `try ${tries}`);
        if (tries === 1) throw new Error('not yet');
        return tries;
      }),
    );
    await store.durable.launch();
    await store.durable.start('note', 'w1', null, inQueue);
    assert.equal((await store.durable.wait('w1')).error, 'not yet');
    await store.durable.resume('w1');
    assert.equal((await store.durable.wait('w1')).result, 2);
    assert.deepEqual(await store.notes(), ['try 2']);
  });

  check('a write while the claim is held is not remembered, a commit is', async (bench) => {
    const store = await bench.open();
    let lives = 0;
    store.durable.workflow('note', async (run) => {
      lives += 1;
      await run.whileHeld((tx) => store.addNote(tx, 'each life'));
      await run.commit('once', (tx) => store.addNote(tx, 'one life'));
      if (lives === 1) throw new Error('not yet');
    });
    await store.durable.launch();
    await store.durable.start('note', 'w1', null, inQueue);
    await store.durable.wait('w1');
    await store.durable.resume('w1');
    assert.equal((await store.durable.wait('w1')).state, 'succeeded');
    assert.deepEqual(await store.notes(), ['each life', 'one life', 'each life']);
  });

  check('a canceled workflow can still write while it ends, but commit nothing', async (bench) => {
    const store = await bench.open();
    const begun = Promise.withResolvers<void>();
    let refusal: unknown;
    store.durable.workflow('note', async (run) => {
      begun.resolve();
      await new Promise((resolve) => run.signal.addEventListener('abort', resolve));
      await run.whileHeld((tx) => store.addNote(tx, 'ended'));
      try {
        await run.commit('late', (tx) => store.addNote(tx, 'committed'));
      } catch (error) {
        refusal = error;
        throw error;
      }
    });
    await store.durable.launch();
    await store.durable.start('note', 'w1', null, inQueue);
    await begun.promise;
    await store.durable.cancel('w1');
    assert.equal((await store.durable.wait('w1')).state, 'cancelled');
    assert(refusal instanceof LostLease);
    assert.deepEqual(await store.notes(), ['ended']);
  });

  check('starts a workflow once, however often it is asked', async (bench) => {
    const { durable } = await bench.open();
    const inputs: unknown[] = [];
    durable.workflow('once', async (_run, input) => {
      inputs.push(input);
      return input;
    });
    await durable.start('once', 'w1', 'first', inQueue);
    await durable.start('once', 'w1', 'second', inQueue);
    await durable.launch();
    assert.equal((await durable.wait('w1')).result, 'first');
    await durable.start('once', 'w1', 'third', inQueue);
    assert.equal((await durable.wait('w1')).result, 'first');
    assert.deepEqual(inputs, ['first']);
  });

  check('starts a workflow exactly if the transaction of the caller commits', async (bench) => {
    const store = await bench.open();
    store.durable.workflow('echo', async (_run, input) => input);
    await store.durable.launch();
    await assert.rejects(
      store.transaction(async (tx) => {
        await store.addNote(tx, 'never');
        await store.durable.startIn(tx, 'echo', 'w1', 1, inQueue);
        throw new Error('no');
      }),
    );
    assert.deepEqual([await store.durable.get('w1'), await store.notes()], [null, []]);
    await store.transaction(async (tx) => {
      await store.addNote(tx, 'kept');
      await store.durable.startIn(tx, 'echo', 'w2', 2, inQueue);
    });
    store.durable.wake();
    assert.equal((await store.durable.wait('w2')).result, 2);
    assert.deepEqual(await store.notes(), ['kept']);
  });

  check('close leaves the work pending, and a later launch continues it', async (bench) => {
    const first = await bench.open();
    registerTestWorkflows(first, { folder: bench.folder });
    const ran: string[] = [];
    let reached: () => void = () => undefined;
    const inSecondStep = new Promise<void>((resolve) => (reached = resolve));
    first.durable.workflow('slow', async (run) => {
      await run.step('a', async () => void ran.push('a'));
      await run.step('b', (signal) => {
        ran.push('b');
        reached();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      });
    });
    await first.durable.launch();
    await first.durable.start('slow', 'w1', null, inQueue);
    await inSecondStep;
    await first.close();

    const second = await bench.open();
    assert.equal((await second.durable.get('w1'))?.state, 'pending');
    second.durable.workflow('slow', async (run) => {
      await run.step('a', async () => void ran.push('a again'));
      await run.step('b', async () => void ran.push('b again'));
      return 'done';
    });
    await second.durable.launch();
    assert.equal((await second.durable.wait('w1')).result, 'done');
    assert.deepEqual(ran, ['a', 'b', 'b again']);
  });

  check('resumes with a newer body whose steps were inserted and reordered', async (bench) => {
    const ran: string[] = [];
    const step = <Tx>(run: DurableRun<Tx>, name: string): Promise<string> =>
      run.step(name, async () => {
        ran.push(name);
        return `${name} of the old body`;
      });
    const old = await bench.open();
    let reached: () => void = () => undefined;
    const oldIsBlocked = new Promise<void>((resolve) => (reached = resolve));
    old.durable.workflow('changing', async (run) => {
      await step(run, 'a');
      await step(run, 'b');
      reached();
      await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()));
      await step(run, 'c');
    });
    await old.durable.launch();
    await old.durable.start('changing', 'w1', null, inQueue);
    await oldIsBlocked;
    await old.close();

    const next = await bench.open();
    next.durable.workflow('changing', async (run) => [
      await run.step('inserted', async () => 'new'),
      await run.step('b', async () => 'again'),
      await run.step('a', async () => 'again'),
      await run.step('c', async () => 'new'),
    ]);
    await next.durable.launch();
    const expected = ['new', 'b of the old body', 'a of the old body', 'new'];
    assert.deepEqual((await next.durable.wait('w1')).result, expected);
    assert.deepEqual(ran, ['a', 'b']);
  });

  if (takesClock) {
    check('sleeps until a time of the wall clock, across a restart', async (bench) => {
      const clock = new ManualClock();
      const untilMs = clock.now() + 3_600_000;
      const told: string[] = [];
      const settings = { folder: bench.folder, tell: (line: string) => void told.push(line) };
      const first = await bench.open({ clock });
      registerTestWorkflows(first, settings);
      await first.durable.launch();
      await first.durable.start('sleep', 'w1', { untilMs }, inQueue);
      await clock.advance(1_800_000);
      assert.equal((await first.durable.get('w1'))?.state, 'running');
      await first.close();
      assert.deepEqual(told, ['sleeping w1']);

      const second = await bench.open({ clock });
      registerTestWorkflows(second, settings);
      await second.durable.launch();
      await clock.advance(1_799_000);
      assert.equal((await second.durable.get('w1'))?.state, 'running');
      await clock.advance(1_000);
      assert.equal((await second.durable.wait('w1')).result, 'slept');
    });
  }
}
