// Which settings count, and which are shown: also while a backend still lives that was started with others.

import assert from 'node:assert/strict';
import type { StatusSnapshot } from '../../server/protocol/api.ts';
import { writesOneFile } from './support/agent-scripts.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('settings', function () {
  this.timeout(60_000);
  const project = useProjects();

  test('a change is seen by the next command, with its source', async () => {
    const here = project({ agent: writesOneFile, settings: 'max_workers = 2\n' });
    await beginPlan(here, ['t1']);
    await here.expect(0, ['run', '--gate', 'test -e t1.txt']);
    assert.notEqual(here.backendPid(), null);
    here.write('repo/.drover.toml', 'max_workers = 4\ndefault_labels = ["later"]\n');
    const env = { DROVER_TASK_TIMEOUT: '7m' };
    const { config } = await here.json<StatusSnapshot>(['status'], { env });
    assert.deepEqual(config['max_workers'], { value: 4, source: 'project' });
    assert.deepEqual(config['task_timeout'], { value: '7m', source: 'env' });
    assert.deepEqual(config['gate.command'], { value: 'test -e t1.txt', source: 'flag' });
    assert.deepEqual(config['max_attempts'], { value: 3, source: 'default' });
    const id = await here.add('A task of the changed file');
    assert.deepEqual((await here.task(id)).labels, ['later']);
  });
});
