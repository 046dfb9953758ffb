// `drover worker` with a real PostgreSQL: it runs in the foreground until it is stopped, drains at
// the first signal and releases its tasks at the second.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { MachineView } from '../../server/protocol/api.ts';
import type { WorkerNote } from '../../server/protocol/worker-notes.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { type Barrier, makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { droverProgram } from './support/program.ts';
import type { Project } from './support/project.ts';
import { type RunningProgram, startProgram } from './support/run-program.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const waitsAtTheDoor = `
cat > /dev/null
echo "$id" >> ../../at-work.txt
read -r line < ../../door
echo "work of $id" > "$id.txt"
`;

const leftWorkers = (list: unknown): readonly unknown[] =>
  (list as { readonly workers: readonly unknown[] }).workers;

type NoteOf<T extends WorkerNote['type']> = Extract<WorkerNote, { readonly type: T }>;

suite('drover worker', function () {
  this.timeout(180_000);
  let boxes: RunningProgram[] = [];
  // Before the project checks whether anything was left running.
  teardown(async () => {
    const ending = boxes;
    boxes = [];
    for (const box of ending) box.signal('SIGTERM');
    await Promise.allSettled(ending.map((box) => box.ended));
  });
  const makeOne = useProjects();
  let server: PostgresServer;
  let doors: Barrier[] = [];
  let count = 0;
  suiteSetup(async () => {
    server = await startPostgres();
  });
  suiteTeardown(() => server.close());
  teardown(() => {
    for (const door of doors) door.close();
    doors = [];
  });

  interface Fleet {
    readonly here: Project;
    readonly door: Barrier;
  }

  async function fleet(env: Readonly<Record<string, string>> = {}): Promise<Fleet> {
    const url = await server.createDatabase(`worker_${(count += 1)}`);
    const here = makeOne({
      agent: waitsAtTheDoor,
      settings:
        '[backend]\nidle_timeout = "1s"\n' +
        '[gate]\ncommand = "test -z \\"$DBOS_SYSTEM_DATABASE_URL\\""\n',
      env: { DBOS_SYSTEM_DATABASE_URL: url, DROVER_MACHINE_NAME: 'atlas', ...env },
    });
    const door = makeBarrier(here.folder, 'door');
    doors.push(door);
    await here.expect(0, ['init']);
    return { here, door };
  }

  async function note<T extends WorkerNote['type']>(
    worker: RunningProgram,
    type: T,
    accepts: (note: NoteOf<T>) => boolean = () => true,
  ): Promise<NoteOf<T>> {
    const line = await worker.line((text) => {
      const one = JSON.parse(text) as WorkerNote;
      return one.type === type && accepts(one as NoteOf<T>);
    });
    return JSON.parse(line) as NoteOf<T>;
  }

  /**
   * Like a container: a script that makes its own clone. Returns a function that starts it,
   * possibly several times.
   */
  function boxOf(here: Project): () => RunningProgram {
    const place = join(here.folder, 'home', 'project');
    mkdirSync(place);
    const bin = join(here.folder, 'home', 'bin');
    mkdirSync(bin);
    const command = `#!/bin/sh\nexec '${process.execPath}' --no-warnings '${droverProgram()}' "$@"\n`;
    writeFileSync(join(bin, 'drover'), command, { mode: 0o755 });
    const script = join(import.meta.dirname, '../../docs/fleet/worker.sh');
    return () => {
      const box = startProgram({
        program: '/bin/sh',
        args: [script, '--json', '--name', 'box', '--agents', '1', '--label', 'gpu'],
        cwd: place,
        env: {
          ...here.env,
          PATH: `${bin}:${here.env['PATH'] ?? ''}`,
          GIT_REMOTE: join(here.folder, 'remote.git'),
        },
        timeoutMs: 100_000,
      });
      boxes.push(box);
      return box;
    };
  }

  const machines = (here: Project): Promise<readonly MachineView[]> =>
    here.json<readonly MachineView[]>(['machines']);

  test('it reports its identity and its tasks, and drains at SIGTERM', async () => {
    const { here, door } = await fleet();
    const worker = here.start(['worker', '--json', '--agents', '2', '--label', 'gpu']);
    const ready = await note(worker, 'ready');
    assert.deepEqual(
      [ready.machine, ready.labels, ready.agents, ready.remote],
      ['atlas', ['gpu'], 2, 'origin'],
    );
    assert.match(ready.database, /^postgresql:\/\/drover@127\.0\.0\.1:\d+\/worker_\d+$/);
    const again = await here.drover(['worker']);
    assert.equal(again.code, 3, again.stderr);
    assert.match(again.stderr, /A backend is already running/);

    const [first, second] = [await here.add('One'), await here.add('Two')];
    const third = await here.add('Three', '--label', 'needs:tape');
    const run = await here.drover(['run', '--detach', '--workers', '3']);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout + run.stderr, new RegExp(`${third}: It needs a machine with "tape"`));
    const begun = await note(worker, 'begun', ({ task_id: id }) => id === first);
    assert.deepEqual([begun.title, begun.attempt, begun.agent], ['One', 1, 'command']);
    await note(worker, 'begun', ({ task_id: id }) => id === second);
    const [atlas] = await machines(here);
    assert.deepEqual(
      [atlas?.name, atlas?.state, atlas?.agents, atlas?.agents_max, atlas?.labels],
      ['atlas', 'working', 2, 2, ['gpu']],
    );
    assert.equal((await here.task(first)).machine, 'atlas');
    const status = await here.expect(0, ['status']);
    assert.match(status, /MACHINE.*\n.*atlas/);
    assert.match(status, /Machines: atlas 2\/2\n/);
    assert.match(await here.expect(0, ['show', first]), /machine: atlas/);
    assert.match(
      await here.expect(0, ['why', third]),
      /needs a machine with "tape", and none has "tape" \(atlas has gpu\)/,
    );
    const doctor = await here.expect(0, ['doctor']);
    assert.match(doctor, /machine atlas: working, 2 of 2 agents running/);
    assert.match(doctor, /ok {7}fleet remote: origin: can be read, and takes pushes/);

    worker.signal('SIGTERM');
    const draining = await note(worker, 'draining');
    assert.deepEqual([...draining.tasks].sort(), [first, second].sort());
    await eventually('it is draining', async () => (await machines(here))[0]?.state === 'draining');
    door.open(2);
    for (const id of [first, second]) {
      const ended = await note(worker, 'ended', ({ task_id: one }) => one === id);
      assert.deepEqual([ended.attempt, ended.error], [1, null]);
    }
    const { code } = await worker.ended;
    assert.equal(code, 0);
    assert.deepEqual((await note(worker, 'over')).given_back, []);
    assert.equal((await machines(here))[0]?.state, 'left');
    assert.equal(here.backendPid(), null);
    assert.equal((await here.task(third)).status, 'ready');
    assert.match(await here.expect(0, ['why', third]), /"drover resume"|No machine/);
  });

  test('a second signal releases running tasks without using an attempt, and the next worker continues them', async () => {
    const { here, door } = await fleet();
    const worker = here.start(['worker', '--json']);
    await note(worker, 'ready');
    const id = await here.add('One');
    await here.expect(0, ['run', '--detach']);
    await note(worker, 'begun');
    await eventually('its agent is at work', () => here.read('at-work.txt') !== '');
    worker.signal('SIGTERM');
    const { at_ms: firstMs } = await note(worker, 'draining');
    await eventually('another signal is no echo', () => Date.now() > firstMs + 500);
    worker.signal('SIGINT');
    assert.deepEqual((await note(worker, 'giving_back')).tasks, [id]);
    assert.equal((await worker.ended).code, 2);
    assert.deepEqual((await note(worker, 'over')).given_back, [id]);
    const back = await here.task(id);
    assert.deepEqual([back.status, back.attempts], ['ready', 0]);

    const next = here.start(['worker', '--json']);
    await note(next, 'begun', ({ task_id: one }) => one === id);
    door.open();
    await eventually('it has landed', async () => (await here.task(id)).status === 'completed');
    next.signal('SIGTERM');
    assert.equal((await next.ended).code, 0);
  });

  soakTest(
    'it does not exit when it is idle, and releases its tasks when a drain takes too long',
    async () => {
      const { here } = await fleet();
      const worker = here.start(['worker', '--json', '--drain-timeout', '1s']);
      await note(worker, 'ready');
      await eventually('it beats when a backend would have gone', async () => {
        const [atlas] = await machines(here);
        return atlas !== undefined && atlas.heard_at >= atlas.joined_at + 5;
      });
      const id = await here.add('One');
      await here.expect(0, ['run', '--detach']);
      await note(worker, 'begun');
      worker.signal('SIGTERM');
      assert.deepEqual((await note(worker, 'giving_back')).tasks, [id]);
      assert.equal((await worker.ended).code, 2);
      assert.equal((await here.task(id)).attempts, 0);
    },
  );

  test('it reports that the database is unreachable, and continues when it is back', async () => {
    const { here, door } = await fleet();
    here.write('repo/.drover.toml', `${here.read('repo/.drover.toml')}[nobody]\nknows = 1\n`);
    const worker = here.start(['worker', '--json']);
    const { message } = await note(worker, 'warning');
    assert.match(message, /unknown key `nobody\.knows`/);
    await note(worker, 'ready');
    await server.stop('SIGKILL');
    const trouble = await note(worker, 'trouble');
    assert.match(trouble.message, /127\.0\.0\.1|connection/i);
    await server.start();
    const id = await here.add('One');
    await here.expect(0, ['run', '--detach']);
    await note(worker, 'begun', ({ task_id: one }) => one === id);
    door.open();
    await eventually('it has landed', async () => (await here.task(id)).status === 'completed');
    worker.signal('SIGTERM');
    assert.equal((await worker.ended).code, 0);
  });

  test("the containers' start script makes a clone, and works in it", async () => {
    const { here, door } = await fleet();
    const start = boxOf(here);
    const box = start();
    const { id } = await note(box, 'ready');
    assert.deepEqual(
      (await machines(here)).map((one) => [one.name, one.id, one.state]),
      [['box', id, 'working']],
    );
    box.signal('SIGTERM');
    assert.equal((await box.ended).code, 0);
    // If it is created again in the same place, it is the same machine.
    const again = start();
    assert.equal((await note(again, 'ready')).id, id);
    again.signal('SIGTERM');
    assert.equal((await again.ended).code, 0);
    door.open();
  });

  soakTest(
    'labels determine on which of two machines a task runs, and the work of both lands on the remote',
    async () => {
      const { here } = await fleet();
      // The worktrees of both are elsewhere, so each has its own path to the socket; this agent
      // needs none.
      const agent = join(here.folder, 'agent.sh');
      writeFileSync(agent, '#!/bin/sh\ncat > /dev/null\nhostname > "$DROVER_TASK_ID.txt"\n');
      const atlas = here.start(['worker', '--json', '--agents', '1']);
      await note(atlas, 'ready');
      const box = boxOf(here)();
      await note(box, 'ready');
      const trained = await here.add('Train', '--label', 'needs:gpu');
      const tested = await here.add('Test it', '--blocked-by', trained, '--label', 'needs:gpu');
      const others = [await here.add('One'), await here.add('Two'), await here.add('Three')];
      await here.expect(0, ['run', '--workers', '2'], { timeoutMs: 100_000 });
      const { tasks } = await here.status();
      assert.deepEqual(
        tasks.map((task) => [task.id, task.status, task.attempts]),
        [trained, tested, ...others].map((id) => [id, 'completed', 0]),
      );
      for (const id of [trained, tested]) await note(box, 'begun', (begun) => begun.task_id === id);
      const remote = join(here.folder, 'remote.git');
      const files = here.gitIn(remote, 'ls-tree', '--name-only', 'main').split('\n');
      for (const { id } of tasks)
        assert.ok(files.includes(`${id}.txt`), `${id} in ${files.join()}`);
      for (const worker of [atlas, box]) {
        worker.signal('SIGTERM');
        assert.equal((await worker.ended).code, 0);
      }
      assert.deepEqual(
        (await machines(here)).map(({ name, state }) => [name, state]),
        [
          ['atlas', 'left'],
          ['box', 'left'],
        ],
      );
    },
  );

  soakTest(
    'a local task, a task on a remote worker and a task of another machine run at once, and why says where',
    async () => {
      const { here } = await fleet({ DROVER_REMOTE_PROVISIONER: 'process' });
      const gate = makeBarrier(here.folder, 'gate');
      doors.push(gate);
      here.write('home/wait', gate.wait);
      const agent = `#!/bin/sh
cat > /dev/null
echo "$DROVER_TASK_ID" >> '${here.folder}/begun.txt'
. '${here.folder}/home/wait'
case $PWD in */.drover/remote/workers/*) place=worker;; *) place=worktree;; esac
echo "$place" > "$DROVER_TASK_ID.txt"
`;
      writeFileSync(join(here.folder, 'agent.sh'), agent);
      const atlas = here.start(['worker', '--json', '--agents', '2', '--label', 'disk']);
      await note(atlas, 'ready');
      const box = boxOf(here)();
      await note(box, 'ready');
      const home = await here.add('Here', '--label', 'needs:disk');
      const far = await here.add('Far', '--label', 'needs:disk', '--runs-on', 'remote');
      const away = await here.add('Away', '--label', 'needs:gpu');
      await here.expect(0, ['run', '--detach', '--workers', '3']);
      const begun = (): readonly string[] => here.read('begun.txt').trim().split('\n');
      await eventually('all three are at work', () => begun().length === 3, 60_000);
      assert.match(await here.expect(0, ['why', home]), /is running on atlas for /);
      const whyFar = await here.expect(0, ['why', far]);
      assert.match(whyFar, /is running on atlas on a remote worker for /);
      assert.match(whyFar, /It runs on a remote worker because the task says so\./);
      assert.match(await here.expect(0, ['why', away]), /is running on box for /);
      gate.open(3);
      await eventually('all have landed', async () => {
        const { tasks } = await here.status();
        return tasks.every(({ status }) => status === 'completed');
      });
      const remote = join(here.folder, 'remote.git');
      // The branch follows the landings.
      await eventually('the branch has followed', () => {
        const names = here.gitIn(remote, 'ls-tree', '--name-only', 'main').split('\n');
        return [home, far, away].every((id) => names.includes(`${id}.txt`));
      });
      const placeOf = (id: string): string => here.gitIn(remote, 'show', `main:${id}.txt`);
      assert.deepEqual([home, far, away].map(placeOf), ['worktree', 'worker', 'worktree']);
      for (const worker of [atlas, box]) {
        worker.signal('SIGTERM');
        assert.equal((await worker.ended).code, 0);
      }
      assert.deepEqual(await here.json(['remote', 'list']).then(leftWorkers), []);
    },
  );

  test('it refuses unusable surroundings with one sentence', async () => {
    const { here } = await fleet();
    const refused: readonly (readonly [readonly string[], Record<string, string>, RegExp])[] = [
      [[], { DBOS_SYSTEM_DATABASE_URL: '' }, /DBOS_SYSTEM_DATABASE_URL is not set: a worker needs/],
      [[], { DBOS_SYSTEM_DATABASE_URL: 'mysql://x' }, /expected postgresql:/],
      [['--label', 'a b'], {}, /--label: `fleet\.labels` is a list; expected a list of words/],
      [['--agents', '65'], {}, /--agents: `fleet\.agents` is `?65`?; expected a whole number/],
      [['--name', ''], { DROVER_MACHINE_NAME: 'a,b' }, /`fleet\.name` is `a,b`/],
    ];
    for (const [args, env, words] of refused) {
      const { code, stderr } = await here.drover(['worker', ...args], { env });
      assert.equal(code, 3, stderr);
      assert.match(stderr, words);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    }
    here.git('remote', 'remove', 'origin');
    for (const command of ['worker', 'doctor']) {
      const { code, stdout, stderr } = await here.drover([command]);
      assert.equal(code, 3, stdout + stderr);
      assert.match(stdout + stderr, /no remote named origin: run "git remote add origin/);
    }
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const address = nobody.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    nobody.close();
    const url = `postgresql://drover:s3cret@127.0.0.1:${port}/none`;
    const away = await here.drover(['worker'], { env: { DBOS_SYSTEM_DATABASE_URL: url } });
    assert.equal(away.code, 3, away.stderr);
    assert.doesNotMatch(away.stdout + away.stderr, /s3cret/);
  });
});
