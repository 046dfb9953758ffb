// Git detects an edit of the same size, made in the second in which it last wrote the index, only
// because its index is not newer than the file. Whatever Drover does, git must still detect it.
// test/e2e/landing-checkout.test.ts covers a landing in the user's own checkout.

import assert from 'node:assert/strict';
import { existsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier, writesOneFile } from '../support/agent-scripts.ts';
import { eventually } from '../support/eventually.ts';
import { beginPlan } from '../support/plan.ts';
import type { Project } from '../support/project.ts';
import { useProjects } from '../support/suite-projects.ts';

const files = { version: '1.2.3\n' };

/** In the past, so that an index that is written again has a later time. */
function edit(here: Project, folder: string): void {
  const index = here.gitIn(folder, 'rev-parse', '--path-format=absolute', '--git-path', 'index');
  const file = join(folder, 'version');
  const second = Math.floor(Date.now() / 1000) - 60;
  utimesSync(file, second, second);
  here.gitIn(folder, 'update-index', '-q', '--refresh');
  utimesSync(index, second, second);
  here.sh(folder, "printf '1.2.4\\n' > version");
  utimesSync(file, second, second);
}

function isShown(here: Project, folder: string): void {
  assert.match(here.gitIn(folder, 'status', '--porcelain'), /^ ?M version$/m);
  assert.match(here.gitIn(folder, 'diff'), /^\+1\.2\.4$/m);
}

suite('promises: edits of the same size', function () {
  this.timeout(180_000);
  const project = useProjects({ files });

  const begin = (options: object): Project => {
    const here = project({ files, ...options });
    // Git then compares only the times that a test can set.
    here.git('config', 'core.trustctime', 'false');
    return here;
  };

  test('an edit of the same size is shown after a landing in a linked worktree', async () => {
    const here = begin({ agent: `read -r line < ../../go; ${writesOneFile}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1']);
    const cwd = join(here.folder, 'linked');
    here.git('worktree', 'add', '-q', cwd, '-b', 'feature');
    const run = here.start(['run', '--json'], { cwd });
    await run.line((line) => line.includes('"worktree.ready"'));
    edit(here, cwd);
    barrier.open();
    assert.equal((await run.ended).code, 0);
    barrier.close();
    assert.equal(here.read('linked/t1.txt'), 'work of t1\n');
    isShown(here, cwd);
  });

  test("an edit of the same size is in a slot's snapshot, and is shown after it and after a restore", async () => {
    const here = begin({ agent: 'cat > /dev/null; : > "../../here-$attempt"; exec sleep 600' });
    await beginPlan(here, ['t1']);
    const run = here.start(['run', '--json']);
    await eventually('the agent runs', () => existsSync(join(here.folder, 'here-1')));
    const slot = (await here.task('t1')).worktree_path ?? '';
    edit(here, slot);
    await here.expect(0, ['pause', 't1']);
    await run.ended;
    assert.equal(here.git('show', 'refs/drover/work/t1/1:version'), '1.2.4');
    isShown(here, slot);
    await here.expect(0, ['restore', 't1', '--snapshot', '1']);
    const again = here.start(['run', '--json']);
    await eventually('the agent runs again', () => existsSync(join(here.folder, 'here-2')));
    const next = (await here.task('t1')).worktree_path ?? '';
    isShown(here, next);
    here.gitIn(next, 'checkout', '--', 'version');
    edit(here, next);
    await here.expect(0, ['pause', 't1']);
    await again.ended;
    isShown(here, next);
  });
});
