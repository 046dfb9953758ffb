// Agents that are not there, come later, or cannot start.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeAgent, writesOneFile } from './support/agent-scripts.ts';
import { panelClient } from './support/panel-client.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('agents that cannot start', () => {
  const project = useProjects();

  test('one that was installed after the backend started is found at the next run, and works', async () => {
    const here = project();
    const late = join(here.folder, 'late');
    mkdirSync(late);
    const env = { DROVER_AGENT_PATH: 'late-agent' };
    await here.expect(0, ['init']);
    const id = await here.add('One');
    const refused = await here.drover(['run'], { env });
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /"late-agent" was not found/);
    const backend = here.backendPid();
    assert.notEqual(backend, null, 'the backend that did not find it is running');
    writeAgent(late, writesOneFile, 'its-helper');
    writeAgent(late, 'its-helper', 'late-agent');
    const PATH = `${late}:${here.env['PATH'] ?? ''}`;
    await here.expect(0, ['run'], { env: { ...env, PATH } });
    assert.equal(here.backendPid(), backend, 'the same backend has run it');
    assert.match(here.git('show', `main:${id}.txt`), /work of/);
  });

  test('the checks before a run name a missing one in a short sentence, with its remedy apart', async () => {
    const here = project({ env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '' } });
    await beginPlan(here, ['a']);
    const client = await panelClient(here);
    try {
      const { checks } = await client.call('preflight', { agent: 'claude' });
      const found = checks.find(({ name }) => name === 'agent');
      assert.deepEqual(found?.agent, { kind: 'claude', problem: 'missing' });
      assert.equal(found?.message, 'Claude Code ("claude") was not found or cannot be executed.');
      assert.match(found?.remedy ?? '', /^Install it \(npm install -g/);
    } finally {
      client.close();
    }
  });
});
