// The list of agents to choose from, by what `drover doctor --json` says of this machine.

import assert from 'node:assert/strict';
import { agentRows } from '../../../extension/project/agent-rows.ts';
import { agentKinds } from '../../../server/core/plan/task.ts';

const doctor = JSON.stringify({
  agents: [
    { kind: 'codex', found: false, version: null, signed_in: null, remedy: 'npm i -g codex' },
    { kind: 'claude', found: true, version: '2.1.0', signed_in: true, remedy: null },
    { kind: 'gemini', found: true, version: '1.0', signed_in: false, remedy: 'run gemini' },
  ],
});

suite('agents to choose from', () => {
  test('come by name, with their state; what is ready stands first', () => {
    const rows = agentRows(doctor, 'claude');
    assert.equal(rows.length, agentKinds.length);
    const [first] = rows;
    assert.equal(first?.label, 'Claude Code');
    assert.equal(first?.group, 'Ready');
    assert.equal(first?.description, 'current · 2.1.0 · signed in');
    const gemini = rows.find(({ kind }) => kind === 'gemini');
    assert.deepEqual([gemini?.group, gemini?.detail], ['Not signed in', 'run gemini']);
    const last = rows.at(-1);
    assert.deepEqual(
      [last?.label, last?.group, last?.detail],
      ['Codex', 'Not installed', 'npm i -g codex'],
    );
  });

  test('are all offered where nothing is known of the machine', () => {
    for (const said of ['', 'not JSON', '{}', '{"agents":7}', '{"agents":[null]}']) {
      const rows = agentRows(said, '');
      assert.deepEqual(
        rows.map(({ kind }) => kind),
        [...agentKinds],
        said,
      );
    }
  });
});
