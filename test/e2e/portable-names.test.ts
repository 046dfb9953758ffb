// Names that Windows, macOS or git cannot check out are held and named, including names that clash
// only between two landed tasks.

import assert from 'node:assert/strict';
import { makeBarrier } from './support/agent-scripts.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

suite('file names that some systems cannot check out', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('new files with such names are held, and the rest lands without them', async () => {
    const agent = `
cat > /dev/null
echo work > "$id.txt"
case $id in
  left) echo x > nul; echo x > a:b; git add nul; git commit -q -m own;;
  never) mkdir .GIT; echo x > .GIT/config; echo x > 'git~1';;
esac`;
    const here = project({ agent, files: { 'aux.c': 'old\n' } });
    await beginPlan(here, ['left', 'never', 'free']);
    await here.expect(2, ['run']);
    assert.equal((await here.task('free')).status, 'completed');
    const left = await here.task('left');
    assert.deepEqual([left.status, left.review_kind], ['needs_review', 'held_files']);
    assert.deepEqual(left.held_files, ['a:b', 'nul']);
    assert.match(
      left.last_error ?? '',
      /a:b \(Windows does not allow : in a name\), nul \(a device/u,
    );
    const never = await here.task('never');
    assert.deepEqual(never.held_files, ['.GIT/config', 'git~1']);
    assert.match(never.last_error ?? '', /git~1 \(git ignores such a name\)/u);
    for (const id of ['left', 'never']) await here.expect(0, ['approve', id]);
    await here.expect(0, ['run']);
    const landed = here.git('ls-tree', '-r', '--name-only', 'main').split('\n');
    for (const id of ['left', 'never', 'free']) assert.ok(landed.includes(`${id}.txt`), id);
    for (const name of ['nul', 'a:b', 'git~1']) assert.ok(!landed.includes(name), name);
    assert.ok(landed.includes('aux.c'), 'what the project had stays');
  });

  test('if the files of two tasks differ only by case, the second task is held, and both names are shown', async () => {
    const here = project({
      agent: `
cat > /dev/null
[ "$attempt" != 1 ] || read -r line < ../../both-started
if [ "$id" = a ]; then echo a > Chat.ts; else echo b > chat.ts; fi`,
    });
    const barrier = makeBarrier(here.folder, 'both-started');
    await beginPlan(here, ['a', 'b']);
    const run = here.start(['run', '--workers', '2', '--json']);
    for (const id of ['a', 'b'])
      await run.line((line) => line.includes('"worktree.ready"') && line.includes(`"${id}"`));
    barrier.open(2);
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 2, `${done.stdout}\n${done.stderr}`);
    const tasks = await Promise.all(['a', 'b'].map((id) => here.task(id)));
    const held = tasks.find(({ status }) => status === 'needs_review');
    assert.deepEqual(tasks.map(({ status }) => status).toSorted(), ['completed', 'needs_review']);
    assert.match(held?.last_error ?? '', /[Cc]hat\.ts \(differs only by case from [Cc]hat\.ts\)/u);
    const landed = here.git('ls-tree', '-r', '--name-only', 'main').toLowerCase().split('\n');
    assert.equal(landed.filter((name) => name === 'chat.ts').length, 1);
  });

  soakTest('portable_names = false lands them', async () => {
    const agent = `cat > /dev/null; echo x > a:b`;
    const here = project({ agent, settings: '[protect]\nportable_names = false\n' });
    await beginPlan(here, ['a']);
    await here.expect(0, ['run']);
    assert.match(here.git('ls-tree', '-r', '--name-only', 'main'), /^a:b$/mu);
  });
});
