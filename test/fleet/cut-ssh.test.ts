// The ssh server of the machine that lands permanently stops answering, while each machine reaches
// git through its own server: landings continue, nothing runs twice, and `why` names the remote.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type Sshd, startSshd } from '../e2e/support/sshd.ts';
import { assertFleetDone } from './support/checks.ts';
import {
  completedRuns,
  countedAgent,
  gateSettings,
  importEpic,
  layeredPlan,
} from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import type { Machine } from './support/machine.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

const workers = ['m1', 'm2', 'm3'];
/**
 * Twice the time on an idle computer: the time limit of a listing, and the start of the next owner.
 */
const withoutLandingMaxMs = 40_000;
const startMaxMs = 180_000;
const namedMaxMs = 20_000;
suite('a fleet whose landing machine permanently loses its ssh server', function () {
  this.timeout(600_000);
  let servers: Sshd[] = [];
  teardown(async () => {
    await Promise.all(servers.map((server) => server.close()));
    servers = [];
  });
  const fleet = useFleets();

  const programs = {
    'an ssh with settings of its own': 'ssh',
    'a program that Drover does not know': 'own-ssh',
  };
  for (const [name, program] of Object.entries(programs)) {
    test(`${name}: other machines land everything without a second run`, async () => {
      const here = await fleet({
        machines: [...workers, 'desk'],
        agent: countedAgent,
        settings: gateSettings,
        isPlain: true,
      });
      const ssh = new Map<string, Sshd>();
      for (const machine of here.machines) {
        const server = await startSshd(machine);
        servers.push(server);
        ssh.set(machine.name, server);
        await gitBySsh(here, machine, server, program);
      }
      const tasks = layeredPlan(new SeededChance(3), 4, 9);
      const desk = here.machine('desk');
      desk.writeUserSettings('[fleet]\nagents = 0\n');
      await importEpic(desk, tasks);
      await startWorkers(here, workers, 3);
      const run = desk.start(['run', '--workers', '9']);
      await eventually(
        'some have landed',
        async () => (await landedMs(here)).length >= 6,
        startMaxMs,
      );
      const owner = await eventually('a worker owns the line', () => lineOwner(here));
      ssh.get(owner)?.hang();
      const cutMs = Date.now();
      const named = await eventually('why names the remote', () => namedBy(here, owner));
      const namedMs = Date.now() - cutMs;
      assert.match(named, /git remote origin has not answered/);
      const ended = await run.ended;
      assert.equal(ended.code, 0, ended.stderr);
      const gapMs = longestGapMs(await landedMs(here));
      console.log(
        `${program}: ${owner} cut, named after ${namedMs} ms, ${gapMs} ms without a landing`,
      );
      await assertFleetDone(here, tasks);
      assert.equal(completedRuns(here).length, tasks.length, 'no agent ran for nothing');
      assert.ok(namedMs <= namedMaxMs, `named after ${namedMs} ms`);
      assert.ok(gapMs <= withoutLandingMaxMs, `${gapMs} ms without a landing`);
    });
  }
});

/** In its git configuration, as a person sets it up for a deploy key. */
async function gitBySsh(
  fleet: Fleet,
  machine: Machine,
  server: Sshd,
  program: string,
): Promise<void> {
  const words = `ssh ${server.args.join(' ')}`;
  const own = join(machine.folder, 'own-ssh');
  writeFileSync(own, `#!/bin/sh\n${words} "$@"\n`, { mode: 0o755 });
  const url = `ssh://root@127.0.0.1:${new URL(server.url).port}${fleet.gitServer.bare}`;
  for (const [key, value] of [
    ['remote.origin.url', url],
    ['core.sshCommand', program === 'ssh' ? words : own],
  ] as const) {
    const set = await machine.run('git', ['-C', 'repo', 'config', key, value]);
    assert.equal(set.code, 0, set.stderr);
  }
}

/** The times at which tasks were completed. */
async function landedMs(fleet: Fleet): Promise<readonly number[]> {
  const rows = await fleet.query<{ at: string }>(
    `SELECT at_ms AS at FROM events WHERE type = 'task.completed' ORDER BY seq`,
  );
  return rows.map(({ at }) => Number(at));
}

function longestGapMs(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((atMs, n) => atMs - (times[n] ?? atMs)));
}

/** The worker that owns the line, with an agent running; null while another machine owns it. */
async function lineOwner(fleet: Fleet): Promise<string | null> {
  const blob = fleet.gitServer.git('cat-file', 'blob', 'refs/drover/fence/main');
  const rows = await fleet.query<{ id: string; name: string }>(
    `SELECT m.id, m.name FROM machines m JOIN attempts a ON a.machine = m.id
     JOIN tasks t ON t.id = a.task_id AND t.epoch = a.epoch WHERE t.phase = 'agent'`,
  );
  return rows.find(({ id }) => blob.includes(id))?.name ?? null;
}

/**
 * The sentence of `why` about a task that runs on the machine, or waits to land; null while it
 * names no remote.
 */
async function namedBy(fleet: Fleet, machine: string): Promise<string | null> {
  const rows = await fleet.query<{ id: string }>(
    `SELECT t.id FROM tasks t JOIN attempts a ON a.task_id = t.id AND a.epoch = t.epoch
     JOIN machines m ON m.id = a.machine WHERE t.status = 'in_progress'
       AND (m.name = $1 OR t.phase IN ('gate', 'land')) LIMIT 1`,
    [machine],
  );
  const [task] = rows;
  if (task === undefined) return null;
  const said = await fleet.machine('desk').expect(0, ['why', task.id]);
  return said.split('\n').find((line) => line.startsWith(`${machine}: The git remote`)) ?? null;
}
