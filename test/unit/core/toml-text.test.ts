// Single values set in the text of a `.drover.toml`.

import assert from 'node:assert/strict';
import { sampleToml } from '../../../server/config/sample.ts';
import { parseSettingsText } from '../../../server/config/toml-file.ts';
import { withTable, withTopValue } from '../../../server/core/settings/toml-text.ts';

suite('text of .drover.toml', () => {
  test('values replace their samples, and only they have an effect', () => {
    const sample = sampleToml();
    const top = withTopValue(sample, 'max_workers', 4);
    const text = withTable(withTable(top, 'gate', { command: 'npm test' }) ?? '', 'agent', {
      kind: 'codex',
    });
    const { entries, problems } = parseSettingsText(text ?? '', '.drover.toml');
    assert.deepEqual(problems, []);
    const set = entries.map(({ key, raw }) => [key, raw]);
    assert.deepEqual(Object.fromEntries(set), {
      max_workers: 4,
      'gate.command': 'npm test',
      'agent.kind': 'codex',
    });
    assert.equal(text?.split('\n').length, sample.split('\n').length + 2);
    const again = withTopValue(text ?? '', 'max_workers', 2);
    assert.match(again, /^max_workers = 2$/m);
    assert.doesNotMatch(again, /^max_workers = 4$/m);
  });

  test('in a file without samples, tables are added at the end and top-level values at the start', () => {
    const text = withTable(withTopValue('[agent]\nkind = "amp"\n', 'plan', 1), 'gate', {
      needs: 2,
    });
    assert.equal(text, 'plan = 1\n\n[agent]\nkind = "amp"\n\n[gate]\nneeds = 2\n');
  });
});
