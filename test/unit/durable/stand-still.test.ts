// A run that is out of touch with the others is paused if possible; any later request waits for
// that.

import assert from 'node:assert/strict';
import { LostLease, type StandStill } from '../../../server/durable/port.ts';
import { type StepStore, WorkflowRun } from '../../../server/durable/run.ts';

const store = {} as StepStore<unknown>;
const context = { clock: { now: () => 0, timer: () => () => {} }, crashPoint: undefined };
const newRun = (): WorkflowRun<unknown> => new WorkflowRun(context, 'w1', store, new Map());

/** Records its calls; `begun` decides whether it can be paused. */
function still(stands: boolean) {
  const told: string[] = [];
  const begun = Promise.withResolvers<void>();
  const body: StandStill = {
    begin: async () => {
      told.push('begin');
      await begun.promise;
      told.push('stands');
      return stands;
    },
    goOn: async () => void told.push('go on'),
    end: async () => void told.push('end'),
  };
  return { body, told, begun: begun.resolve };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

suite('a suspended run', () => {
  test('it continues in place, and only once it is suspended', async () => {
    const run = newRun();
    const { body, told, begun } = still(true);
    const over = Promise.withResolvers<string>();
    const result = run.standingStill(body, () => over.promise);
    run.standStill();
    run.standStill();
    run.goOn();
    await turn();
    assert.deepEqual(told, ['begin']);
    begun();
    await turn();
    assert.deepEqual(told, ['begin', 'stands', 'go on']);
    run.goOn();
    over.resolve('done');
    assert.equal(await result, 'done');
    assert.deepEqual([run.cause, run.signal.aborted, told.length], [null, false, 3]);
  });

  test('it ends without continuing, before its signal is received', async () => {
    const run = newRun();
    const { body, told, begun } = still(true);
    const result = run.standingStill(
      body,
      () =>
        new Promise((_, reject) => {
          run.signal.addEventListener('abort', () => {
            told.push('abort');
            reject(run.signal.reason);
          });
        }),
    );
    run.standStill();
    begun();
    await turn();
    run.stop('lost');
    run.goOn();
    await assert.rejects(result, LostLease);
    assert.deepEqual(told, ['begin', 'stands', 'end', 'abort']);
    assert.equal(run.cause, 'lost');
  });

  test('it is lost if it cannot be suspended, or supports no suspension', async () => {
    const bare = newRun();
    bare.standStill();
    assert.deepEqual([bare.cause, bare.signal.aborted], ['lost', true]);
    const run = newRun();
    const { body, told, begun } = still(false);
    void run.standingStill(body, () => new Promise(() => {}));
    run.standStill();
    begun();
    await turn();
    await turn();
    // Stopped like any agent: one on a worker ends its job there first.
    assert.deepEqual([run.cause, run.signal.aborted], ['lost', true]);
    assert.deepEqual(told, ['begin', 'stands']);
  });

  test('a run that was resumed before suspending it failed is not lost', async () => {
    const run = newRun();
    const { body, begun } = still(false);
    void run.standingStill(body, () => new Promise(() => {}));
    run.standStill();
    run.goOn();
    begun();
    await turn();
    assert.equal(run.cause, null);
  });
});
