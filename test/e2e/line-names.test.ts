// The branches that a line may have, and how far it trusts them.

import assert from 'node:assert/strict';
import { writesOneFile } from './support/agent-scripts.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('lines and their branches', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('W12: work that an agent merges into the target itself stops the line until a person decides', async () => {
    const here = project({
      settings: '[gate]\ncommand = "test ! -e red.txt"\n',
      agent: `
cat > /dev/null
if [ "$id" = bad ]; then
  echo red > red.txt
  git add red.txt && git commit -qm "by itself" && git push -q . HEAD:main
fi
echo "$id" > "$id.txt"
`,
    });
    await beginPlan(here, [{ id: 'bad', max_attempts: 1 }]);
    const before = here.git('rev-parse', 'main');
    here.git('switch', '-qc', 'dev');
    await here.expect(2, ['run', '--target', 'main']);
    const status = await here.status();
    assert.deepEqual(
      status.holds.map(({ line, until }) => [line, until]),
      [['main', null]],
    );
    assert.match(status.holds[0]?.reason ?? '', /work of bad that has not passed the gate/);
    assert.deepEqual(landedTasks(here), []);
    assert.equal((await here.task('bad')).attempts, 0);
    here.git('branch', '-f', 'main', before);
    await importPlan(here, ['good']);
    await here.expect(1, ['run', '--target', 'main']);
    assert.equal((await here.task('bad')).status, 'failed');
    assert.deepEqual(landedTasks(here), ['good']);
    assert.deepEqual((await here.status()).holds, []);
  });

  test('S3: a deleted branch does not prevent branches below or above its name', async () => {
    const here = project({ agent: writesOneFile });
    await beginPlan(here, ['t1']);
    here.git('branch', 'release');
    await here.expect(0, ['run', '--target', 'release']);
    const old = here.git('rev-parse', 'release');
    here.git('branch', '-D', 'release');
    here.git('branch', 'release/1.0');
    await importPlan(here, ['t2']);
    await here.expect(0, ['run', '--target', 'release/1.0']);
    assert.deepEqual(landedTasks(here, 'release/1.0'), ['t2']);
    assert.match(
      here.git('for-each-ref', '--contains', old),
      /refs\/drover\/rescue\/lines\/release\//,
    );
    here.git('branch', '-D', 'release/1.0');
    here.git('branch', 'release');
    await importPlan(here, ['t3']);
    await here.expect(0, ['run', '--target', 'release']);
    assert.deepEqual(landedTasks(here, 'release'), ['t3']);
  });

  test('S3: a branch named drover is refused with the remedy', async () => {
    const here = project({ agent: writesOneFile });
    await beginPlan(here, ['t1']);
    here.git('branch', 'drover');
    const { code, stderr } = await here.drover(['run']);
    assert.equal(code, 3, stderr);
    assert.match(stderr, /git branch -m drover/);
    assert.equal((await here.task('t1')).attempts, 0);
    here.git('branch', '-m', 'drover', 'mine');
    await here.expect(0, ['run']);
  });
});
