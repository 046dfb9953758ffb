// A minimal path from a plan to landed work: init, import, run, and nothing is done twice.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { writesOneFile } from './support/agent-scripts.ts';
import { firstParents, landedTasks } from './support/history.ts';
import { useProjects } from './support/suite-projects.ts';

const smallEpic = fileURLToPath(new URL('../fixtures/import/small-epic.jsonl', import.meta.url));

const ids = ['CUR-1', 'CUR-2', 'CUR-3', 'CUR-4', 'CUR-5', 'CUR-6'];
const blockers: readonly (readonly [string, string])[] = [
  ['CUR-1', 'CUR-2'],
  ['CUR-1', 'CUR-3'],
  ['CUR-2', 'CUR-4'],
  ['CUR-3', 'CUR-4'],
  ['CUR-4', 'CUR-5'],
];

suite('from a plan to landed work', function () {
  this.timeout(180_000);
  const project = useProjects({ isEachProcess: true });

  test('an imported epic runs to its end once', async () => {
    const here = project({
      agent: writesOneFile.replace('cat >', 'echo "$id" >> ../../ran.txt; cat >'),
    });
    await here.expect(0, ['init']);
    await here.expect(0, ['import', smallEpic]);
    const out = await here.expect(0, ['run', '--workers', '3']);
    assert.match(out, /6 completed/);

    const status = await here.status();
    const { counts, progress, run } = status;
    assert.deepEqual([counts.total, counts.completed, progress], [6, 6, 100]);
    assert.deepEqual([run?.active, run?.workers, run?.result_branch], [false, 3, 'main']);
    assert.deepEqual(status.stuck, []);
    assert.equal(status.target?.pending, 0);

    const landed = landedTasks(here);
    assert.deepEqual([...landed].sort(), ids);
    for (const [first, second] of blockers) {
      assert.ok(landed.indexOf(first) < landed.indexOf(second), `${first} before ${second}`);
    }
    const titles = new Map(status.tasks.map((task) => [task.id, task.title]));
    for (const { parents, subject, trailers } of firstParents(here).slice(1)) {
      const id = trailers['Drover-Task'] ?? '';
      assert.equal(subject, `drover: ${id} ${titles.get(id)}`);
      assert.equal(trailers['Drover-Attempt'], '1');
      assert.equal(parents.length, 2);
    }
    for (const id of ids) assert.equal(here.read(`repo/${id}.txt`), `work of ${id}\n`);
    assert.equal(here.git('status', '--porcelain'), '');
    assert.equal(here.git('branch', '--list', 'drover/*'), '');
    assert.deepEqual(here.read('ran.txt').trim().split('\n').sort(), ids);

    const before = here.git('rev-parse', 'main');
    await here.expect(0, ['run', '--workers', '3']);
    assert.equal(here.git('rev-parse', 'main'), before);
    assert.deepEqual(here.read('ran.txt').trim().split('\n').sort(), ids);
    assert.equal((await here.status()).counts.completed, 6);
  });

  test('one worker runs the tasks one after the other, in order', async () => {
    const here = project({
      agent: writesOneFile.replace('cat >', 'echo "$id" >> ../../ran.txt; cat >'),
    });
    await here.expect(0, ['init']);
    await here.expect(0, ['import', smallEpic]);
    await here.expect(0, ['run', '--workers', '1', '--gate', 'sleep 0.1']);
    assert.deepEqual(here.read('ran.txt').trim().split('\n'), ids);
    assert.deepEqual(landedTasks(here), ids);
  });
});
