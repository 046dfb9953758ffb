// Which settings apply, and which are shown, even while a backend that was started with others is
// still running.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SetupProposal } from '../../server/core/work/gate-proposal.ts';
import type { StatusSnapshot } from '../../server/protocol/api.ts';
import { writesOneFile } from './support/agent-scripts.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('settings', function () {
  this.timeout(60_000);
  const project = useProjects();

  test('init proposes values that no other setting determines, and no number of workers for a shared file', async () => {
    const env = { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '' };
    const files = { 'package.json': '{ "scripts": { "test": "true" } }\n' };
    const asked = async (settings?: string): Promise<readonly string[]> => {
      const here = project({ env, files, ...(settings !== undefined && { settings }) });
      if (settings === undefined) rmSync(join(here.root, '.drover.toml'), { force: true });
      const { proposal } = await here.json<{ proposal?: SetupProposal }>(['init']);
      assert.equal(proposal?.gate?.command ?? 'npm test', 'npm test');
      const again = await here.json<{ proposal?: SetupProposal }>(['init']);
      assert.equal(again.proposal, undefined);
      return proposal?.asks ?? [];
    };
    assert.deepEqual(await asked(), ['agent', 'gate', 'workers']);
    assert.deepEqual(await asked('[gate]\ncommand = "make"\n'), ['agent']);
    assert.deepEqual(await asked('agent = "codex"\n[gate]\ncommand = "make"\n'), []);
  });

  test('the next command sees a change, with its source', async () => {
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
