// What a further attempt knows about the previous ones: completed sub-tasks stay completed, and a
// conflict stays one until it is resolved.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const parent = 'Build the parser of the thing';

async function planParts(here: Project): Promise<string> {
  await here.expect(0, ['init']);
  const id = await here.add(parent, '--max-attempts', '2');
  for (const part of ['first', 'second', 'third']) {
    await here.expect(0, ['add', `Write the ${part} part of it`, '--parent', id]);
  }
  return id;
}

/** How often the agent was called for each part, in order. */
function calls(here: Project, id: string): number[] {
  const lines = here.read('calls').split('\n');
  return [`${id}.1`, `${id}.2`, `${id}.3`, id].map(
    (part) => lines.filter((line) => line === part).length,
  );
}

suite('a further attempt', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('H4: it does not run finished sub-tasks again', async () => {
    const here = project({
      agent: `
cat > /dev/null
echo "$id" >> ../../calls
case "$id" in
  *.1) exit 0;;
  *.2) echo "begun by $attempt" >> half.txt; [ "$attempt" = 2 ] || exit 9;;
esac
echo "$id" >> order.txt
`,
    });
    const id = await planParts(here);
    await here.expect(0, ['run']);
    assert.deepEqual(calls(here, id), [1, 2, 1, 1]);
    assert.equal(here.read('repo/order.txt'), `${id}.2\n${id}.3\n${id}\n`);
    assert.equal(here.read('repo/half.txt'), 'begun by 1\nbegun by 2\n');
    for (const task of (await here.status()).tasks) assert.equal(task.status, 'completed');
  });

  soakTest(
    'H4: a paused attempt does not run them again either, but a reset starts all of them over',
    async () => {
      const here = project({
        agent: `
cat > /dev/null
echo "$id" >> ../../calls
echo "$id" >> order.txt
case "$id" in
  *.2) if [ ! -e ../../go ]; then touch ../../waits; exec sleep 600; fi;;
  *.3) [ -e ../../well ] || exit 9;;
esac
`,
      });
      const id = await planParts(here);
      const run = here.start(['run', '--json']);
      await eventually('the second part waits', () => existsSync(join(here.folder, 'waits')));
      await here.expect(0, ['pause', id]);
      await run.ended;
      here.write('go', '');
      await here.expect(0, ['resume-task', id]);
      await here.expect(1, ['run']);
      assert.deepEqual(calls(here, id), [1, 2, 2, 0], 'two attempts of the third one');
      here.write('well', '');
      await here.expect(0, ['reset', id]);
      await here.expect(0, ['run']);
      assert.deepEqual(calls(here, id), [2, 3, 3, 1]);
    },
  );

  test('H5: an attempt that leaves a conflict unresolved stays in conflict, and the first task is named', async () => {
    const here = project({
      files: { 'shared.txt': 'nobody\n' },
      agent: `
prompt=$(cat)
printf '%s' "$prompt" > "../../prompt-$id-$attempt"
case "$id-$attempt" in
  first-1) ;;
  second-1) git reset -q --hard "$(git rev-list --max-parents=0 HEAD)";;
  second-3) cat shared.txt > both.txt;;
  *) exit 0;;
esac
echo "$id" > shared.txt
`,
    });
    await beginPlan(here, ['first', { id: 'second', blocked_by: ['first'], max_attempts: 2 }]);
    await here.expect(2, ['run']);
    const task = await here.task('second');
    assert.deepEqual([task.status, task.attempts], ['conflict', 2]);
    assert.deepEqual(task.conflict_files, ['shared.txt']);
    assert.equal(task.commit_sha, here.git('rev-parse', 'drover/second/1'));
    const why = await here.expect(0, ['why', 'second']);
    assert.match(why, /in conflict with landed work in shared\.txt/);
    assert.match(why, /changed nothing/);
    assert.match(await here.expect(0, ['diff', 'second']), /^\+second$/m);
    await here.expect(3, ['approve', 'second']);
    assert.deepEqual(landedTasks(here), ['first']);
    await here.expect(0, ['retry', 'second']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['first', 'second']);
    assert.match(
      here.read('prompt-second-3'),
      new RegExp(`git show ${(task.commit_sha ?? '-').slice(0, 12)}`),
    );
    assert.equal(here.read('repo/both.txt'), 'first\n');
  });

  test('a finished agent does not run again because git cannot commit its work', async () => {
    const here = project({
      agent: `
cat > /dev/null
echo "$attempt" >> "../../starts-$id"
echo "work of $id" > "$id.txt"
git config core.repositoryFormatVersion 1
git config extensions.unheardOf true
`,
    });
    await beginPlan(here, [{ id: 't1', max_attempts: 1 }]);
    assert.notEqual((await here.drover(['run'])).code, 0);
    const held = await here.task('t1');
    assert.equal(held.status, 'blocked');
    assert.match(held.blocked_reason ?? '', /unheardof.*agent has finished/isu);
    // It is not resolved yet, so the work keeps waiting.
    const config = join(here.root, '.git', 'config');
    const broken = readFileSync(config, 'utf8');
    writeFileSync(config, broken.replace(/^\s*unheardOf.*$/imu, ''));
    await here.expect(0, ['resolve', 't1', '--note', 'taken out of the configuration']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['t1']);
    assert.equal(here.read('starts-t1'), '1\n');
    assert.equal((await here.task('t1')).attempts, 0);
  });

  soakTest(
    'a finished agent does not run again because the task was paused or cancelled before git was repaired',
    async () => {
      const here = project({
        agent: `
cat > /dev/null
echo "$attempt" >> "../../starts-$id"
echo "work of $id" > "$id.txt"
echo broken > "$(git rev-parse --git-dir)/index"
`,
      });
      await beginPlan(here, [{ id: 't1', max_attempts: 1 }]);
      assert.notEqual((await here.drover(['run'])).code, 0);
      const { worktree_path: slot, status } = await here.task('t1');
      assert.equal(status, 'blocked');
      await here.expect(0, ['pause', 't1']);
      await here.expect(0, ['resume-task', 't1']);
      assert.notEqual((await here.drover(['run'])).code, 0, 'git is as broken as before');
      await here.expect(0, ['cancel', 't1']);
      await here.expect(0, ['retry', 't1']);
      const index = here.gitIn(slot ?? '', 'rev-parse', '--git-path', 'index');
      rmSync(resolve(slot ?? '', index));
      await here.expect(0, ['run']);
      assert.deepEqual(landedTasks(here), ['t1']);
      assert.equal(here.git('show', 'main:t1.txt'), 'work of t1');
      assert.equal(here.read('starts-t1'), '1\n');
    },
  );
});
