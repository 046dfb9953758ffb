// A fetch that prunes with a mirror's refspec removes branches and Drover's refs: no removed ref is
// named as existing.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('refs that a fetch pruned', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('pruned refs are reported with their previous commit and the command that restores them', async () => {
    const here = project({
      agent: 'cat > /dev/null; echo "$id" > "$id.txt"; [ "$id" = good ] || exit 1',
    });
    const origin = join(here.folder, 'origin.git');
    here.git('clone', '-q', '--bare', here.root, origin);
    here.git('remote', 'add', 'origin', origin);
    here.git('config', 'remote.origin.fetch', '+refs/*:refs/*');
    await beginPlan(here, ['good', { id: 'bad', max_attempts: 1 }]);
    assert.match(await here.expect(0, ['init']), /remote\.origin\.fetch.*\+refs\/\*:refs\/\*/u);
    const doctor = await here.drover(['doctor']);
    assert.match(doctor.stdout, /remote\.origin\.fetch.*\+refs\/\*:refs\/\*/u);
    await here.expect(1, ['run']);
    assert.deepEqual(landedTasks(here), ['good']);
    const landed = here.git('rev-parse', 'main');
    const kept = here.git('rev-parse', 'refs/drover/work/bad/1');
    here.git('fetch', '-q', '--prune', '--update-head-ok', 'origin');
    assert.notEqual(here.git('rev-parse', 'main'), landed);

    const why = await here.expect(0, ['why', 'good']);
    assert.doesNotMatch(why, /it has landed/u);
    assert.match(why, new RegExp(`git branch found-good ${landed}`, 'u'));
    const whyBad = await here.expect(0, ['why', 'bad']);
    assert.doesNotMatch(whyBad, /is kept: [^.]*refs\/drover\/work\/bad\/1/u);
    assert.match(whyBad, new RegExp(`git update-ref refs/drover/work/bad/1 ${kept}`, 'u'));
    assert.doesNotMatch(await here.expect(0, ['show', 'bad']), /kept: /u);
    assert.match(await here.expect(0, ['show', 'bad', '--json']), /"rescue_refs":\s*\[\]/u);
    here.git('update-ref', 'refs/drover/work/bad/1', kept);
    assert.match(await here.expect(0, ['show', 'bad']), /kept: refs\/drover\/work\/bad\/1/u);
    assert.match(await here.expect(0, ['why', 'bad']), /is kept: [^.]*refs\/drover\/work\/bad\/1/u);

    // The same with the target itself.
    here.git('update-ref', '-d', 'refs/heads/main');
    const run = await here.drover(['run']);
    assert.doesNotMatch(`${run.stdout}${run.stderr}`, /allow-empty/u);
    assert.match(`${run.stdout}${run.stderr}`, new RegExp(`git branch main ${landed}`, 'u'));
  });
});
