// Each event caused by a command names its user and machine; the engine's own events name none.

import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import type { EventView } from '../../server/protocol/api.ts';
import { useProjects } from './support/suite-projects.ts';

suite('events of commands', () => {
  const project = useProjects();

  test('events name the user and the machine, and can be listed by either', async () => {
    const here = project({ env: { DROVER_MACHINE_NAME: 'north' }, isEachProcess: true });
    await here.expect(0, ['init']);
    const id = await here.add('One');
    await here.expect(0, ['edit', id, '--title', 'Two']);
    await here.expect(0, ['run']);
    const list = async (...more: readonly string[]): Promise<readonly EventView[]> => {
      const text = await here.expect(0, ['events', '--json', ...more]);
      return text
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as EventView]));
    };
    const actor = { person: userInfo().username, machine: 'north' };
    const all = await list();
    for (const type of ['task.created', 'run.started', 'task.edited'])
      assert.deepEqual(all.find((event) => event.type === type)?.data['actor'], actor, type);
    for (const type of ['task.claimed', 'task.completed', 'run.finished'])
      assert.equal(all.find((event) => event.type === type)?.data['actor'], undefined, type);
    const named = all.filter(({ data }) => data['actor'] !== undefined);
    assert.deepEqual(await list('--by', actor.person), named);
    assert.deepEqual(await list('--by', 'north'), named);
    assert.deepEqual(await list('--by', 'nobody-else'), []);
  });
});
