// Whatever an agent leaves behind, however its attempt ends, is reachable afterwards or still in
// place.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskView, WorktreeView } from '../../server/protocol/api.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

/**
 * Leaves a commit and a changed, a staged, an untracked and an ignored file, reports this, and
 * waits or fails as instructed.
 */
const leavesThings = `
cat > /dev/null
echo "committed by $id/$attempt" > committed.txt
git add committed.txt
git commit -qm "the agent's own commit"
echo "changed by $id/$attempt" >> README.md
echo "staged by $id/$attempt" > staged.txt
git add staged.txt
mkdir -p deep/er ignored
echo "untracked by $id/$attempt" > "deep/er/untracked file.txt"
echo "ignored by $id/$attempt" > ignored/cache
case "$id" in
  fails*) echo "I give up" >&2; exit 9;;
  ends*) exit 0;;
esac
touch "../../left-$id-$attempt"
exec sleep 600
`;

const leavesOneFile = `
cat > /dev/null
if [ "$id" = reads ]; then exit 0; fi
echo "left by $id/$attempt" > left.txt
exit 9
`;

const things = [
  ['committed.txt', 'committed by'],
  ['README.md', 'changed by'],
  ['staged.txt', 'staged by'],
  ['deep/er/untracked file.txt', 'untracked by'],
] as const;

/** Refs that the task itself names: its branch, and the snapshots of its attempts. */
function namedRefs(task: TaskView): readonly string[] {
  const branch = task.branch === null ? [] : [`refs/heads/${task.branch}`];
  return [...branch, ...task.rescue_refs];
}

/**
 * Everything of the attempt is still in the worktree, or in a commit that is reachable from one of
 * the task's refs.
 */
async function assertReachable(here: Project, id: string, attempt: number): Promise<void> {
  const task = await here.task(id);
  const refs = namedRefs(task);
  const place = task.worktree_path ?? '';
  for (const [path, words] of things) {
    const text = `${words} ${id}/${attempt}`;
    const isInRef = refs.some((ref) => shown(here, `${ref}:${path}`).includes(text));
    const file = join(place, path);
    const isInPlace = place !== '' && existsSync(file) && readFileSync(file, 'utf8').includes(text);
    assert.ok(isInRef || isInPlace, `"${text}" is in none of ${refs.join(', ')} nor in ${place}`);
  }
}

function shown(here: Project, object: string): string {
  try {
    return here.git('show', object);
  } catch {
    return '';
  }
}

async function atWork(here: Project, id: string, attempt = 1): Promise<void> {
  await eventually(`${id} is at work`, () =>
    existsSync(join(here.folder, `left-${id}-${attempt}`)),
  );
}

suite('leftovers of agents', function () {
  this.timeout(180_000);
  const project = useProjects();

  test("a cancelled agent's work is kept when others use its slot", async () => {
    const here = project({ agent: leavesThings });
    await beginPlan(here, ['gone']);
    const run = here.start(['run', '--workers', '1', '--json']);
    await atWork(here, 'gone');
    await here.expect(0, ['cancel', 'gone', '--reason', 'not wanted']);
    await run.ended;
    await assertReachable(here, 'gone', 1);
    await importPlan(here, ['ends-here']);
    await here.expect(0, ['run', '--workers', '1']);
    await assertReachable(here, 'gone', 1);
    const rescued = (await here.task('gone')).rescue_refs;
    assert.deepEqual(rescued, ['refs/drover/work/gone/1']);
  });

  soakTest('the work of each failed attempt is kept', async () => {
    const here = project({ agent: leavesThings });
    await beginPlan(here, [{ id: 'fails', max_attempts: 2 }]);
    await here.expect(1, ['run']);
    const task = await here.task('fails');
    assert.equal(task.status, 'failed');
    for (const attempt of [1, 2]) await assertReachable(here, 'fails', attempt);
    await importPlan(here, ['ends-here']);
    await here.drover(['run']);
    for (const attempt of [1, 2]) await assertReachable(here, 'fails', attempt);
  });

  test('a task that failed with only uncommitted work names the ref that holds it, and no deleted branch', async () => {
    const here = project({ agent: leavesOneFile });
    await beginPlan(here, [
      { id: 'fails', max_attempts: 2 },
      { id: 'reads', task_type: 'research' },
    ]);
    await here.expect(1, ['run', '--workers', '1']);
    const { branch, rescue_refs: refs } = await here.task('fails');
    assert.equal(branch, null);
    for (const attempt of [1, 2]) {
      const holds = refs.some(
        (ref) => shown(here, `${ref}:left.txt`) === `left by fails/${attempt}`,
      );
      assert.ok(holds, `attempt ${attempt} is in none of ${refs.join(', ')}`);
    }
    assert.equal((await here.task('reads')).status, 'completed');
    assert.equal(here.git('branch', '--list', 'drover/*'), '');
    assert.match(await here.expect(0, ['why', 'fails']), new RegExp(refs.join('.*')));
  });

  soakTest('a task whose gate is red names the branch of each attempt', async () => {
    const here = project();
    await beginPlan(here, [{ id: 'red', max_attempts: 2, gate: 'test ! -e red.txt' }]);
    await here.expect(1, ['run']);
    const refs = namedRefs(await here.task('red'));
    assert.equal(refs.length, 2);
    for (const ref of refs) assert.equal(shown(here, `${ref}:red.txt`), 'work of red');
  });

  test('a paused task keeps everything in place, even ignored files, and continues there', async () => {
    const here = project({ agent: leavesThings });
    await beginPlan(here, ['held']);
    const run = here.start(['run', '--json']);
    await atWork(here, 'held');
    await here.expect(0, ['pause', 'held']);
    await run.ended;
    const task = await here.task('held');
    assert.equal(task.status, 'paused');
    await assertReachable(here, 'held', 1);
    const place = task.worktree_path ?? '';
    assert.equal(readFileSync(join(place, 'ignored', 'cache'), 'utf8'), 'ignored by held/1\n');
    const pruned = await here.json<readonly WorktreeView[]>(['worktree', 'prune', '-f']);
    assert.deepEqual(
      pruned.map(({ path, action }) => [path, action]),
      [[place, 'keep']],
    );
    await assertReachable(here, 'held', 1);
    // An agent that cannot resume starts over: its earlier work is kept under the task's name.
    await here.expect(0, ['resume-task', 'held']);
    const again = here.start(['run', '--json']);
    await eventually(
      'it is at work again',
      async () => (await here.task('held')).phase === 'agent',
    );
    await here.expect(0, ['cancel', 'held']);
    await again.ended;
    await assertReachable(here, 'held', 1);
  });

  test('prune without -f keeps dirty worktrees, and prune -f keeps their work under a ref', async () => {
    const here = project({ agent: leavesThings });
    await beginPlan(here, [{ id: 'fails', max_attempts: 1 }]);
    await here.expect(1, ['run']);
    const before = await here.json<readonly WorktreeView[]>(['worktree', 'list']);
    assert.equal(before.length, 1);
    const kept = await here.json<readonly WorktreeView[]>(['worktree', 'prune']);
    assert.equal(kept[0]?.action, 'keep', JSON.stringify(kept));
    assert.equal(existsSync(kept[0]?.path ?? ''), true);
    const removed = await here.json<readonly WorktreeView[]>(['worktree', 'prune', '-f']);
    assert.equal(removed[0]?.action, 'removed', JSON.stringify(removed));
    assert.equal(existsSync(removed[0]?.path ?? ''), false);
    await assertReachable(here, 'fails', 1);
    assert.deepEqual(here.git('worktree', 'list').split('\n').length, 1);
  });

  soakTest(
    'slots below a former worktree_root are no longer used, and prune removes them',
    async () => {
      const here = project();
      await beginPlan(here, ['t1']);
      await here.expect(0, ['run']);
      const former =
        (await here.json<readonly WorktreeView[]>(['worktree', 'list']))[0]?.path ?? '';
      await here.expect(0, ['server', 'stop']);
      here.write('repo/.drover.toml', 'worktree_root = "../trees"\n');
      await importPlan(here, ['t2']);
      await here.expect(0, ['run']);
      const pruned = await here.json<readonly WorktreeView[]>(['worktree', 'prune']);
      const slots = pruned.filter(({ path }) => path.includes('slot-'));
      const isNew = ({ path }: WorktreeView): boolean =>
        path.startsWith(join(here.folder, 'trees'));
      assert.deepEqual([slots.length, slots.filter(isNew).length], [2, 1]);
      assert.ok(slots.every(({ action }) => action === 'removed'));
      assert.ok(former !== '' && !existsSync(former));
    },
  );

  soakTest('earlier attempts stay reachable after reset and retry', async () => {
    const here = project({ agent: leavesThings });
    await beginPlan(here, [{ id: 'fails', max_attempts: 1 }]);
    await here.expect(1, ['run']);
    await here.expect(0, ['retry', 'fails']);
    await here.expect(1, ['run']);
    await here.expect(0, ['reset', 'fails']);
    await here.expect(1, ['run']);
    for (const attempt of [1, 2, 3]) await assertReachable(here, 'fails', attempt);
  });

  test('the work of an agent that died with its backend is kept when the next backend cancels it', async () => {
    const here = project({ agent: leavesThings });
    await beginPlan(here, ['orphan']);
    const run = here.start(['run', '--json']);
    await atWork(here, 'orphan');
    run.signal('SIGKILL');
    await run.ended;
    assert.doesNotMatch(await here.expect(0, ['status']), /No backend/u);
    await here.killBackend();
    assert.match(await here.expect(0, ['status']), /^Run: active .*\nNo backend is running it; /mu);
    await here.expect(0, ['cancel', 'orphan']);
    assert.equal((await here.task('orphan')).status, 'cancelled');
    await assertReachable(here, 'orphan', 1);
  });
});
