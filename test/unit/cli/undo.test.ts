// `drover undo`: the list that it shows first, and how it waits for a gate that takes longer than a
// request.

import assert from 'node:assert/strict';
import { drover } from '../../doubles/drover.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';

suite('command undo', () => {
  const view = {
    id: 'task-1',
    reverts: ['f'.repeat(40)],
    dependents: ['task-2'],
    tasks: ['task-1'],
    line: 'main',
    pull_requests: [],
    tree: null,
    state: 'running' as const,
    workflow: 'undo/1',
    after: 7,
  };
  const ending = (type: string) => {
    const data = { workflow: 'undo/1', reason: 'without task-1, the gate is red' };
    const event = {
      id: 'e',
      seq: 9,
      timestamp: 0,
      at_ms: 0,
      type,
      task_id: null,
      epic_id: null,
      run_id: null,
      data,
    };
    const pages = [[], [{ ...event, data: { workflow: 'undo/0' } }], [{ ...event, seq: 10 }]];
    return memoryBackend({
      undo: () => view,
      'events.read': () => ({ events: pages.shift() ?? [], seq: 10 }),
    });
  };

  test('it lists the dependents, then waits for the end of a long gate', async () => {
    const backend = ending('landing.undone');
    const { code, out } = await drover(['undo', 'task-1'], backend);
    assert.equal(code, 0);
    assert.match(out, /^Depends on task-1, and stays unchanged: task-2\./u);
    assert.match(out, /task-1 is undone on main/u);
    const asked = backend.calls.filter(({ name }) => name === 'undo');
    assert.deepEqual(
      asked.map(({ params }) => params),
      [{ id: 'task-1', dry_run: true }, { id: 'task-1' }],
    );
  });

  test("in an agent's shell, it names the agent", async () => {
    const backend = memoryBackend({ undo: () => ({ ...view, state: 'undone' as const }) });
    await drover(['undo', 'task-1'], backend, ({ env }) => {
      env['DROVER_TASK_ID'] = 'task-9';
    });
    assert.deepEqual(backend.calls.at(-1)?.params, { id: 'task-1', by: 'agent of task-9' });
  });

  test('it is refused when the gate ends red', async () => {
    const { code, err } = await drover(['undo', 'task-1'], ending('landing.undo_failed'));
    assert.equal(code, 3);
    assert.match(err, /without task-1, the gate is red/u);
  });

  test('a dry run asks the backend once', async () => {
    const backend = ending('landing.undone');
    const { out } = await drover(['undo', 'task-1', '--dry-run', '--json'], backend);
    assert.deepEqual(JSON.parse(out), view);
    assert.equal(backend.calls.length, 1);
  });
});
