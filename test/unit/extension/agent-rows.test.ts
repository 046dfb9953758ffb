// The list of agents to choose from, by the output of `drover doctor --json` on this machine.

import assert from 'node:assert/strict';
import { agentRows } from '../../../extension/project/agent-rows.ts';
import { agentKinds } from '../../../server/core/plan/task.ts';

const doctor = JSON.stringify({
  agents: [
    {
      kind: 'codex',
      found: false,
      version: null,
      signed_in: null,
      remedy: 'npm install -g @acme/codex-acp.',
    },
    { kind: 'drover-code', found: false, version: null, signed_in: null, remedy: 'install it.' },
    { kind: 'claude', found: true, version: '2.1.0', signed_in: true, remedy: null },
    { kind: 'gemini', found: true, version: '1.0', signed_in: false, remedy: 'run gemini' },
  ],
});

suite('agents to choose from', () => {
  test('they are sorted by name, with their state, and ready ones come first', () => {
    const rows = agentRows(doctor, 'claude');
    assert.equal(rows.length, agentKinds.length);
    const [first] = rows;
    assert.equal(first?.label, 'Claude Code');
    assert.equal(first?.group, 'Ready');
    assert.equal(first?.description, 'current · 2.1.0 · signed in');
    const gemini = rows.find(({ kind }) => kind === 'gemini');
    assert.deepEqual([gemini?.group, gemini?.detail], ['Not signed in', 'Run gemini']);
    // The command line is typed as it is: without the full stop of the sentence.
    const codex = rows.find(({ kind }) => kind === 'codex');
    assert.equal(codex?.install, 'npm install -g @acme/codex-acp');
    assert.match(codex?.detail ?? '', /@acme\/codex-acp$/);
    const other = rows.find(({ kind }) => kind === 'drover-code');
    assert.deepEqual([other?.install, other?.detail], [null, 'Install it.']);
    assert.equal(
      rows.findIndex(({ group }) => group === 'Not installed'),
      rows.length - 2,
    );
  });

  test('an agent that does not report its version is not ready, and its output is shown', () => {
    const remedy = '/bin/amp does not report its version: it ended with exit code 1.';
    const amp = { kind: 'amp', found: true, version: null, signed_in: true, remedy, broken: true };
    const row = agentRows(JSON.stringify({ agents: [amp] }), '').find(({ kind }) => kind === 'amp');
    assert.deepEqual([row?.group, row?.detail, row?.install], ['Not working', remedy, null]);
  });

  test('all agents are offered if nothing is known about the machine', () => {
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
