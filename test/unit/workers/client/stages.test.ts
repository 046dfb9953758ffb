// Stages of a job that overlap, identified by their traces, and pauses that are short at first.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packUpload } from '../../../../server/workers/client/pack.ts';
import { planUpload } from '../../../../server/workers/client/upload-plan.ts';
import { healthPauses, healthTimes } from '../../../../server/workers/client/worker-calls.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { useStockJobs } from '../../../workers/support/stock-jobs.ts';

suite('stages of a job', () => {
  const jobs = useStockJobs();
  const { ran, slot } = jobs;

  test('an upload is packed while its worker is created', async () => {
    const { outcome, lines } = await ran({
      script: 'cat > /dev/null; cat a.txt',
      prepare: (made) => {
        const create = made.create.bind(made);
        made.create = async (spec) => {
          rmSync(join(jobs.root, 'a.txt'));
          return await create(spec);
        };
      },
    });
    assert.deepEqual(outcome, { kind: 'ran', exitCode: 0, signal: null });
    assert.deepEqual(lines, ['a'], 'the worker has the file as it was before');
  });

  test('a worker is destroyed while its result is written into the worktree', async () => {
    let before: readonly string[] = [];
    const { outcome } = await ran({
      prepare: (made) => {
        const destroy = made.destroy.bind(made);
        made.destroy = async (ref) => {
          before = slot();
          await eventually('the result is here', () => slot().includes('c.txt'));
          return await destroy(ref);
        };
      },
    });
    assert.equal(outcome.kind, 'ran');
    assert.deepEqual(before, ['a.txt', 'b.txt']);
  });

  test('an upload of usual size is packed completely before it is read', async () => {
    writeFileSync(join(jobs.root, 'large.bin'), randomBytes(600_000));
    const none = { untracked: [], droverIgnored: new Set<string>(), submodules: [] };
    const plan = planUpload(jobs.root, { ...none, tracked: ['large.bin', 'a.txt'] });
    assert.ok(plan.ok);
    const { body, sent } = packUpload(plan.value, []);
    assert.deepEqual([...(await sent).keys()], ['a.txt', 'large.bin']);
    const [size] = [readFileSync(join(jobs.root, 'large.bin')).length];
    let bytes = 0;
    for await (const chunk of body) bytes += (chunk as Buffer).length;
    assert.ok(bytes > size);
  });

  test('a worker that is nearly ready is asked again at once, and then less and less often', () => {
    const pauses = healthPauses(healthTimes);
    const first = Array.from({ length: 17 }, () => pauses.next().value);
    assert.deepEqual(
      first,
      [10, 20, 40, 80, 160, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2000, 2000],
    );
  });
});
