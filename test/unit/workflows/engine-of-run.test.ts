// A workflow's body writes only while its process holds the claim.

import assert from 'node:assert/strict';
import { type DurableRun, LostLease } from '../../../server/durable/port.ts';
import { addHint, askQuestion, openQuestions, type Tx } from '../../../server/store/port.ts';
import type { AgentStill } from '../../../server/workflows/kit/agent-still.ts';
import { PartSession } from '../../../server/workflows/attempt/part-session.ts';
import { engineOfRun } from '../../../server/workflows/kit/engine-of-run.ts';
import { type Engine, Switchboard } from '../../../server/workflows/kit/engine-ports.ts';
import type { Claim } from '../../../server/store/port.ts';
import { addTasks, memoryStore, type TestStore } from '../store/memory-store.ts';

suite('the engine of one workflow', () => {
  let project: TestStore;
  let id: string;
  let reported: unknown[];
  setup(async () => {
    project = await memoryStore();
    id = (await addTasks(project, [{ title: 'A' }]))['A'] ?? '';
    reported = [];
  });
  teardown(() => project.close());

  /** Of a process that has lost its claim, or holds it still. */
  function engine(isHeld: boolean, machineId = ''): ReturnType<typeof engineOfRun> {
    const { store } = project;
    const parts = {
      store,
      machineId,
      foldersOfMachine: <T>(body: (tx: Tx) => Promise<T>) => store.transaction(body),
      settings: () => ({ budget: { loopRepeats: 3 } }),
      switchboard: new Switchboard(),
      report: (error: unknown) => void reported.push(error),
      mask: (text: string) => text,
    };
    const run = {
      whileHeld: async <T>(body: (tx: Tx) => Promise<T>) => {
        if (!isHeld) throw new LostLease('w1');
        return store.transaction(body);
      },
    };
    return engineOfRun(parts as unknown as Engine, run as unknown as DurableRun<Tx>);
  }

  const asked = (): Promise<unknown> =>
    project.store.transaction((tx) =>
      askQuestion(tx, project.sources, {
        taskId: id,
        attempt: 1,
        requestId: 'q1',
        kind: 'question',
        text: 'which one?',
        choices: [],
      }),
    );

  /** As one that stood still at the start of a part does when it wakes. */
  const withdraw = (of: Engine): Promise<void> => {
    const claim = { taskId: id, attempt: 1 } as Claim;
    const still = { runsAs: () => undefined } as unknown as AgentStill;
    const { signal } = new AbortController();
    return new PartSession(of, claim, { part: id, still }, signal).withdrawOld();
  };

  test('it withdraws no question of an agent that another process has started since', async () => {
    await asked();
    await assert.rejects(withdraw(engine(false)), LostLease);
    assert.equal((await openQuestions(project.store.db, id)).length, 1);
    await withdraw(engine(true));
    assert.equal((await openQuestions(project.store.db, id)).length, 0);
  });

  test('it withdraws questions for an agent that another process has started since', async () => {
    const claim = { taskId: id, attempt: 1 } as Claim;
    const still = { runsAs: () => undefined } as unknown as AgentStill;
    const { signal } = new AbortController();
    const session = new PartSession(engine(false), claim, { part: id, still }, signal);
    const question = {
      type: 'question',
      requestId: 'q1',
      kind: 'question',
      text: '?',
      choices: [],
    };
    assert.equal(await session.ask(question as never, signal), null);
    assert.deepEqual(await openQuestions(project.store.db, id), []);
  });

  test('it reports its writes to the feed', async () => {
    const heard = Promise.withResolvers<void>();
    project.store.feed.onAppend(heard.resolve);
    const { store } = engine(true);
    await store.transaction((tx) => addHint(tx, store.sources, id, 'look here'));
    await heard.promise;
  });

  test('a lost claim is not an error to report', () => {
    const { report } = engine(false);
    report(new LostLease('w1'), 'storing an API retry');
    assert.deepEqual(reported, []);
    const trouble = new Error('the disk is full');
    report(trouble, 'storing an API retry');
    assert.deepEqual(reported, [trouble]);
  });

  test('folders are released by their machine, unless another process may use them', async () => {
    await assert.rejects(
      engine(false).foldersOfMachine(async () => 'given back'),
      LostLease,
    );
    const ofFleet = engine(false, 'north');
    assert.equal(await ofFleet.foldersOfMachine(async () => 'given back'), 'given back');
  });
});
