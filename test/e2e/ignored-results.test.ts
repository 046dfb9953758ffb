// The result of a task may be a file that git ignores: Drover keeps it and names it, and a person
// can land it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const files = { '.gitignore': 'dist/\n*.csv\nnode_modules/\n' };

suite('results that git ignores', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('ignored results are listed, survive the removal of the slot, and land if the user wants them', async () => {
    const here = project({
      files,
      settings: '[setup]\ncommand = "mkdir -p dist && echo setup > dist/by-setup.txt"\n',
      agent: `
cat > /dev/null
mkdir -p dist node_modules/tool && echo "report of $id" > dist/report.pdf && echo 1,2 > sums.csv
echo x > node_modules/tool/index.js
`,
    });
    await beginPlan(here, ['t1', 't2']);
    await here.expect(2, ['run', '--workers', '1']);
    const task = await here.task('t1');
    assert.deepEqual([task.status, task.review_kind], ['needs_review', 'no_changes']);
    assert.deepEqual(task.held_files, ['dist/report.pdf', 'sums.csv']);
    assert.match(
      task.verdict_reason ?? '',
      /changed nothing.*2 ignored files were not committed: dist\/report\.pdf, sums\.csv/u,
    );
    const why = await here.expect(0, ['why', 't1']);
    assert.match(why, /dist\/report\.pdf, sums\.csv/u);
    assert.match(why, /drover approve t1 --with-ignored/u);
    assert.match(await here.expect(0, ['status']), /drover approve t1 --with-ignored/u);

    await here.expect(0, ['worktree', 'prune']);
    await here.expect(0, ['approve', 't1', '--with-ignored']);
    await eventually('the landing of the files', () => landedTasks(here).length > 0);
    assert.deepEqual(landedTasks(here), ['t1']);
    assert.equal(here.git('show', 'main:dist/report.pdf'), 'report of t1');
    assert.equal(here.git('show', 'main:sums.csv'), '1,2');
    // The other task completes without them, and its snapshot still contains them.
    await here.expect(0, ['approve', 't2']);
    assert.deepEqual(landedTasks(here), ['t1']);
    assert.equal(here.git('show', 'refs/drover/work/t2/1-ignored:dist/report.pdf'), 'report of t2');
  });

  soakTest(
    'ignored results are mentioned beside committed work, but do not cause a hold',
    async () => {
      const here = project({
        files,
        agent: `
cat > /dev/null
mkdir -p dist && echo built > dist/app.js && echo "$id" > "$id.txt"
`,
      });
      await beginPlan(here, ['t1']);
      await here.expect(0, ['run']);
      assert.deepEqual(landedTasks(here), ['t1']);
      const shown = await here.expect(0, ['show', 't1']);
      assert.match(shown, /1 ignored file was not committed: dist\/app\.js/u);
      assert.match(shown, /refs\/drover\/work\/t1\/1-ignored/u);
      assert.equal(existsSync(join(here.root, 'dist')), false);
    },
  );

  soakTest(
    'ignored results beyond the limit stay in the slot, which prune leaves alone',
    async () => {
      const here = project({
        files,
        agent: `
cat > /dev/null
mkdir -p dist; i=0; while [ $i -lt 600 ]; do echo $i > dist/$i.txt; i=$((i + 1)); done
`,
      });
      await beginPlan(here, ['t1']);
      await here.expect(2, ['run']);
      const task = await here.task('t1');
      assert.match(task.verdict_reason ?? '', /more than 500 ignored files.*dist\//u);
      await here.expect(0, ['worktree', 'prune']);
      assert.ok(existsSync(join(task.worktree_path ?? '-', 'dist', '599.txt')));
      assert.match(await here.expect(0, ['why', 't1']), /more than 500 ignored files/u);
    },
  );

  test('ignored results of a failed agent are in its snapshot', async () => {
    const here = project({
      files,
      agent: 'cat > /dev/null; mkdir -p dist; echo half > dist/report.pdf; exit 1',
    });
    await beginPlan(here, [{ id: 't1', max_attempts: 1 }]);
    await here.expect(1, ['run']);
    assert.equal(here.git('show', 'refs/drover/work/t1/1:dist/report.pdf'), 'half');
  });
});
