// The user's own checkout while work lands on the branch that it has checked out, or on another
// one.

import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { checkoutFacts, everyByte } from './support/checkout.ts';
import { eventually } from './support/eventually.ts';
import { firstParents, landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const poem = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const poemText = `${poem.join('\n')}\n`;

/** One of each kind: a stash, and a staged, a changed, an untracked and an ignored file. */
function makeDirty(project: Project): readonly string[] {
  project.write('repo/stashed.txt', 'in the stash\n');
  project.git('stash', 'push', '-q', '--include-untracked', '-m', 'mine');
  project.write('repo/staged.txt', 'staged\n');
  project.git('add', 'staged.txt');
  project.write('repo/staged.txt', 'staged, and changed since\n');
  project.write('repo/poem.txt', poemText.replace('ten', 'TEN'));
  project.write('repo/untracked.txt', 'untracked\n');
  project.write('repo/ignored/cache.bin', 'ignored\n');
  return ['staged.txt', 'poem.txt', 'untracked.txt', 'ignored/cache.bin', '.drover.toml'];
}

const changesThePoem = `
cat > /dev/null
sed -i 's/^one$/ONE by '"$id"'/' poem.txt
`;

suite('landing: the checkout of the user', function () {
  this.timeout(180_000);
  const project = useProjects();

  test("a dirty checkout of the target follows, and all of the user's changes stay", async () => {
    const here = project({ files: { 'poem.txt': poemText } });
    await beginPlan(here, ['t1', 't2']);
    const mine = makeDirty(here);
    const before = checkoutFacts(here, mine);
    await here.expect(0, ['run']);
    assert.deepEqual(checkoutFacts(here, mine), before);
    assert.equal(here.read('repo/t1.txt'), 'work of t1\n');
    assert.equal((await here.status()).target?.pending, 0);
  });

  test('git still shows an edit of the same size made in the second in which the index was written', async () => {
    const here = project({ files: { version: '1.2.3\n', 'poem.txt': poemText } });
    await beginPlan(here, ['t1', 't2']);
    here.git('config', 'core.trustctime', 'false');
    const [file, index] = [join(here.root, 'version'), join(here.root, '.git', 'index')];
    const second = Math.floor(Date.now() / 1000) - 60;
    utimesSync(file, second, second);
    here.git('update-index', '-q', '--refresh');
    utimesSync(index, second, second);
    here.write('repo/version', '1.2.4\n');
    utimesSync(file, second, second);
    await here.expect(0, ['run']);
    assert.equal(here.read('repo/t1.txt'), 'work of t1\n');
    assert.match(here.git('status', '--porcelain'), /^ ?M version$/m);
    assert.match(here.git('diff'), /^\+1\.2\.4$/m);
  });

  test('with checkout.follow "never", no byte of it changes', async () => {
    const here = project({
      files: { 'poem.txt': poemText },
      settings: '[checkout]\nfollow = "never"\n',
    });
    await beginPlan(here, ['t1']);
    makeDirty(here);
    here.git('status');
    const before = everyByte(here);
    const main = here.git('rev-parse', 'main');
    await here.expect(0, ['run']);
    assert.deepEqual(everyByte(here), before);
    assert.equal(here.git('rev-parse', 'main'), main);
    const { run, target } = await here.status();
    assert.deepEqual([run?.result_branch, target?.pending], ['drover/results/main', 1]);
    assert.deepEqual(landedTasks(here, 'drover/results/main'), ['t1']);
  });

  test('an overlapping change makes landed work wait, and the branch follows once the change is gone', async () => {
    const here = project({ files: { 'poem.txt': poemText }, agent: changesThePoem });
    await beginPlan(here, ['t1']);
    here.write('repo/poem.txt', poemText.replace('one', 'mine'));
    const before = everyByte(here);
    const done = await here.drover(['run', '--json']);
    assert.equal(done.code, 0);
    assert.match(
      done.stderr,
      /1 commit waits for your checkout of main; drover\/results\/main holds/,
    );
    assert.match(done.stderr, /poem\.txt/);
    assert.deepEqual(everyByte(here), before);
    const { run, target } = await here.status();
    assert.deepEqual([run?.result_branch, target?.pending], ['drover/results/main', 1]);
    await here.expect(0, ['run']);
    const again = await here.status();
    assert.deepEqual([again.run?.result_branch, again.target?.pending], ['drover/results/main', 1]);
    assert.deepEqual(everyByte(here), before);
    assert.equal(
      here.git('rev-parse', 'drover/results/main'),
      here.git('rev-parse', 'refs/drover/land/main'),
    );
    await besideTheBackend(() => here.git('checkout', '--', 'poem.txt'));
    await eventually('main follows', () => landedTasks(here).length === 1);
    await eventually('the result branch is gone', () => {
      return here.git('branch', '--list', 'drover/results/*') === '';
    });
    assert.equal((await here.status()).target?.pending, 0);
    assert.match(here.read('repo/poem.txt'), /^ONE by t1\n/);
  });

  test('an overlapping change that the user commits is merged with the waiting work', async () => {
    const here = project({ files: { 'poem.txt': poemText }, agent: changesThePoem });
    await beginPlan(here, ['t1']);
    here.write('repo/poem.txt', poemText.replace('ten', 'my ten'));
    await here.expect(0, ['run']);
    assert.equal((await here.status()).target?.pending, 1);
    await besideTheBackend(() => here.git('commit', '-qam', 'my own change'));
    await eventually('main holds both', () => landedTasks(here).length === 1);
    assert.match(here.read('repo/poem.txt'), /^ONE by t1\n[\s\S]*my ten\n$/);
    assert.equal(here.git('status', '--porcelain'), '');
    assert.equal(
      here.git('log', '--format=%s', '--author=A Person', 'main').includes('my own'),
      true,
    );
  });

  soakTest('a commit that the user makes during a run is merged', async () => {
    const here = project({ agent: `read -r line < ../../go; ${writesOneFile}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1', { id: 't2', blocked_by: ['t1'] }]);
    const run = here.start(['run', '--json', '--gate', 'test ! -e t1.txt || test -e user.txt']);
    await run.line((line) => line.includes('"worktree.ready"'));
    here.write('repo/user.txt', 'by the user\n');
    here.git('add', 'user.txt');
    here.git('commit', '-qm', 'by the user');
    const users = here.git('rev-parse', 'HEAD');
    barrier.open(2);
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 0, done.stdout);
    assert.deepEqual(landedTasks(here), ['t1', 't2']);
    assert.ok(
      firstParents(here).some(({ sha }) => sha === users),
      'on the first-parent line',
    );
    assert.equal(here.git('status', '--porcelain'), '');
  });

  soakTest('if the target is not checked out anywhere, only the branch moves', async () => {
    const here = project({ files: { 'poem.txt': poemText } });
    await beginPlan(here, ['t1']);
    here.git('checkout', '-q', '-b', 'other');
    const mine = makeDirty(here);
    const before = checkoutFacts(here, mine);
    await here.expect(0, ['run', '--target', 'main']);
    assert.deepEqual(checkoutFacts(here, mine), before);
    assert.deepEqual(landedTasks(here, 'main'), ['t1']);
    assert.deepEqual(landedTasks(here, 'other'), []);
    assert.equal(here.read('repo/t1.txt'), '');
  });

  test('a detached HEAD without a target is refused, and nothing has changed', async () => {
    const here = project();
    await beginPlan(here, ['t1']);
    here.git('checkout', '-q', '--detach');
    const before = everyByte(here);
    const refused = await here.drover(['run', '--json']);
    assert.equal(refused.code, 3);
    assert.match(refused.stdout, /"kind":"detached_head"/);
    assert.match(refused.stderr, /--target/);
    assert.deepEqual(everyByte(here), before);
    const status = await here.status();
    assert.deepEqual([status.run, status.counts.ready], [null, 1]);
    await here.expect(0, ['run', '--target', 'main']);
    assert.deepEqual(landedTasks(here, 'main'), ['t1']);
  });

  test('a branch that the user rewinds stays rewound', async () => {
    const here = project();
    await beginPlan(here, ['t1']);
    const first = here.git('rev-parse', 'main');
    await here.expect(0, ['run']);
    const landed = here.git('rev-parse', 'main');
    here.git('reset', '-q', '--hard', first);
    await importPlan(here, ['t2']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['t2']);
    assert.equal(here.git('merge-base', landed, 'main'), first);
    assert.equal(here.git('for-each-ref', '--contains', landed) !== '', true, 'still reachable');
  });
});

/**
 * While landed work waits, the backend checks this checkout every two seconds, and git allows one
 * process at a time.
 */
async function besideTheBackend(work: () => void): Promise<void> {
  await eventually('git is free', () => {
    try {
      work();
      return true;
    } catch (error) {
      if (!String(error).includes('index.lock')) throw error;
      return false;
    }
  });
}
