// The sources of a follow-up: the finished task, and its conversation if the agent can start from
// that.

import assert from 'node:assert/strict';
import type { AgentDriver } from '../../../server/agents/port.ts';
import type { AttemptRow, Claim } from '../../../server/store/port.ts';
import { continuedWork } from '../../../server/workflows/attempt/earlier-work.ts';
import { tablesOf } from '../../tables.ts';
import {
  addAttempt,
  addTasks,
  memoryStore,
  refusalOf,
  type TestStore,
} from '../store/memory-store.ts';

suite('a follow-up', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  /** The session that the agent of the follow-up starts from. */
  async function sessionFor(
    last: Partial<AttemptRow>,
    { forks = true, agent = 'claude', runsOn = 'local' } = {},
  ): Promise<string | null | undefined> {
    const { Before = '' } = await addTasks(project, [{ title: 'Before', description: 'Why' }]);
    await addAttempt(project, Before, { session_started: 1, summary: 'Done so.', ...last });
    const { After = '' } = await addTasks(project, [{ title: 'After', continues: Before }]);
    const capabilities = forks ? { forks: true } : {};
    const engine = {
      store: project.store,
      machineId: '',
      driverFor: () => ({ capabilities }) as unknown as AgentDriver,
    };
    const claim = { agent, model: null } as unknown as Claim;
    const attempt = { runs_on: runsOn } as AttemptRow;
    const found = await continuedWork(engine, claim, attempt, After);
    assert.deepEqual(
      [found?.title, found?.description, found?.summary],
      ['Before', 'Why', 'Done so.'],
    );
    return found?.sessionId;
  }

  test('it starts from the conversation of the last attempt', async () => {
    assert.equal(await sessionFor({ session_id: 'old' }), 'old');
  });

  const others: readonly (readonly [string, Partial<AttemptRow>, object?])[] = [
    ['whose agent cannot', {}, { forks: false }],
    ['of another agent', {}, { agent: 'codex' }],
    ['on another machine', { machine: 'atlas' }],
    ['that never started', { session_started: 0 }],
    ['that only planned', { planning: 1 }],
    ['on a worker', { runs_on: 'remote' }],
    ['that is to run on a worker', {}, { runsOn: 'remote' }],
  ];
  for (const [what, last, request] of others) {
    test(`it starts a new conversation after one ${what}`, async () => {
      assert.equal(await sessionFor(last, request), null);
    });
  }

  test('it has the epic, agent and model of the task that it continues', async () => {
    const { A = '', B = '' } = await addTasks(project, [
      { title: 'A', agent: 'claude', model: 'opus' },
      { title: 'B' },
    ]);
    await addAttempt(project, A);
    const add = (fields: object) => addTasks(project, [{ title: 'C', continues: A, ...fields }]);
    const rowOf = async (id = '') =>
      (await tablesOf(project.store.db).selectFrom('tasks').selectAll().execute()).find(
        (row) => row.id === id,
      );
    const same = await rowOf((await add({}))['C']);
    assert.deepEqual([same?.agent, same?.model, same?.continues], ['claude', 'opus', A]);
    const other = await rowOf((await add({ agent: 'codex' }))['C']);
    assert.deepEqual([other?.agent, other?.model], ['codex', null]);
    const refused = await refusalOf(addTasks(project, [{ title: 'D', continues: B }]));
    assert.match(refused.message, /No agent has worked on .* yet, so no conversation exists/);
  });
});
