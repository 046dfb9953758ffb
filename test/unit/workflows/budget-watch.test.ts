// An agent that goes in circles is stopped between two tools, and continues only if a person wants it to.

import assert from 'node:assert/strict';
import { continueChoice, stopChoice } from '../../../server/core/work/budget.ts';
import type { Claim } from '../../../server/store/port.ts';
import { BudgetWatch } from '../../../server/workflows/attempt/budget-watch.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { memoryStore, addTasks, type TestStore } from '../store/memory-store.ts';

const repeats = 3;
const call = { type: 'tool_call', id: 't', name: 'Bash', title: 'ls', input: 'ls' } as const;
const result = { type: 'tool_result', id: 't', isError: false, text: '' } as const;
const noLimit = { tokens: null, costUsd: null, workedMs: null, turns: null };

suite('an agent in a loop', () => {
  let project: TestStore;
  let asked: string[];
  setup(async () => {
    project = await memoryStore();
    asked = [];
  });
  teardown(() => project.close());

  async function watching(answer: string | null, canResume = true): Promise<BudgetWatch> {
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    const { store, sources } = project;
    const limits = { task: noLimit, epic: noLimit, day: noLimit };
    const engine = {
      store,
      clock: sources.clock,
      launchedAtMs: 7,
      settings: () => ({ budget: { ...limits, loopRepeats: repeats } }),
      driverFor: () => ({ capabilities: { resume: canResume } }),
      report: (error: unknown) => assert.fail(String(error)),
    } as unknown as Engine;
    const claim = { taskId: A, attempt: 1, agent: 'demo', model: null } as unknown as Claim;
    const watch = new BudgetWatch(engine, claim, A, async ({ requestId }) => {
      asked.push(requestId);
      return answer;
    });
    await watch.begin();
    return watch;
  }

  const stopOf = (watch: BudgetWatch): string | undefined => watch.stop?.scope;

  function repeat(watch: BudgetWatch, times: number): void {
    for (let turn = 1; turn <= times; turn += 1) {
      watch.onEvent(call);
      watch.onEvent(result);
    }
  }

  test('the agent is stopped once the last tool has ended, and not before', async () => {
    const watch = await watching(continueChoice);
    repeat(watch, repeats - 1);
    watch.onEvent(call);
    assert.deepEqual([watch.stop, watch.signal.aborted], [null, false]);
    watch.onEvent(result);
    assert.deepEqual([watch.stop?.scope, watch.signal.aborted], ['loop', true]);
    await watch.end();
  });

  test('it continues if a person agrees, and the next question comes after twice as many rounds', async () => {
    const watch = await watching(continueChoice);
    repeat(watch, repeats);
    assert.equal(await watch.mayGoOn(), true);
    assert.deepEqual([watch.stop, watch.signal.aborted], [null, false]);
    repeat(watch, 2 * repeats - 1);
    assert.equal(stopOf(watch), undefined);
    repeat(watch, 1);
    assert.equal(stopOf(watch), 'loop');
    assert.equal(await watch.mayGoOn(), true);
    assert.deepEqual(asked, ['loop/7/1', 'loop/7/2']);
    await watch.end();
  });

  test('it stays stopped if a person says so, or if no answer comes', async () => {
    for (const answer of [stopChoice, null]) {
      const watch = await watching(answer);
      repeat(watch, repeats);
      assert.equal(await watch.mayGoOn(), false);
      assert.equal(watch.stop?.scope, 'loop');
      await watch.end();
    }
  });

  test('no question is asked if nothing was stopped', async () => {
    const watch = await watching(continueChoice);
    assert.equal(await watch.mayGoOn(), false);
    assert.deepEqual(asked, []);
    await watch.end();
  });
});
