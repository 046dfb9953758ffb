// Attempts on workers of this machine: the same work as locally, and nothing left of the workers,
// whichever process dies.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, type PlanRecord } from './support/plan.ts';
import { processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized, soakTest } from '../tier.ts';

const onProcess = `
runs_on = "remote"
[remote]
provisioner = "process"
max = 4
`;

const workersOf = (here: Project): string => join(here.root, '.drover', 'remote', 'workers');

function left(here: Project): readonly string[] {
  return ['leases', 'workers'].flatMap((name) => {
    const folder = join(here.root, '.drover', 'remote', name);
    return existsSync(folder) ? readdirSync(folder) : [];
  });
}

/** Runtimes of live workers: their folder is among their arguments. */
function runtimes(here: Project): readonly number[] {
  return processesOf(here.folder)
    .filter(({ what }) => what.includes('worker-runtime') && what.includes('--workspace'))
    .map(({ pid }) => pid);
}

/**
 * Every execution adds a line to a file beside the project, by its absolute path, because a worker
 * has a separate folder.
 */
const recorded = (folder: string): string => `
cat > /dev/null
echo "$id" >> '${folder}/executions'
cat ./*.txt > "all-before-$id" 2> /dev/null || true
echo "work of $id" > "$id.txt"
`;

/** Two diamonds in sequence, followed by a chain; the other tasks are independent. */
const tasksInAll = sized(11, 20);

function diamonds(): readonly PlanRecord[] {
  const blockers: Readonly<Record<number, readonly number[]>> = {
    1: [0],
    2: [0],
    3: [1, 2],
    4: [3],
    5: [3],
    6: [4, 5],
    7: [6],
    8: [7],
  };
  return Array.from({ length: tasksInAll }, (_, n) => ({
    id: `T-${n}`,
    blocked_by: (blockers[n] ?? []).map((blocker) => `T-${blocker}`),
  }));
}

suite('remote attempts', function () {
  this.timeout(300_000);
  const project = useProjects();

  test('C13 a preview sends nothing; a task runs on a worker without a question, lands as usual, and leaves no instance', async () => {
    const here = project({
      settings: onProcess,
      agent: 'cat > /dev/null\npwd\necho "work of $id" > "$id.txt"\nrm README.md\nls -a > seen.txt',
      files: { '.env': 'SECRET=1\n' },
    });
    await beginPlan(here, ['far']);
    const preview = await here.json<{ files: number; secrets: string[] }>(['remote', 'preview']);
    assert.deepEqual([preview.files, preview.secrets], [3, ['.env']]);
    assert.match(await here.expect(0, ['remote', 'preview']), /^3 files, \d/);
    assert.deepEqual(left(here), [], 'a preview makes no worker');
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['far']);
    assert.equal(here.git('show', 'main:far.txt'), 'work of far');
    const names = here.git('ls-tree', '--name-only', 'main').split('\n');
    assert.deepEqual(names, ['.drover.toml', '.env', '.gitignore', 'far.txt', 'seen.txt']);
    const seen = here.git('show', 'main:seen.txt').split('\n');
    assert.ok(!seen.includes('.env') && seen.includes('.drover-job'));
    const log = await here.expect(0, ['log', 'far']);
    assert.match(log, /Not uploaded, because the names look like secrets: \.env\./);
    assert.match(log, /\.drover\/remote\/workers\/drv-[0-9a-f]{8}-1\/workspace/);
    assert.deepEqual(left(here), []);
  });

  test("tasks in diamonds run on four workers with one killed backend, and each lands once with its blockers' work", async () => {
    const here = project({ settings: onProcess });
    here.write('agent.sh', `#!/bin/sh\nid=$DROVER_TASK_ID\n${recorded(here.folder)}`);
    await beginPlan(here, diamonds());
    const run = here.start(['run', '--workers', '4']);
    await eventually(
      'a third has begun',
      () => here.read('executions').split('\n').length > tasksInAll / 3,
    );
    await here.killBackend();
    await run.ended;
    await here.expect(0, ['resume']);
    const ids = diamonds().map(({ id }) => id);
    assert.deepEqual(here.read('executions').trim().split('\n').toSorted(), ids.toSorted());
    assert.deepEqual(landedTasks(here).toSorted(), ids.toSorted());
    // As after a local run: a file for each task, and the order of the dependencies.
    for (const id of ids) assert.equal(here.git('show', `main:${id}.txt`), `work of ${id}`);
    const chain = here.git('show', 'main:all-before-T-8').split('\n');
    for (const id of ids.slice(0, 8)) assert.ok(chain.includes(`work of ${id}`));
    assert.deepEqual(left(here), []);
    assert.deepEqual(runtimes(here), []);
  });

  test('a killed worker costs no attempt, and its job runs on another worker', async () => {
    const here = project({ settings: onProcess });
    const barrier = makeBarrier(here.folder, 'gate');
    here.write(
      'agent.sh',
      `#!/bin/sh\ncat > /dev/null\necho begun >> '${here.folder}/executions'\n${barrier.wait}\necho done > done.txt\n`,
    );
    await beginPlan(here, ['hit']);
    const run = here.start(['run']);
    await eventually('it has begun', () => here.read('executions') === 'begun\n');
    assert.match(await here.expect(0, ['why', 'hit']), /is running on a remote worker/);
    const list = await here.json<{ workers: { name: string; state: string; run: string }[] }>([
      'remote',
      'list',
    ]);
    assert.deepEqual(
      list.workers.map(({ state, run: what }) => `${state} ${what}`),
      ['running hit/1/hit'],
    );
    const name = list.workers[0]?.name ?? '';
    assert.match(await here.expect(3, ['remote', 'destroy', name, '--json']), /worker_running/);
    const [runtime] = runtimes(here);
    assert.ok(runtime !== undefined);
    process.kill(runtime, 'SIGKILL');
    await eventually('it has begun again', () => here.read('executions') === 'begun\nbegun\n');
    barrier.open();
    assert.equal((await run.ended).code, 0);
    barrier.close();
    assert.equal((await here.task('hit')).attempts, 0);
    assert.match(await here.expect(0, ['log', 'hit']), /Trying another instance/);
    assert.deepEqual(left(here), []);
    assert.deepEqual(runtimes(here), []);
  });

  test('a paused attempt fetches its work, releases its worker, and continues from that work', async () => {
    const here = project({ settings: onProcess });
    here.write(
      'agent.sh',
      `#!/bin/sh\ncat > /dev/null\nif [ -e half.txt ]; then echo whole > whole.txt; exit 0; fi\necho half > half.txt\ntouch '${here.folder}/begun'\nexec sleep 600\n`,
    );
    await beginPlan(here, ['held']);
    const run = here.start(['run']);
    await eventually('half of it is there', () => existsSync(join(here.folder, 'begun')));
    await here.expect(0, ['pause', 'held']);
    await run.ended;
    assert.deepEqual(left(here), []);
    assert.deepEqual(runtimes(here), []);
    assert.equal(here.git('show', 'refs/drover/work/held/1:half.txt'), 'half');
    await here.expect(0, ['resume-task', 'held']);
    await here.expect(0, ['run']);
    assert.equal(here.git('show', 'main:whole.txt'), 'whole');
    assert.deepEqual(left(here), []);
  });

  test('local and remote attempts run at once, as the task, its label or its epic says, and why names the reason', async () => {
    const here = project({ settings: '[remote]\nprovisioner = "process"\nlabels = ["gpu"]\n' });
    const barrier = makeBarrier(here.folder, 'gate');
    here.write(
      'agent.sh',
      `#!/bin/sh\ncat > /dev/null\nid=$DROVER_TASK_ID\npwd > '${here.folder}/place-'$id\necho $id >> '${here.folder}/executions'\n${barrier.wait}\necho "work of $id" > "$id.txt"\n`,
    );
    await beginPlan(here, [
      { id: 'away', type: 'epic', runs_on: 'remote' },
      { id: 'plain' },
      { id: 'labelled', labels: ['gpu'] },
      { id: 'asked', runs_on: 'remote' },
      { id: 'kept', epic_id: 'away', runs_on: 'local' },
      { id: 'inside', epic_id: 'away' },
    ]);
    const all = ['asked', 'inside', 'kept', 'labelled', 'plain'];
    const run = here.start(['run', '--workers', '5']);
    await eventually('all five have begun', () => {
      const path = join(here.folder, 'executions');
      return existsSync(path) && here.read('executions').trim().split('\n').length === 5;
    });
    const places = all.filter((id) =>
      here.read(`place-${id}`).includes('/.drover/remote/workers/'),
    );
    assert.deepEqual(places, ['asked', 'inside', 'labelled']);
    const why = async (id: string): Promise<string> => await here.expect(0, ['why', id]);
    assert.match(await why('asked'), /on a remote worker because the task says so/);
    assert.match(await why('labelled'), /on a remote worker because .*gpu/);
    assert.match(await why('inside'), /on a remote worker because .*epic/);
    for (const id of ['kept', 'plain']) assert.doesNotMatch(await why(id), /remote/);
    barrier.open(5);
    await run.ended;
    barrier.close();
    for (const id of all) assert.equal(here.git('show', `main:${id}.txt`), `work of ${id}`);
    assert.deepEqual(left(here), []);
  });

  soakTest(
    'C35 a checkout that is dirty and moves during the job stays unchanged, and the work is on a ref from the base',
    async () => {
      const here = project({ settings: onProcess, files: { 'mine.txt': 'one\n' } });
      const barrier = makeBarrier(here.folder, 'gate');
      here.write(
        'agent.sh',
        `#!/bin/sh\ncat > /dev/null\necho half > half.txt\ntouch '${here.folder}/begun'\n${barrier.wait}\nexit 3\n`,
      );
      await here.expect(0, ['init']);
      const id = await here.add('Far away', '--max-attempts', '1');
      const run = here.start(['run']);
      await eventually('it has begun', () => existsSync(join(here.folder, 'begun')));
      const before = here.git('rev-parse', 'main');
      here.git('switch', '-qc', 'other');
      writeFileSync(join(here.root, 'mine.txt'), 'two\n');
      here.git('add', 'mine.txt');
      writeFileSync(join(here.root, 'mine.txt'), 'three\n');
      const status = here.git('status', '--porcelain');
      barrier.open();
      assert.equal((await run.ended).code, 1);
      barrier.close();
      assert.equal(here.git('status', '--porcelain'), status);
      assert.equal(readFileSync(join(here.root, 'mine.txt'), 'utf8'), 'three\n');
      assert.equal(here.git('symbolic-ref', '--short', 'HEAD'), 'other');
      assert.equal(here.git('rev-parse', 'main'), before);
      assert.equal(here.git('show', `refs/drover/work/${id}/1:half.txt`), 'half');
      assert.equal(here.git('merge-base', before, `refs/drover/work/${id}/1`), before);
      assert.deepEqual(left(here), []);
    },
  );

  test('C38 the work of a failed job is on a separate ref, and lands neither by itself nor with later work', async () => {
    const here = project({
      settings: onProcess,
      agent:
        'cat > /dev/null\nif [ "$id" = bad ]; then echo half > half.txt; exit 3; fi\necho whole > "$id.txt"',
    });
    await beginPlan(here, ['bad', { id: 'behind', blocked_by: ['bad'] }, 'good']);
    await here.expect(0, ['edit', 'bad', '--max-attempts', '1']);
    await here.expect(1, ['run']);
    assert.equal((await here.task('bad')).status, 'failed');
    assert.equal(here.git('show', 'refs/drover/work/bad/1:half.txt'), 'half');
    assert.match(await here.expect(0, ['why', 'bad']), /Its work is kept: .*drover\/work\/bad/);
    assert.deepEqual(landedTasks(here), ['good']);
    assert.throws(() => here.git('show', 'main:half.txt'));
    assert.equal((await here.task('behind')).attempts, 0);
    assert.deepEqual(left(here), []);
  });

  soakTest(
    'if follower and backend are killed together, the worker is destroyed, the job runs again, and no attempt is used',
    async () => {
      const here = project({ settings: onProcess });
      here.write(
        'agent.sh',
        `#!/bin/sh\ncat > /dev/null\necho begun >> '${here.folder}/executions'\n[ -e '${here.folder}/again' ] || exec sleep 600\necho done > done.txt\n`,
      );
      await beginPlan(here, ['lost']);
      const run = here.start(['run']);
      await eventually('it has begun', () => here.read('executions') === 'begun\n');
      const [worker] = readdirSync(workersOf(here));
      const lease = join(here.root, '.drover', 'remote', 'leases', `${worker}.json`);
      const { pid } = JSON.parse(readFileSync(lease, 'utf8')) as { pid: number };
      here.write('again', '');
      process.kill(pid, 'SIGKILL');
      await here.killBackend();
      // The command starts the next backend automatically.
      await run.ended;
      await here.expect(0, ['resume']);
      assert.deepEqual(landedTasks(here), ['lost']);
      assert.equal((await here.task('lost')).attempts, 0);
      assert.deepEqual(left(here), []);
      assert.deepEqual(runtimes(here), []);
    },
  );

  test('a task that cannot run on a worker is refused with its remedy, and no instance is created', async () => {
    const here = project({ env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '' } });
    await here.expect(0, ['init']);
    const id = await here.add('Far away', '--runs-on', 'remote', '--max-attempts', '1');
    assert.equal((await here.task(id)).runs_on, 'remote');
    await here.expect(1, ['run']);
    assert.match((await here.task(id)).last_error ?? '', /Set \[remote\] provisioner/);
    await here.expect(0, ['retry', id]);
    await here.expect(1, ['run'], { env: { DROVER_REMOTE_PROVISIONER: 'process' } });
    assert.match((await here.task(id)).last_error ?? '', /Agent kind demo cannot run on a remote/);
    const wrong = await here.drover(['add', 'Nowhere', '--runs-on', 'moon']);
    assert.equal(wrong.code, 3);
    assert.match(wrong.stderr, /local, remote/);
    assert.deepEqual(left(here), []);
    assert.match(await here.expect(3, ['remote', 'test', '--json']), /no_provisioner/);
    const env = { DROVER_REMOTE_PROVISIONER: 'process' };
    const tested = await here.json<{ ok: boolean; message: string }>(['remote', 'test'], { env });
    assert.ok(tested.ok, tested.message);
    assert.deepEqual(left(here), []);
  });
});
