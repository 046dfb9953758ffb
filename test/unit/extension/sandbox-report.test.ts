// *Drover: Check Sandbox*: one sentence and a table of what was tried.

import assert from 'node:assert/strict';
import { sandboxReport } from '../../../extension/project/sandbox-report.ts';

function answer(...stopped: readonly boolean[]): string {
  const checks = [{ name: 'sandbox', ok: true, message: 'bubblewrap 0.8.0, verified' }];
  const sandbox = stopped.map((one, n) => ({ probe: `probe${'s'.repeat(n)}`, stopped: one }));
  return JSON.stringify({ checks, sandbox });
}

suite('the check of the sandbox', () => {
  test('it reports that all attempts were stopped', () => {
    assert.deepEqual(sandboxReport(answer(true, true)), {
      level: 'info',
      sentence: 'The sandbox stopped all 2 attempts to get out.',
      table: 'Sandbox: bubblewrap 0.8.0, verified\nprobe   stopped\nprobes  stopped',
    });
  });

  test('it reports that some attempts got out', () => {
    const { level, sentence, table } = sandboxReport(answer(true, false, false));
    assert.equal(level, 'warning');
    assert.equal(sentence, '2 of 3 attempts got out of the sandbox. Agents can do the same.');
    assert.match(table, /^probess {2}GETS OUT$/m);
  });

  test('it tries nothing without a project', () => {
    const { level, sentence } = sandboxReport(JSON.stringify({ checks: [] }));
    assert.equal(level, 'warning');
    assert.match(sentence, /not tested/);
  });
});
