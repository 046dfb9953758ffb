// An epic with a diamond on four workers while the network fails and backends and workers are
// killed: everything lands once, as after a local run, and nothing is left behind.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { sized, soakTest, testSeed } from '../tier.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, type PlanRecord } from './support/plan.ts';
import { processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { startSshd } from './support/sshd.ts';
import { useProjects } from './support/suite-projects.ts';
import { startBadNetwork } from '../workers/support/bad-network.ts';
import { startTestCloud, type TestCloud } from './support/test-cloud.ts';

/** A diamond first, and independent tasks. */
function diamondAndMore(count: number): readonly PlanRecord[] {
  const blockers: Readonly<Record<number, readonly number[]>> = { 1: [0], 2: [0], 3: [1, 2] };
  return Array.from({ length: count }, (_, n) => ({
    id: `T-${n}`,
    blocked_by: (blockers[n] ?? []).map((blocker) => `T-${blocker}`),
  }));
}

const agentOf = (here: Project, seconds: number): string => `#!/bin/sh
cat > /dev/null
id=$DROVER_TASK_ID
echo "$id" >> '${here.folder}/executions'
for part in 1 2 3 4 5; do seq 20; sleep ${seconds / 5}; done
echo "work of $id" > "$id.txt"
`;

const executions = (here: Project): readonly string[] =>
  existsSync(join(here.folder, 'executions')) ? here.read('executions').trim().split('\n') : [];

/** An agent in the repository, which a worker finds in its upload. */
const travellingAgent = `#!/bin/sh
cat > /dev/null
id=$DROVER_TASK_ID
if [ -n "$EXECUTIONS" ]; then echo "$id" >> "$EXECUTIONS"; fi
for part in 1 2 3 4 5; do seq 20; sleep 0.4; done
if [ "$id" = T-3 ]; then cat T-0.txt T-1.txt T-2.txt > before.txt; fi
echo "work of $id" > "$id.txt"
`;

/** Everything landed once, in the order of the diamond, and the tree equals that of a local run. */
function assertWhole(here: Project, plan: readonly PlanRecord[]): void {
  const ids = plan.map(({ id }) => id);
  const landed = landedTasks(here);
  assert.deepEqual(landed.toSorted(), ids.toSorted());
  const places = ['T-0', 'T-1', 'T-2', 'T-3'].map((id) => landed.indexOf(id));
  const [top = -1, left = -1, right = -1, bottom = -1] = places;
  assert.ok(top < Math.min(left, right) && Math.max(left, right) < bottom, landed.join(' '));
  const names = here.git('ls-tree', '-r', '--name-only', 'main').split('\n');
  const own = ['.drover.toml', '.gitignore', 'README.md'];
  assert.deepEqual(names.toSorted(), [...own, ...ids.map((id) => `${id}.txt`)].toSorted());
  for (const id of ids) assert.equal(here.git('show', `main:${id}.txt`), `work of ${id}`);
  for (const name of ['leases', 'workers']) {
    const folder = join(here.root, '.drover', 'remote', name);
    assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], []);
  }
}

/** At a random time while a backend is running and has work; times without one do not count. */
async function killAtWork(
  here: Project,
  chance: SeededChance,
  plan: readonly PlanRecord[],
): Promise<void> {
  await delay(chance.between(500, 3_500));
  await eventually('a backend is killed', () => here.killBackend(), 60_000);
  assert.ok(landedTasks(here).length < plan.length, 'the plan ended before all the kills');
}

function leasesOf(here: Project): readonly string[] {
  const folder = join(here.root, '.drover', 'remote', 'leases');
  return existsSync(folder) ? readdirSync(folder) : [];
}

suite('remote attempts under network failures and crashes', function () {
  this.timeout(sized(240_000, 900_000));
  const project = useProjects();
  let cloud: TestCloud | null = null;
  teardown(async () => {
    await cloud?.close();
    cloud = null;
  });

  test('the network fails and the backend is killed at the same time: each task runs once and lands', async () => {
    const here = project();
    const running = await startTestCloud(here);
    cloud = running;
    here.write('agent.sh', agentOf(here, sized(1, 6)));
    const settings = [
      'runs_on = "remote"',
      '[remote]',
      'provisioner = "hook"',
      `hook = "${running.hook}"`,
      'max = 4',
      `agent_path = "${join(here.folder, 'agent.sh')}"`,
    ];
    here.write('repo/.drover.toml', `${settings.join('\n')}\n`);
    here.git('commit', '-qam', 'settings');
    const plan = diamondAndMore(sized(4, 20));
    await beginPlan(here, plan);
    const run = here.start(['run', '--workers', '4'], { timeoutMs: 600_000 });
    // In the soak, every stream is also closed each second.
    const cut = (): void => {
      running.breakDown();
      running.repair();
    };
    const cuts = setInterval(
      sized(() => undefined, cut),
      1_000,
    );
    await eventually('three have begun', () => executions(here).length >= 3, 120_000);
    clearInterval(cuts);
    running.breakDown();
    await here.killBackend();
    await eventually('followers have tried in vain', () => running.refused() >= 4, 60_000);
    await delay(sized(0, 30_000));
    running.repair();
    await run.ended;
    await here.expect(0, ['resume'], { timeoutMs: 600_000 });
    const open = (await here.status()).tasks.filter(({ status }) => status !== 'completed');
    assert.deepEqual(
      open.map(({ id, status, last_error: why }) => `${id} ${status}: ${why ?? ''}`),
      [],
    );
    assertWhole(here, plan);
    // A command whose answer is lost is not sent to that instance again, but runs on another one.
    const more = executions(here).length - plan.length;
    assert.ok(more >= 0 && more <= sized(0, running.made() - plan.length), `${more} ran again`);
    assert.equal(running.machines.size, 0);
  });

  soakTest(
    'twenty tasks on an ssh host with a killed backend give the tree of a local run, and leave nothing behind',
    async () => {
      const files = { 'tools/agent.sh': travellingAgent };
      const plan = diamondAndMore(20);
      const timeoutMs = 600_000;
      const here = project({ files });
      const sshd = await startSshd(here);
      try {
        const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
        const settings = [
          '[remote]',
          'provisioner = "ssh"',
          `host = "${user}@127.0.0.1"`,
          `ssh_args = ${JSON.stringify(sshd.args)}`,
          'env = ["EXECUTIONS"]',
          'max = 4',
        ];
        const run = async (
          there: Project,
          env: Readonly<Record<string, string>>,
          isKilled: boolean,
        ): Promise<string> => {
          writeFileSync(join(there.root, '.drover.toml'), `${settings.join('\n')}\n`);
          chmodSync(join(there.root, 'tools/agent.sh'), 0o755);
          there.git('commit', '-qam', 'settings');
          await beginPlan(there, plan);
          const options = { env: { DROVER_AGENT_PATH: 'tools/agent.sh', ...env }, timeoutMs };
          const running = there.start(['run', '--workers', '4'], options);
          if (isKilled) {
            await eventually('six have begun', () => executions(there).length >= 6, 120_000);
            await there.killBackend();
          }
          const { code } = await running.ended;
          if (isKilled) await there.expect(0, ['resume'], options);
          else assert.equal(code, 0);
          return there.git('rev-parse', 'main^{tree}');
        };
        const record = join(here.folder, 'executions');
        const remote = await run(here, { DROVER_RUNS_ON: 'remote', EXECUTIONS: record }, true);
        const ids = plan.map(({ id }) => id);
        assert.deepEqual(landedTasks(here).toSorted(), ids.toSorted());
        assert.deepEqual(executions(here).toSorted(), ids.toSorted(), 'each ran once');
        assert.deepEqual(readdirSync(join(sshd.home, '.cache/drover/workers')), []);
        assert.deepEqual(leasesOf(here), []);
        const left = processesOf(here.folder).filter(({ what }) => /-N -L|runtime/.test(what));
        assert.deepEqual(left, []);
        const local = await run(project({ files }), {}, false);
        assert.equal(remote, local, 'the same tree');
      } finally {
        await sshd.close();
      }
    },
  );

  soakTest(
    'ten backends and some workers are killed at random: every task lands once, and nothing is left behind',
    async () => {
      const here = project({
        settings: 'runs_on = "remote"\n[remote]\nprovisioner = "process"\nmax = 4\n',
      });
      here.write('agent.sh', agentOf(here, 8));
      const plan = diamondAndMore(20);
      await beginPlan(here, plan);
      const chance = new SeededChance(testSeed);
      // A command also starts the next backend automatically; it ends with the plan.
      const runs = [here.start(['run', '--workers', '4'], { timeoutMs: 600_000 })];
      let workersKilled = 0;
      for (let kills = 0; kills < 10; kills += 1) {
        const [victim] = processesOf(here.folder).filter(
          ({ what }) => what.includes('worker-runtime') && what.includes('--workspace'),
        );
        if (kills % 3 === 1 && victim !== undefined) {
          process.kill(victim.pid, 'SIGKILL');
          workersKilled += 1;
        }
        await killAtWork(here, chance, plan);
        runs.push(here.start(['resume'], { timeoutMs: 600_000 }));
      }
      for (const { ended } of runs) await ended;
      await here.expect(0, ['resume'], { timeoutMs: 600_000 });
      assertWhole(here, plan);
      assert.ok(workersKilled > 0);
      const repeated = executions(here).length - plan.length;
      assert.ok(
        repeated <= workersKilled,
        `${repeated} ran again, ${workersKilled} workers killed`,
      );
      for (const { id } of plan) assert.equal((await here.task(id)).attempts, 0, id);
    },
  );

  soakTest(
    'on an ssh host, ten backends and some workers are killed at random and the network fails for 30 s: every task lands once',
    async () => {
      const here = project();
      const sshd = await startSshd(here);
      const network = await startBadNetwork(sshd.url, Number.POSITIVE_INFINITY);
      try {
        here.write('agent.sh', agentOf(here, 6));
        const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
        const settings = [
          'runs_on = "remote"',
          '[remote]',
          'provisioner = "ssh"',
          `host = "${user}@127.0.0.1"`,
          `ssh_args = ${JSON.stringify(sshd.through(Number(new URL(network.url).port)))}`,
          `agent_path = "${join(here.folder, 'agent.sh')}"`,
          'max = 4',
        ];
        here.write('repo/.drover.toml', `${settings.join('\n')}\n`);
        here.git('commit', '-qam', 'settings');
        const plan = diamondAndMore(20);
        await beginPlan(here, plan);
        const chance = new SeededChance(testSeed);
        const start = (verb: string): ReturnType<Project['start']> =>
          here.start([verb], { timeoutMs: 600_000 });
        const runs = [here.start(['run', '--workers', '4'], { timeoutMs: 600_000 })];
        await eventually('agents are at work', () => executions(here).length >= 2, 120_000);
        network.breakDown();
        await here.killBackend();
        runs.push(start('resume'));
        await eventually('followers have tried in vain', () => network.refused() >= 2, 60_000);
        await delay(30_000);
        network.repair();
        let workersKilled = 0;
        for (let kills = 1; kills < 10; kills += 1) {
          const [victim] = processesOf(here.folder).filter(
            ({ what }) => what.startsWith('node ') && what.includes('--workspace'),
          );
          if (kills % 3 === 1 && victim !== undefined) {
            process.kill(victim.pid, 'SIGKILL');
            workersKilled += 1;
          }
          await killAtWork(here, chance, plan);
          runs.push(start('resume'));
        }
        for (const { ended } of runs) await ended;
        await here.expect(0, ['resume'], { timeoutMs: 600_000 });
        const far = join(sshd.home, '.cache/drover/workers');
        // A worker whose destruction the outage prevented is destroyed by the next check of the
        // leases.
        await eventually('no worker is left', () => readdirSync(far).length === 0, 120_000);
        await eventually('no lease is left', () => leasesOf(here).length === 0, 120_000);
        assertWhole(here, plan);
        const left = (): readonly unknown[] =>
          processesOf(here.folder).filter(({ what }) => /-N -L|--workspace/.test(what));
        await eventually('no process is left', () => left().length === 0);
        assert.ok(workersKilled > 0);
        const repeated = executions(here).length - plan.length;
        assert.ok(
          repeated <= workersKilled,
          `${repeated} ran again, ${workersKilled} workers killed`,
        );
      } finally {
        await network.close();
        await sshd.close();
      }
    },
  );
});
