import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  agentsOfTable,
  storedConfinedFacts,
  versionOf,
  withConfinedAgents,
} from '../../docs/confined-agents.ts';

suite('real agents in docs/isolation.md', () => {
  test("the table matches the real agents' behavior (npm run docs writes it)", () => {
    const text = readFileSync(new URL('../../../docs/isolation.md', import.meta.url), 'utf8');
    assert.equal(withConfinedAgents(text), text);
  });

  test('each agent was observed in the version that the tests drive', () => {
    const stored = storedConfinedFacts();
    for (const kind of agentsOfTable) {
      const hint = 'run test/e2e/confined-agents.test.ts with DROVER_WRITE_DOCS=1';
      assert.equal(stored[kind]?.version, versionOf(kind), `${kind}: ${hint}`);
    }
  });
});
