// Several concurrent commands on one repository: one engine, and no task runs twice.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sized, soakTest } from '../tier.ts';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { writeOtherVersion } from './support/newer-program.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import { isProcessAlive, processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

const rounds = sized(2, 20);
const recorded = `echo "$id" >> ../../executions; ${writesOneFile}`;

function executed(here: Project): readonly string[] {
  return here
    .read('executions')
    .split('\n')
    .filter((id) => id !== '');
}

function versionOf(here: Project): string {
  const text = readFileSync(join(here.root, '.drover', 'backend.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

suite('several concurrent commands', function () {
  this.timeout(600_000);
  const project = useProjects();

  test(`two runs and a server start at the same time, ${rounds} times`, async () => {
    const here = project({ agent: recorded });
    await here.expect(0, ['init']);
    const ids: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const fresh = [`r${round}-a`, `r${round}-b`, `r${round}-c`];
      ids.push(...fresh);
      await importPlan(here, fresh);
      const server = here.start(['server', '--socket', join(here.folder, 'own.sock')]);
      const runs = [here.start(['run', '--json']), here.start(['run', '--json'])];
      const ends = await Promise.all(runs.map((run) => run.ended));
      for (const end of ends)
        assert.equal(end.code, 0, `round ${round}: ${end.stdout}${end.stderr}`);
      const pid = here.backendPid();
      // The server is the only engine, or was refused because another process is.
      if (pid === server.pid) {
        server.signal('SIGTERM');
        assert.equal((await server.ended).code, 0);
      } else {
        const refused = await server.ended;
        assert.equal(refused.code, 3, `round ${round}: ${refused.stdout}${refused.stderr}`);
        assert.ok(pid !== null);
        process.kill(pid, 'SIGTERM');
      }
      await eventually('nobody is left', () => processesOf(here.folder).length === 0);
    }
    assert.deepEqual([...executed(here)].sort(), [...ids].sort(), 'each ran once');
    assert.deepEqual([...landedTasks(here)].sort(), [...ids].sort());
    for (const event of await here.events('--type', 'task.claimed')) {
      assert.equal(event.data['attempt'], 1);
    }
  });

  test('a second run joins the first and sees it to its end', async () => {
    const here = project({ agent: `read -r line < ../../go; ${recorded}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1', 't2']);
    const first = here.start(['run', '--json', '--workers', '1']);
    await first.line((line) => line.includes('"worktree.ready"'));
    const second = here.start(['run', '--json']);
    await second.line((line) => line.includes('joined'), 'stderr');
    barrier.open(2);
    for (const end of await Promise.all([first.ended, second.ended])) {
      assert.equal(end.code, 0, end.stderr);
      assert.match(end.stdout, /"run\.finished"/);
    }
    barrier.close();
    assert.equal((await here.events('--type', 'run.started')).length, 1);
    assert.deepEqual([...executed(here)].sort(), ['t1', 't2']);
  });

  soakTest('a second run of another epic adds its scope', async () => {
    const here = project({ agent: `read -r line < ../../go; ${recorded}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, [
      { id: 'E1', type: 'epic' },
      { id: 'E2', type: 'epic' },
      { id: 'x1', epic_id: 'E1' },
      { id: 'x2', epic_id: 'E2' },
    ]);
    const first = here.start(['run', '--json', '--epic', 'E1']);
    await first.line((line) => line.includes('"worktree.ready"'));
    const second = here.start(['run', '--json', '--epic', 'E2']);
    await second.line((line) => line.includes('"worktree.ready"') && line.includes('"x2"'));
    barrier.open(2);
    for (const end of await Promise.all([first.ended, second.ended])) {
      assert.equal(end.code, 0, `${end.stdout}${end.stderr}`);
    }
    barrier.close();
    assert.deepEqual([...executed(here)].sort(), ['x1', 'x2']);
    assert.equal(here.read('repo/x1.txt') + here.read('repo/x2.txt'), 'work of x1\nwork of x2\n');
  });

  test('commands from a linked worktree and a sub-folder reach the same project', async () => {
    const here = project({ agent: recorded, files: { 'src/deep/file.txt': 'x\n' } });
    await beginPlan(here, ['t1']);
    const status = await here.drover(['status', '--json'], { cwd: join(here.root, 'src', 'deep') });
    assert.equal(status.code, 0, status.stderr);
    await here.expect(0, ['-C', 'src', 'run']);
    assert.deepEqual(landedTasks(here), ['t1']);
  });
});

suite('commands of different versions', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('an idle older backend makes room for a newer command', async () => {
    const here = project({ agent: recorded });
    await beginPlan(here, ['t1']);
    await here.expect(0, ['run']);
    const older = here.backendPid();
    assert.ok(older !== null);
    const program = writeOtherVersion(here.folder, { version: '9.1.0' });
    await importPlan(here, ['t2']);
    await here.expect(0, ['run'], { program });
    assert.equal(versionOf(here), '9.1.0');
    await eventually('the older one is gone', () => !isProcessAlive(older));
    assert.deepEqual(executed(here), ['t1', 't2']);
    // The older command works with the newer backend.
    await importPlan(here, ['t3']);
    await here.expect(0, ['run']);
    assert.equal(versionOf(here), '9.1.0');
    assert.deepEqual(executed(here), ['t1', 't2', 't3']);
  });

  soakTest('an older backend that is busy continues, and serves the newer command', async () => {
    const here = project({ agent: `read -r line < ../../go; ${recorded}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1']);
    const version = writeOtherVersion(here.folder, { version: '9.1.0' });
    const run = here.start(['run', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    const older = here.backendPid();
    const newer = here.start(['run', '--json'], { program: version });
    await newer.line((line) => line.includes('joined'), 'stderr');
    barrier.open();
    for (const end of await Promise.all([run.ended, newer.ended]))
      assert.equal(end.code, 0, end.stderr);
    barrier.close();
    assert.equal(here.backendPid(), older);
    assert.deepEqual(executed(here), ['t1']);
  });

  test('a backend of another protocol is refused with a message, and nothing has changed', async () => {
    const here = project({ agent: `read -r line < ../../go; ${recorded}` });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, ['t1']);
    const program = writeOtherVersion(here.folder, { version: '9.2.0', protocol: 99 });
    const run = here.start(['run', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    const refused = await here.drover(['run', '--json'], { program });
    assert.equal(refused.code, 3, refused.stdout + refused.stderr);
    assert.match(refused.stderr, /version|protocol/);
    barrier.open();
    assert.equal((await run.ended).code, 0);
    barrier.close();
    assert.deepEqual(executed(here), ['t1']);
  });
});
