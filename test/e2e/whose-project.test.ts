// Which project a folder, a repository and a database belong to: with `git clean`, copies, moves,
// worktrees and deletions.

import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { StatusSnapshot, WorktreeView } from '../../server/protocol/api.ts';
import { removeFolder } from '../remove-folder.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import { isProcessAlive } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized, soakTest } from '../tier.ts';

interface DoctorAnswer {
  readonly checks: readonly { readonly name: string; readonly message: string }[];
}

const waits = `cat > /dev/null; touch ../../started; read -r line < ../../go; echo "work of $id" > "$id.txt"`;

/**
 * Until its agent runs, an attempt must write its own files, and fails if their folder is missing.
 */
async function agentStarted(here: Project): Promise<void> {
  await eventually('the agent has started', () => existsSync(join(here.folder, 'started')));
}

async function idsOf(here: Project): Promise<readonly string[]> {
  return (await here.status()).tasks.map(({ id }) => id);
}

suite('the project that a folder belongs to', function () {
  this.timeout(240_000);
  const project = useProjects({ isEachProcess: true });

  suite('git clean', () => {
    // The last path includes everything that the others use.
    for (const flags of sized(['-ffdx'], ['-fdx', '-fdX', '-ffdx'])) {
      test(`D9: git clean ${flags} keeps the plan`, async () => {
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
      await agentStarted(here);
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

    soakTest('init after git clean -ffdx says "already" and finds the plan', async () => {
      const here = project();
      await beginPlan(here, ['t1']);
      here.git('clean', '-q', '-ffdx');
      assert.match(await here.expect(0, ['init']), /already/);
      assert.deepEqual(await idsOf(here), ['t1']);
      await importPlan(here, ['t2']);
      assert.deepEqual(await idsOf(here), ['t1', 't2']);
    });
  });

  suite('copies and other repositories', () => {
    const sentence = (text: string): string =>
      (JSON.parse(text) as { error: { message: string } }).error.message;

    test('W10: a database that belongs to another repository is refused, and nothing is changed', async () => {
      const here = project();
      const url = `sqlite://${join(here.folder, 'shared.db')}`;
      const env = { DROVER_DATABASE_URL: url };
      await here.expect(0, ['init'], { env });
      await here.expect(0, ['add', 'Of the first'], { env });
      const other = join(here.folder, 'other');
      here.gitIn(here.folder, 'init', '-q', 'other');
      here.gitIn(other, 'commit', '-q', '--allow-empty', '-m', 'of the other');
      for (const args of [['init'], ['status'], ['run'], ['add', 'x']]) {
        if (args[0] === 'status') mkdirSync(join(other, '.drover'));
        const refused = await here.drover([...args, '--json'], { env, cwd: other });
        assert.equal(refused.code, 3, refused.stderr);
        assert.match(sentence(refused.stdout), /shared\.db belongs to the repository .*repo, not/);
        if (args[0] === 'init') assert.deepEqual(readdirSync(other), ['.git']);
      }
      const { tasks } = await here.json<StatusSnapshot>(['status'], { env });
      assert.equal(tasks.length, 1);
    });

    test('a clone that contained .drover is refused, and without it gets its own plan', async () => {
      const here = project();
      await beginPlan(here, ['t1']);
      const clone = join(here.folder, 'clone');
      here.gitIn(here.folder, 'clone', '-q', 'repo', 'clone');
      cpSync(join(here.root, '.drover'), join(clone, '.drover'), { recursive: true });
      for (const args of [['status'], ['run'], ['init']]) {
        const refused = await here.drover([...args, '--json'], { cwd: clone });
        assert.equal(refused.code, 3, refused.stderr);
        assert.match(sentence(refused.stdout), /belongs to the repository .*repo, not to .*clone/);
      }
      const doctor = await here.json<DoctorAnswer>(['doctor'], { cwd: clone });
      const check = doctor.checks.find(({ name }) => name === 'project');
      assert.match(check?.message ?? '', /belongs to the repository .*repo, not to .*clone/);
      removeFolder(join(clone, '.drover'));
      await here.expect(0, ['init'], { cwd: clone });
      const { tasks } = await here.json<StatusSnapshot>(['status'], { cwd: clone });
      assert.deepEqual(tasks, []);
    });

    test('D1: a copy that was made while a task ran starts no engine, and the original finishes', async () => {
      const here = project({ agent: waits });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, ['t1']);
      const run = here.start(['run', '--json']);
      await agentStarted(here);
      const copy = join(here.folder, 'copy');
      assert.equal(here.sh(here.folder, 'cp -r repo copy'), 0);
      const refused = await here.drover(['run', '--json'], { cwd: copy });
      assert.equal(refused.code, 3, refused.stderr);
      assert.match(
        sentence(refused.stdout),
        /copy is a copy of .*repo that was made while tasks were/,
      );
      barrier.open();
      assert.equal((await run.ended).code, 0);
      barrier.close();
      assert.deepEqual(landedTasks(here, 'main'), ['t1']);
    });

    soakTest('a copy of an idle project is a separate project', async () => {
      const here = project();
      await beginPlan(here, ['t1']);
      await here.expect(0, ['run']);
      await here.expect(0, ['server', 'stop']);
      await importPlan(here, ['t2']);
      const copy = join(here.folder, 'copy');
      assert.equal(here.sh(here.folder, 'cp -r repo copy'), 0);
      await here.expect(0, ['run'], { cwd: copy });
      assert.deepEqual(readdirSync(join(here.folder, 'copy.worktrees')), ['slot-1']);
      assert.equal(here.gitIn(copy, 'show', 'main:t2.txt'), 'work of t2');
      assert.equal((await here.task('t2')).status, 'ready');
      await here.expect(0, ['run']);
      const ids = [here.root, copy].map((root) =>
        readFileSync(join(root, '.git', 'drover', 'project.json'), 'utf8'),
      );
      assert.notEqual(ids[0]?.slice(0, 40), ids[1]?.slice(0, 40));
      await here.expect(0, ['server', 'stop'], { cwd: copy });
    });

    test('V3: a new backend serves a repository that is moved under a running backend', async () => {
      const here = project({ agent: waits });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, ['t1']);
      const run = here.start(['run', '--json']);
      await agentStarted(here);
      const pid = here.backendPid();
      const moved = join(here.folder, 'moved');
      renameSync(here.root, moved);
      run.signal('SIGKILL');
      barrier.open(3);
      await here.expect(0, ['resume'], { cwd: moved });
      barrier.close();
      assert.ok(pid !== null);
      await eventually('the former backend is gone', () => !isProcessAlive(pid));
      const { tasks } = await here.json<StatusSnapshot>(['status'], { cwd: moved });
      assert.deepEqual(
        tasks.map(({ status, attempts }) => [status, attempts]),
        [['completed', 0]],
      );
      assert.equal(here.gitIn(moved, 'show', 'main:t1.txt'), 'work of t1');
      await here.expect(0, ['server', 'stop'], { cwd: moved });
    });
  });

  soakTest('S4: a linked worktree finds the project, and init there says "already"', async () => {
    const here = project();
    await beginPlan(here, ['t1']);
    here.git('worktree', 'add', '-q', '../linked', '-b', 'feature');
    const cwd = join(here.folder, 'linked');
    const { tasks } = await here.json<StatusSnapshot>(['status'], { cwd });
    assert.equal(tasks.length, 1);
    assert.match(await here.expect(0, ['init'], { cwd }), /already/);
  });

  test('S4: a run that is started in a linked worktree lands on the branch checked out there', async () => {
    const here = project();
    await beginPlan(here, ['t1']);
    here.git('worktree', 'add', '-q', '../linked', '-b', 'feature');
    const cwd = join(here.folder, 'linked');
    await here.expect(0, ['run'], { cwd });
    assert.deepEqual(landedTasks(here, 'feature'), ['t1']);
    assert.deepEqual(landedTasks(here, 'main'), []);
    assert.equal(readFileSync(join(cwd, 't1.txt'), 'utf8'), 'work of t1\n');
    await importPlan(here, ['t2']);
    here.gitIn(cwd, 'switch', '-q', '--detach');
    const refused = await here.drover(['run'], { cwd });
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /HEAD is detached/);
  });

  soakTest(
    'A3: a project behind a symbolic link has its worktrees, and its landed branches are removed',
    async () => {
      const here = project();
      symlinkSync(here.folder, join(here.folder, 'link'));
      const root = join(here.folder, 'link', 'repo');
      await here.expect(0, ['-C', root, 'init']);
      await here.expect(0, ['-C', root, 'add', 'One']);
      await here.expect(0, ['-C', root, 'run']);
      const [slot] = await here.json<readonly WorktreeView[]>(['-C', root, 'worktree', 'list']);
      assert.equal(slot?.status, 'free');
      assert.equal(slot.path, join(here.folder, 'repo.worktrees', 'slot-1'));
      assert.equal(here.git('branch', '--list', 'drover/*'), '');
    },
  );

  soakTest('A4: worktrees around a bare repository have one project', async () => {
    const here = project();
    here.gitIn(here.folder, 'clone', '-q', '--bare', 'repo', 'all.git');
    const one = join(here.folder, 'one');
    const two = join(here.folder, 'two');
    here.gitIn(join(here.folder, 'all.git'), 'worktree', 'add', '-q', '../one', 'main');
    here.gitIn(join(here.folder, 'all.git'), 'worktree', 'add', '-q', '../two', '-b', 'two');
    const made = await here.json<{ root: string }>(['init'], { cwd: one });
    const again = await here.json<{ root: string }>(['init'], { cwd: two });
    assert.deepEqual([made.root, again.root], [one, one]);
    await here.expect(0, ['add', 'From the second'], { cwd: two });
    const { tasks } = await here.json<StatusSnapshot>(['status'], { cwd: one });
    assert.equal(tasks.length, 1);
    assert.equal(existsSync(join(two, '.drover')), false);
  });

  test("an attempt that ends leaves another project's agents alone, whatever the ids of its tasks", async () => {
    const [first, second] = [project({ agent: waits }), project({ agent: waits })];
    const barriers = [first, second].map(({ folder }) => makeBarrier(folder, 'go'));
    const runs = [];
    for (const here of [first, second]) {
      await beginPlan(here, [{ id: 't1', max_attempts: 1 }]);
      const run = here.start(['run', '--json']);
      runs.push(run);
      await eventually('its agent runs', async () => (await here.task('t1')).phase === 'agent');
    }
    for (const [at, run] of runs.entries()) {
      barriers[at]?.open();
      const done = await run.ended;
      assert.equal(done.code, 0, done.stdout.slice(-2000));
      barriers[at]?.close();
    }
  });

  test('A6: the backend of a deleted project stops its agents and exits', async () => {
    const here = project({ agent: waits });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1']);
    const run = here.start(['run', '--json']);
    await agentStarted(here);
    const pid = here.backendPid();
    assert.ok(pid !== null);
    for (const name of ['repo', 'repo.worktrees']) removeFolder(join(here.folder, name));
    await eventually('the backend leaves', () => !isProcessAlive(pid));
    run.signal('SIGKILL');
    barrier.close();
    assert.equal(existsSync(here.root), false);
  });
});
