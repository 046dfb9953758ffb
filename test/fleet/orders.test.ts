// Commands from any machine of a fleet to another one: drain, and release the landing on a branch.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventView, MachineView } from '../../server/protocol/api.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { assertFleetDone, machineEvents } from './support/checks.ts';
import { countedAgent, gateSettings, importEpic } from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import type { Machine } from './support/machine.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

/** The first gate hangs, whichever machine runs it. */
const firstGateHangs = `
[fleet]
take_over_after = "5s"
[gate]
command = 'if mkdir "$HOME/../../hung"; then sleep 900; fi; test -f README.md'
`;

const waitingAgent = `
while [ ! -e "$ledger.go" ]; do sleep 0.1; done
${countedAgent}`;

const plan = (...ids: readonly string[]) => ids.map((id) => ({ id, blockedBy: [] }));

suite('commands to the machines of a fleet', function () {
  this.timeout(300_000);
  const fleet = useFleets();

  test('a machine whose gate hangs releases the branch, and another machine lands', async () => {
    const here = await fleet({
      machines: ['north', 'south', 'desk'],
      agent: countedAgent,
      settings: firstGateHangs,
      isPlain: true,
    });
    const desk = await deskOf(here);
    await importEpic(desk, plan('F-1'));
    await startWorkers(here, ['north', 'south'], 1);
    const run = desk.start(['run']);
    const stuck = await eventually('a machine lands', () => landerOf(desk));
    assert.match(
      await desk.expect(0, ['why', 'F-1']),
      new RegExp(`^${stuck} is landing on main`, 'mu'),
    );
    assert.match(await desk.expect(0, ['machines']), /\n {2}landing on main, started /u);
    await refused(desk, ['fleet', 'release', 'other'], /No machine is landing on other now/u);
    const said = await desk.expect(0, ['fleet', 'release', 'main']);
    assert.match(said, new RegExp(`^${stuck} has released main`, 'u'));
    const ended = await run.ended;
    assert.equal(ended.code, 0, ended.stderr);
    await assertFleetDone(here, plan('F-1'));
    const next = stuck === 'north' ? 'south' : 'north';
    const [takeover, ...more] = await eventsOf(desk, '--type', 'machine.took_over');
    assert.deepEqual(
      [takeover?.data['machine'], takeover?.data['from_machine'], takeover?.data['branch'], more],
      [next, stuck, 'main', []],
    );
    const [order] = await eventsOf(desk, '--type', 'machine.release_requested');
    assert.equal((order?.data['actor'] as { machine: string } | undefined)?.machine, 'desk');
    const types = (await eventsOf(desk, '--by', 'desk')).map(({ type }) => type);
    for (const type of ['run.started', 'machine.release_requested'])
      assert.ok(types.includes(type));
    assert.ok(!types.includes('task.completed') && !types.includes('machine.took_over'));
    await refused(desk, ['fleet', 'release', 'main'], /The last landing ended .* ago/u);

    await here.machine(stuck).kill();
    await eventually('one event says that it died', async () =>
      (await machineEvents(here)).get(stuck)?.join(' ').endsWith('joined release_requested died'),
    );
  });

  test('one machine drains another one, and the last machine warns', async () => {
    const here = await fleet({
      machines: ['north', 'south', 'desk'],
      agent: waitingAgent,
      settings: gateSettings,
      isPlain: true,
    });
    const desk = await deskOf(here);
    await importEpic(desk, plan('F-1', 'F-2', 'F-3'));
    await startWorkers(here, ['north', 'south'], 1);
    const run = desk.start(['run']);
    await eventually('both are at work', async () => {
      const machines = await desk.json<readonly MachineView[]>(['machines']);
      return machines.filter(({ agents }) => agents === 1).length === 2;
    });
    await refused(desk, ['machines', 'drain', 'nobody'], /No machine is named "nobody"\. Running/u);
    const drained = await desk.expect(0, ['machines', 'drain', 'north']);
    assert.match(drained, /^north drains and takes no new work; 1 task still runs there\./u);
    assert.match(
      await desk.expect(0, ['machines', 'drain', 'north']),
      /^north is draining already/u,
    );
    const last = await desk.expect(0, ['machines', 'drain', 'south', '--now', '--wait']);
    assert.match(last, /^south has left the fleet\. No other machine takes tasks/u);
    assert.equal((await here.machine('south').worker()?.ended)?.code, 2);

    writeFileSync(join(here.folder, 'ledger.go'), '');
    assert.equal((await here.machine('north').worker()?.ended)?.code, 0);
    await refused(
      desk,
      ['machines', 'drain', 'north'],
      /north has left: there is nothing to drain/u,
    );
    await here.machine('south').startWorker(['--agents', '1']);
    const ended = await run.ended;
    assert.equal(ended.code, 0, ended.stderr);
    await assertFleetDone(here, plan('F-1', 'F-2', 'F-3'));
  });
});

async function deskOf(fleet: Fleet): Promise<Machine> {
  const desk = fleet.machine('desk');
  desk.writeUserSettings('[fleet]\nagents = 0\n');
  await desk.expect(0, ['init']);
  return desk;
}

async function landerOf(desk: Machine): Promise<string | null> {
  const machines = await desk.json<readonly MachineView[]>(['machines']);
  const lander = machines.find(({ landing }) => landing?.some(({ branch }) => branch === 'main'));
  return lander?.name ?? null;
}

async function eventsOf(
  desk: Machine,
  ...filter: readonly string[]
): Promise<readonly EventView[]> {
  const text = await desk.expect(0, ['events', ...filter, '--json']);
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as EventView]));
}

async function refused(desk: Machine, args: readonly string[], words: RegExp): Promise<void> {
  const done = await desk.start(args, {}, 60_000).ended;
  assert.equal(done.code, 3, done.stdout);
  assert.match(done.stderr, words);
}
