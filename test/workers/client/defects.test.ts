// Whole jobs on a runtime of upstream's form with each defect of §5.3: one instance, one execution, and the work comes back.

import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StockOptions } from '../../doubles/stock-worker.ts';
import { useStockJobs } from '../support/stock-jobs.ts';

suite('whole jobs on defective runtimes', () => {
  const jobs = useStockJobs();

  const defects: Readonly<Record<string, () => Partial<StockOptions>>> = {
    'done stored while a reader is closed': () => ({ endsBeforeDone: { left: 2 } }),
    'a reader stalled until the end': () => ({ stalls: { left: 1, after: 2 }, bufferMax: 3 }),
    'eviction while sending': () => ({ evicts: [2, 4] }),
    'no numbers': () => ({ ids: false }),
    'a legacy runtime without done, and 404 afterwards': () => ({ isLegacy: true }),
    'all of a legacy runtime and a buffer of three': () => ({ isLegacy: true, bufferMax: 3 }),
  };
  for (const [name, options] of Object.entries(defects)) {
    test(`§5.3 ${name}: the job runs once and its work arrives`, async () => {
      const runs = join(jobs.folder, 'runs');
      appendFileSync(runs, '');
      const { outcome, provisioner, lines } = await jobs.ran({
        stock: options,
        script: `echo run >> '${runs}'; sleep 0.05; for i in 1 2 3 4 5 6; do echo $i; done; rm b.txt; echo c > c.txt; exit 3`,
      });
      assert.deepEqual(outcome, { kind: 'ran', exitCode: 3, signal: null });
      assert.equal(readFileSync(runs, 'utf8'), 'run\n');
      assert.equal(provisioner.specs.length, 1);
      assert.deepEqual(jobs.slot(), ['a.txt', 'c.txt']);
      assert.equal(lines.at(-1), '6');
      assert.deepEqual(lines.toSorted(), [...new Set(lines)].toSorted(), 'nothing twice');
    });
  }

  test('§5.3 a job that a legacy runtime forgets while it runs is run again elsewhere', async () => {
    const { outcome, provisioner } = await jobs.ran({
      script: 'cat > c.txt; echo begun; sleep 0.4',
      stock: (count) => (count === 1 ? { isLegacy: true, cutAfter: 2 } : {}),
    });
    assert.deepEqual(outcome, { kind: 'ran', exitCode: 0, signal: null });
    assert.deepEqual([provisioner.specs.length, provisioner.destroyed.length], [2, 2]);
  });
});
