// Whose project a folder, a repository and a database are: beside `git clean`, copies, moves, worktrees and deletions.

import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import { isProcessAlive } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

const waits = `cat > /dev/null; read -r line < ../../go; echo "work of $id" > "$id.txt"`;

async function idsOf(here: Project): Promise<readonly string[]> {
  return (await here.status()).tasks.map(({ id }) => id);
}

suite('whose project', function () {
  this.timeout(240_000);
  const project = useProjects();

  suite('beside git clean', () => {
    for (const flags of ['-fdx', '-fdX', '-ffdx']) {
      test(`D9: git clean ${flags} leaves the plan`, async () => {
        const here = project();
        here.git('add', '-A');
        await beginPlan(here, ['t1']);
        here.git('clean', '-q', flags);
        assert.deepEqual(await idsOf(here), ['t1']);
        await here.expect(0, ['run']);
        here.git('clean', '-q', flags);
        assert.equal((await here.task('t1')).status, 'completed');
        assert.equal(here.git('status', '--porcelain'), '');
      });
    }

    test('D9: git clean -ffdx under a running backend loses no task', async () => {
      const here = project({ agent: waits });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, ['t1', 't2']);
      const run = here.start(['run', '-w', '1', '--json']);
      await run.line((line) => line.includes('"worktree.ready"'));
      const pid = here.backendPid();
      assert.ok(pid !== null);
      here.git('clean', '-q', '-ffdx');
      await eventually('the backend leaves', () => !isProcessAlive(pid));
      run.signal('SIGKILL');
      barrier.open(4);
      assert.deepEqual(await idsOf(here), ['t1', 't2']);
      await here.expect(0, ['resume']);
      barrier.close();
      assert.deepEqual([...landedTasks(here, 'main')].sort(), ['t1', 't2']);
    });

    test('init after git clean -ffdx says "already" and has the plan', async () => {
      const here = project();
      await beginPlan(here, ['t1']);
      here.git('clean', '-q', '-ffdx');
      assert.match(await here.expect(0, ['init']), /already/);
      assert.deepEqual(await idsOf(here), ['t1']);
      await importPlan(here, ['t2']);
      assert.deepEqual(await idsOf(here), ['t1', 't2']);
    });
  });

  test('A6: the backend of a deleted project leaves and ends its agents', async () => {
    const here = project({ agent: waits });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1']);
    const run = here.start(['run', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    const pid = here.backendPid();
    assert.ok(pid !== null);
    for (const name of ['repo', 'repo.worktrees'])
      rmSync(join(here.folder, name), { recursive: true, force: true, maxRetries: 5 });
    await eventually('the backend leaves', () => !isProcessAlive(pid));
    run.signal('SIGKILL');
    barrier.close();
    assert.equal(existsSync(here.root), false);
  });
});
