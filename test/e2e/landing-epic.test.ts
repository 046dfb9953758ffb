// An epic that lands as a whole, and one that waits for a person's approval.

import assert from 'node:assert/strict';
import type { TaskView } from '../../server/protocol/api.ts';
import { listNeeds } from '../../server/protocol/needs.ts';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { firstParents, landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const epic = { id: 'E1', type: 'epic', title: 'Build the thing' } as const;
const stories = [
  { id: 't1', epic_id: 'E1' },
  { id: 't2', epic_id: 'E1', blocked_by: ['t1'] },
];
const other = { id: 'other' };

suite('landing: an epic as a whole', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('its tasks land on its own branch, and the finished epic lands on the target as one merge', async () => {
    const here = project();
    await beginPlan(here, [epic, ...stories, other]);
    const base = here.git('rev-parse', 'main');
    const gate = 'pwd >> ../../gated; test -e README.md';
    await here.expect(0, ['run', '--epic', 'E1', '--gate', gate]);
    assert.deepEqual(landedTasks(here, 'drover/epic/E1'), ['t1', 't2']);
    assert.deepEqual(landedTasks(here), []);
    const [, landed, ...more] = firstParents(here);
    assert.deepEqual(more, []);
    assert.equal(landed?.subject, 'drover: E1 Build the thing');
    assert.deepEqual(landed?.trailers, { 'Drover-Epic': 'E1' });
    assert.deepEqual(landed?.parents, [base, here.git('rev-parse', 'drover/epic/E1')]);
    const status = await here.status();
    assert.equal(status.epics[0]?.landed_sha, landed?.sha);
    assert.equal(status.epics[0]?.branch, 'drover/epic/E1');
    assert.equal((await here.task('other')).status, 'ready');
    assert.equal(here.read('repo/t2.txt'), 'work of t2\n');
    const again = here.git('rev-parse', 'main');
    await here.expect(0, ['run', '--epic', 'E1', '--gate', gate]);
    assert.equal(here.git('rev-parse', 'main'), again);
  });

  test('an epic is gated on the current target, and a red gate leaves the target unchanged and is reported', async () => {
    const here = project({
      agent: `if [ $id = t2 ]; then read -r line < ../../go; fi; ${writesOneFile}`,
    });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, [epic, ...stories]);
    const main = here.git('rev-parse', 'main');
    here.git('checkout', '-q', '-b', 'elsewhere');
    const gate = 'test ! -e t2.txt || test ! -e mains.txt';
    // The commit on the target comes between the tasks and the epic, so only the epic's own gate
    // can see both.
    here.git('checkout', '-q', 'main');
    const run = here.start(['run', '--epic', 'E1', '--gate', gate, '--json']);
    await run.line((line) => line.includes('"task.started"') && line.includes('"t2"'));
    here.write('repo/mains.txt', 'by the user\n');
    here.git('add', 'mains.txt');
    here.git('commit', '-qm', 'by the user');
    const users = here.git('rev-parse', 'main');
    assert.notEqual(users, main);
    barrier.open();
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 2, done.stdout);
    assert.equal(here.git('rev-parse', 'main'), users);
    assert.deepEqual(landedTasks(here, 'drover/epic/E1'), ['t1', 't2']);
    assert.match(done.stdout, /epic\.gate_failed/);
    // Once it is fixed on the target, the epic lands with the next run.
    here.git('rm', '-q', 'mains.txt');
    here.git('commit', '-qm', 'cured');
    await here.expect(0, ['run', '--epic', 'E1', '--gate', gate]);
    assert.equal(firstParents(here).at(-1)?.trailers['Drover-Epic'], 'E1');
  });

  test("a task that failed on its epic's branch and is completed elsewhere brings no other work of the epic along", async () => {
    const fails = `if [ $id = t2 ] && [ ! -e ../../cured ]; then echo half > half.txt; exit 9; fi`;
    const here = project({ agent: `${fails}; ${writesOneFile}` });
    await beginPlan(here, [epic, { id: 't1', epic_id: 'E1' }, { id: 't2', epic_id: 'E1' }]);
    await here.expect(1, ['run', '--epic', 'E1', '--workers', '1']);
    assert.deepEqual(landedTasks(here, 'drover/epic/E1'), ['t1']);
    here.write('cured', '');
    await here.expect(0, ['restore', 't2']);
    await here.expect(2, ['run', '--land', 'task']);
    const files = here.git('ls-tree', '--name-only', 'main').split('\n');
    assert.deepEqual(landedTasks(here), ['t2']);
    assert.deepEqual(
      ['half.txt', 't1.txt', 't2.txt'].filter((file) => files.includes(file)),
      ['half.txt', 't2.txt'],
    );
    await here.expect(0, ['run', '--epic', 'E1']);
    assert.equal(here.read('repo/t1.txt'), 'work of t1\n');
  });

  soakTest(
    'work that conflicts after a commit below it was removed lands as its message says',
    async () => {
      const here = project({
        agent: `if [ $id = t1 ]; then read -r line < ../../go; fi; echo "by $id" >> shared.txt`,
      });
      const barrier = makeBarrier(here.folder, 'go');
      const commitShared = (content: string, message: string): void => {
        here.write('repo/shared.txt', content);
        here.git('add', 'shared.txt');
        here.git('commit', '-qm', message);
      };
      await beginPlan(here, [epic, ...stories]);
      commitShared('all\n', 'shared');
      commitShared('all\nmine\n', 'taken out later');
      const run = here.start(['run', '--epic', 'E1', '--json']);
      await run.line((line) => line.includes('"worktree.ready"'));
      here.git('reset', '-q', '--hard', 'HEAD~1');
      barrier.open();
      assert.equal((await run.ended).code, 2);
      barrier.close();
      const note = (await here.status()).epics[0]?.landing_note ?? '';
      const picks =
        /conflicts with main in shared\.txt; run git cherry-pick -m 1 ([0-9a-f ]+) on main \(/u;
      const commits = picks.exec(note)?.[1]?.split(' ') ?? [];
      assert.equal(commits.length, 2, note);
      assert.throws(() => here.git('cherry-pick', '-m', '1', ...commits));
      here.write('repo/shared.txt', 'all\nby t1\n');
      here.git('add', 'shared.txt');
      here.git('-c', 'core.editor=true', 'cherry-pick', '--continue');
      await here.expect(0, ['run', '--epic', 'E1']);
      await here.expect(0, ['run']);
      assert.equal((await here.status()).epics[0]?.landing_state, 'landed');
      assert.equal(here.git('show', 'main:shared.txt'), 'all\nby t1\nby t2');
    },
  );

  soakTest('--land task lets the tasks of an epic land one by one', async () => {
    const here = project();
    await beginPlan(here, [epic, ...stories]);
    await here.expect(0, ['run', '--epic', 'E1', '--land', 'task']);
    assert.deepEqual(landedTasks(here), ['t1', 't2']);
  });
});

suite('landing: an epic that waits for a review', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('an approved epic lands exactly the reviewed change, once', async () => {
    const here = project();
    await beginPlan(here, [epic, ...stories]);
    const base = here.git('rev-parse', 'main');
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'review', '--gate', 'true']);
    assert.equal(here.git('rev-parse', 'main'), base);
    const diff = await here.expect(0, ['diff', 'E1']);
    assert.match(diff, /\+work of t1/);
    assert.match(diff, /\+work of t2/);
    await here.expect(0, ['approve', 'E1']);
    await here.expect(0, ['run', '--epic', 'E1', '--land', 'review', '--gate', 'true']);
    const merges = firstParents(here).filter(({ trailers }) => trailers['Drover-Epic'] === 'E1');
    assert.equal(merges.length, 1);
    assert.equal(here.git('diff', base, 'main'), diff.trimEnd());
    const second = await here.drover(['approve', 'E1']);
    assert.equal(second.code, 3);
  });

  test('an approval belongs to a tree: a change of the target requires a new approval', async () => {
    const here = project();
    await beginPlan(here, [epic, ...stories]);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'review', '--gate', 'true']);
    here.write('repo/later.txt', 'by the user\n');
    here.git('add', 'later.txt');
    here.git('commit', '-qm', 'by the user');
    await here.expect(0, ['approve', 'E1']);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'review', '--gate', 'true']);
    assert.equal(here.git('log', '-1', '--format=%s', 'main'), 'by the user');
    await here.expect(0, ['approve', 'E1']);
    await here.expect(0, ['run', '--epic', 'E1', '--land', 'review', '--gate', 'true']);
    assert.equal(firstParents(here).at(-1)?.trailers['Drover-Epic'], 'E1');
    assert.equal(here.read('repo/later.txt'), 'by the user\n');
  });

  soakTest(
    'if the target returns to a tree that was approved earlier, the epic lands',
    async () => {
      const here = project();
      const review = ['run', '--epic', 'E1', '--land', 'review', '--gate', 'true'];
      const asks = (tree: string | null): Promise<string> =>
        eventually('it asks for another tree', async () => {
          const events = await here.events('--type', 'epic.needs_review');
          const last = events.at(-1)?.data['tree'];
          return typeof last === 'string' && last !== tree ? last : null;
        });
      await beginPlan(here, [epic, ...stories]);
      await here.expect(2, review);
      const first = await asks(null);
      here.git('commit', '-q', '--allow-empty', '-m', 'by the user');
      here.write('repo/later.txt', 'by the user\n');
      here.git('add', 'later.txt');
      here.git('commit', '-q', '--amend', '--no-edit');
      await here.expect(0, ['approve', 'E1']);
      const second = await asks(first);
      here.git('reset', '-q', '--hard', 'HEAD~1');
      await here.expect(0, ['approve', 'E1']);
      assert.equal(await asks(second), first);
      await here.expect(0, ['approve', 'E1']);
      await eventually(
        'it lands',
        () => firstParents(here).at(-1)?.trailers['Drover-Epic'] === 'E1',
      );
    },
  );

  test('an epic that is sent back gets the missing part, and requests a review again', async () => {
    const here = project();
    await beginPlan(here, [epic, ...stories]);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'review']);
    await here.expect(0, ['send-back', 'E1', 'The third file is missing.']);
    assert.equal((await here.drover(['approve', 'E1'])).code, 3);
    await importPlan(here, [{ id: 't3', epic_id: 'E1' }]);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'review']);
    await here.expect(0, ['approve', 'E1']);
    await here.expect(0, ['resume']);
    await here.expect(0, ['run', '--epic', 'E1', '--land', 'review']);
    assert.equal(here.read('repo/t3.txt'), 'work of t3\n');
  });

  test('a task held for its secrets is approved without them, or sent back with a comment', async () => {
    const here = project({
      agent: `
prompt=$(cat)
case "$prompt" in
  *"Leave the key out"*) rm -f .env; echo cured > "$id.cured";;
  *) echo KEY=1 > .env;;
esac
echo "work of $id" > "$id.txt"
`,
    });
    await beginPlan(here, ['t1', 't2']);
    await here.expect(2, ['run']);
    for (const id of ['t1', 't2']) {
      const task = await here.task(id);
      assert.deepEqual([task.status, task.review_kind], ['needs_review', 'held_files']);
      assert.deepEqual(task.held_files, ['.env']);
    }
    assert.equal((await here.json<TaskView>(['approve', 't1'])).status, 'completed');
    await here.expect(0, ['send-back', 't2', 'Leave the key out.']);
    await here.expect(0, ['run']);
    assert.deepEqual([...landedTasks(here)].sort(), ['t1', 't2']);
    assert.equal(here.git('ls-tree', '-r', '--name-only', 'main').includes('.env'), false);
    assert.equal(here.read('repo/t2.cured'), 'cured\n');
    for (const type of ['task.approved', 'task.sent_back']) {
      const [decided] = await here.events('--type', type);
      assert.equal(decided?.data['by'], 'person', type);
    }
  });

  const lastDecisions = [
    ['approves the last task', ['approve', 't2']],
    ['cancels the last task', ['cancel', 't2']],
  ] as const;
  for (const [what, command] of lastDecisions) {
    test(`a person who ${what} after the run's end sees which command lands the epic`, async () => {
      const agent = `if [ "$id" = t2 ]; then echo KEY=1 > .env; fi; ${writesOneFile}`;
      const here = project({ agent });
      await beginPlan(here, [epic, ...stories]);
      await here.expect(2, ['run', '--epic', 'E1']);
      const { code, stderr } = await here.drover([...command]);
      assert.equal(code, 0);
      assert.match(stderr, /No run is active: "drover run --epic E1" lands the epic E1\./u);
      const needs = listNeeds(await here.status()).map(({ kind }) => kind);
      assert.deepEqual(needs, ['epic_unlanded']);
      await here.expect(0, ['run', '--epic', 'E1']);
      assert.equal(firstParents(here).at(-1)?.trailers['Drover-Epic'], 'E1');
      assert.deepEqual(listNeeds(await here.status()), []);
    });
  }

  soakTest(
    'a task outside that waits for one of its tasks starts, even if that work landed without its history',
    async () => {
      const here = project({
        agent: `[ "$id" != t1 ] || read -r line < ../../go; cat > /dev/null; echo "by $id" > shared.txt`,
      });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, [epic, ...stories, { id: 'after', blocked_by: ['t1'] }]);
      const run = here.start(['run', '--epic', 'E1', '--land', 'epic', '--json']);
      await run.line((line) => line.includes('"worktree.ready"'));
      here.git('commit', '-q', '--amend', '--allow-empty', '-m', 'another first one');
      barrier.open();
      assert.equal((await run.ended).code, 0);
      assert.match(here.git('log', '-1', '--format=%B', 'main'), /^Drover-Tip: /m);
      await here.expect(0, ['run']);
      barrier.close();
      assert.equal((await here.task('after')).status, 'completed');
      assert.equal(here.git('show', 'main:shared.txt'), 'by after');
    },
  );

  test('secrets that the agent itself committed land neither in the tree nor in the history', async () => {
    const here = project({
      files: { 'server.key': 'of the project\n' },
      agent: `
cat > /dev/null
commit() { git add -A -f; git commit -qm "$1"; }
[ "$id" = removed ] || { echo KEY=hunter2 > id_rsa; echo mine > server.key; commit key; }
echo KEY=hunter2 > .env; commit env
rm .env; echo "work of $id" > "$id.txt"; commit work
`,
    });
    await beginPlan(here, ['kept', 'removed']);
    await here.expect(2, ['run', '--workers', '1']);
    assert.deepEqual((await here.task('kept')).held_files, ['.env', 'id_rsa', 'server.key']);
    assert.deepEqual((await here.task('removed')).held_files, ['.env']);
    for (const id of ['kept', 'removed']) {
      await here.json<TaskView>(['approve', id]);
      await eventually(`the work of ${id} is in the checkout`, () => {
        return here.read(`repo/${id}.txt`) === `work of ${id}\n`;
      });
    }
    const named = here.git('log', '--format=', '--name-only', 'main').split('\n');
    assert.deepEqual(
      ['.env', 'id_rsa'].map((name) => named.includes(name)),
      [false, false],
    );
    assert.equal(here.git('show', 'main:server.key'), 'of the project');
    assert.equal(here.git('log', '-S', 'hunter2', '--format=%H', 'main'), '');
  });
});
