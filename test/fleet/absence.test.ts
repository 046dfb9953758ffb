// The database is unreachable for several times as long as a machine may be silent, and no agent
// ends because of that. A machine that alone is disconnected changes nothing more once another one
// has its work.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PlannedTask } from '../e2e/support/crash-epic.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { assertFleetDone } from './support/checks.ts';
import { gateSettings } from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import type { Machine } from './support/machine.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

/** Reports ten times a second that it is alive, until the test lets it end. */
const agent = `
cat > /dev/null
echo "$id $attempt $machine" >> "$ledger.begun"
while [ ! -e "$ledger.go" ]; do
  echo "$machine" >> "$ledger.$id.ticks"
  sleep 0.1
done
echo "work of $id" > "$id.txt"
echo "$id $attempt $machine" >> "$ledger"
`;
const takeOverAfterMs = 4_000;
/** Several times longer than every machine's heartbeat lasts. */
const awayMs = takeOverAfterMs * 3;
const settings = `
[fleet]
take_over_after = "${takeOverAfterMs / 1000}s"
${gateSettings}`;
/** An agent that is silent for this long is suspended. */
const stillMs = 1_500;

suite('a fleet whose database is unreachable', function () {
  this.timeout(300_000);
  const fleet = useFleets();

  async function begin(names: readonly string[], tasks: number): Promise<Fleet> {
    const machines = [...names, 'desk'];
    const here = await fleet({ machines, agent, settings });
    const desk = here.machine('desk');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await desk.expect(0, ['init']);
    const path = join(here.folder, 'plan.jsonl');
    const lines = planned(tasks).map(({ id }) =>
      JSON.stringify({ id, type: 'task', title: `Do ${id}` }),
    );
    writeFileSync(path, `${lines.join('\n')}\n`);
    await desk.expect(0, ['import', path]);
    return here;
  }

  const linesOf = (here: Fleet, name: string): readonly string[] => {
    const path = join(here.folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  };
  const begun = (here: Fleet): readonly string[] => linesOf(here, 'ledger.begun');
  const ticksOf = (here: Fleet, id: string, machine: string): number =>
    linesOf(here, `ledger.${id}.ticks`).filter((line) => line === machine).length;
  const standsStill = async (here: Fleet, id: string, machine: string): Promise<boolean> => {
    const before = ticksOf(here, id, machine);
    await delay(stillMs);
    return ticksOf(here, id, machine) === before;
  };
  const letEnd = (here: Fleet): void => writeFileSync(join(here.folder, 'ledger.go'), '');
  const planned = (tasks: number): readonly PlannedTask[] =>
    Array.from({ length: tasks }, (_, at) => ({ id: `F-${at}`, blockedBy: [] }));

  test('its agents are suspended, and continue when the database is back', async () => {
    const here = await begin(['north', 'south'], 2);
    const north = here.machine('north');
    await startWorkers(here, ['north', 'south'], 1);
    const run = here.machine('desk').start(['run', '--workers', '2']);
    await eventually('both are at work', () => begun(here).length === 2);
    const machineOf = new Map(
      begun(here).map((line) => [line.split(' ')[0] ?? '', line.split(' ')[2] ?? '']),
    );
    type Ask = (id: string, machine: string) => Promise<boolean> | boolean;
    const each = async (ask: Ask): Promise<boolean> => {
      for (const [id, machine] of machineOf) if (!(await ask(id, machine))) return false;
      return true;
    };
    await here.restartPostgres('kill', async () => {
      await eventually('both stand still', () => each((id, on) => standsStill(here, id, on)));
      await delay(awayMs);
      // North finds it later than south, to which north then looks dead.
      for (const port of here.databasePorts) north.host.cutOffFrom(port);
    });
    await eventually('south is back', () => hasBeaten(here, 'south'));
    for (const port of here.databasePorts) north.host.reconnectTo(port);
    const before = new Map([...machineOf].map(([id, on]) => [id, ticksOf(here, id, on)]));
    await eventually('both go on', () =>
      each((id, on) => ticksOf(here, id, on) > (before.get(id) ?? 0)),
    );
    letEnd(here);
    const ended = await run.ended;
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(begun(here).length, 2, 'no agent was started again');
    await assertFleetDone(here, planned(2));
  });

  test('a machine that alone is disconnected suspends its agent before another machine starts the work', async () => {
    const here = await begin(['north', 'south'], 1);
    const north: Machine = here.machine('north');
    await startWorkers(here, ['north'], 1);
    const run = here.machine('desk').start(['run', '--workers', '2']);
    await eventually('north is at work', () => begun(here).length === 1);
    await startWorkers(here, ['south'], 1);
    for (const port of here.databasePorts) north.host.cutOffFrom(port);
    await eventually('south has begun its work', () =>
      begun(here).some((line) => line.endsWith('south')),
    );
    const atTakeOver = ticksOf(here, 'F-0', 'north');
    await eventually('south is at work', () => ticksOf(here, 'F-0', 'south') > 5);
    assert.equal(ticksOf(here, 'F-0', 'north'), atTakeOver, 'north had stood still before');
    for (const port of here.databasePorts) north.host.reconnectTo(port);
    const agentsOfNorth = (): number => {
      const pids = north.host.processes();
      return pids.filter((pid) => isAgent(pid)).length;
    };
    await eventually('the agent of north has ended', () => agentsOfNorth() === 0);
    assert.equal(ticksOf(here, 'F-0', 'north'), atTakeOver, 'without moving again');
    letEnd(here);
    const ended = await run.ended;
    assert.equal(ended.code, 0, ended.stderr);
    await assertFleetDone(here, planned(1));
  });
});

async function hasBeaten(here: Fleet, machine: string): Promise<boolean> {
  const rows = await here.query(
    `SELECT 1 FROM machines WHERE name = $1
     AND alive_until_ms > extract(epoch FROM clock_timestamp()) * 1000`,
    [machine],
  );
  return rows.length > 0;
}

function isAgent(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes('DROVER_TASK_ID=F-0');
  } catch {
    return false;
  }
}
