// The message about the setup, and the table behind it.

import assert from 'node:assert/strict';
import { setupReport } from '../../../extension/project/setup-report.ts';

const report = (...checks: readonly (readonly [string, boolean, string])[]) =>
  setupReport(
    JSON.stringify({ checks: checks.map(([name, ok, message]) => ({ name, ok, message })) }),
  );

suite('the report of the setup', () => {
  test('it reports success, or names the first problem', () => {
    const well = report(['git', true, '2.43.0'], ['node', true, '24']);
    assert.deepEqual([well.level, well.sentence], ['info', 'Drover is ready: 2 checks passed.']);
    const ill = report(
      ['git', true, '2.43.0'],
      ['configuration', false, 'line 1: `land` is a value'],
      ['agent', false, 'claude was not found.'],
    );
    assert.equal(ill.level, 'warning');
    assert.equal(
      ill.sentence,
      'Setup, configuration: Line 1: `land` is a value. And 1 more problem.',
    );
    assert.match(ill.table, /^ok {7}git .*\nMISSING {2}configuration/);
  });
});
