// Machines that never come back: the machine on which the run was started, or all workers but one.
// The remaining ones do the rest.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { removeFolder } from '../remove-folder.ts';
import { testSeed } from '../tier.ts';
import { assertFleetDone } from './support/checks.ts';
import {
  completedRuns,
  countedAgent,
  fleetSettings,
  importEpic,
  layeredPlan,
} from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import type { Machine } from './support/machine.ts';
import { useFleets } from './support/suite-fleets.ts';
import {
  assertGoneOn,
  begunOn,
  oldestLostMs,
  tokenAgent,
  tokenHabits,
  tokensOnRemote,
  writtenOn,
} from './support/tokens.ts';
import { startWorkers } from './support/workers.ts';

const workers = ['north', 'east', 'south'];
const doneMaxMs = 180_000;
/** The maximum loss if a machine never comes back. */
const lostMaxMs = 30_000;
/** Measured from the start of its agents to the death of a machine. */
const aliveMs = { atLeast: 35_000, atMost: 65_000 };

/**
 * Its first run leaves half of the work behind and keeps running; a run that finds that half does
 * the rest.
 */
const halvesAgent = `
cat > /dev/null
if [ -e half.txt ]; then
  echo "work of $id" > "$id.txt"
  rm half.txt
  echo "$id $attempt $machine" >> "$ledger"
else
  echo half > half.txt
  sleep 600
fi
`;

const cases: readonly { readonly name: string; readonly gone: readonly string[] }[] = [
  { name: 'the machine where the run was started', gone: ['desk'] },
  { name: 'all workers but one', gone: ['north', 'south'] },
  {
    name: 'the machine where the run was started and two workers',
    gone: ['desk', 'north', 'east'],
  },
];

suite('a fleet whose machines disappear permanently', function () {
  this.timeout(400_000);
  const fleet = useFleets();

  test("another machine continues a paused agent's work", async () => {
    const here = await fleet({
      machines: ['north', 'east', 'desk'],
      agent: halvesAgent,
      settings: fleetSettings,
      isPlain: true,
    });
    const north = here.machine('north');
    const desk = here.machine('desk');
    await importEpic(desk, [{ id: 'F-1', blockedBy: [] }]);
    await startWorkers(here, ['north'], 1);
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    const run = desk.start(['run']);
    await eventually('half of it is there', () => holdsHalf(north));
    await desk.expect(0, ['pause', 'F-1']);
    await eventually('its snapshot is on the remote', async () => {
      const [task] = await here.query<{ status: string }>('SELECT status FROM tasks');
      return (
        task?.status === 'paused' && here.gitServer.git('for-each-ref', 'refs/drover/work') !== ''
      );
    });
    await run.ended;
    await north.kill();
    await desk.expect(0, ['resume-task', 'F-1']);
    await startWorkers(here, ['east'], 1);
    await desk.expect(0, ['run']);
    await assertFleetDone(here, [{ id: 'F-1', blockedBy: [] }]);
    assert.deepEqual(completedRuns(here), [{ task: 'F-1', attempt: 2, machine: 'east' }]);
  });

  test(`no token older than half a minute is lost with three of four machines (DROVER_SEED=${testSeed})`, async () => {
    const chance = new SeededChance(testSeed).fork('gone');
    const dying = ['north', 'east', 'south'];
    const here = await fleet({
      machines: [...dying, 'west', 'desk'],
      agent: tokenAgent,
      settings: fleetSettings,
    });
    const tasks = Array.from({ length: 8 }, (_, n) => ({ id: `F-${n}`, blockedBy: [] }));
    const desk = here.machine('desk');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await importEpic(desk, tasks);
    await startWorkers(here, [...dying, 'west'], 2);
    const run = desk.start(['run', '--workers', '8']);
    const gone = await Promise.all(
      dying.map(async (name) => {
        await eventually('its agents have begun', () => begunOn(here, name).length === 2);
        await pause(chance.fork(name).between(aliveMs.atLeast, aliveMs.atMost));
        const goneAtMs = Date.now();
        await here.machine(name).kill();
        removeFolder(here.machine(name).folder);
        const written = writtenOn(here, name);
        const lostMs = oldestLostMs(written, tokensOnRemote(here), goneAtMs);
        const habits = begunOn(here, name).map((id) => tokenHabits[Number(id.slice(2)) % 6]);
        const words = `${name}, whose agents were such: one ${habits.join('; one ')}`;
        assert.ok(lostMs === null || lostMs <= lostMaxMs, `${words}: ${lostMs} ms old`);
        return { written: written.filter(({ atMs }) => goneAtMs - atMs > lostMaxMs), lostMs };
      }),
    );
    writeFileSync(join(here.folder, 'finish'), '');
    assert.equal((await run.ended).code, 0, desk.log());
    await assertFleetDone(here, tasks);
    const kept = gone.flatMap(({ written }) => written);
    const isStashed = (task: string): boolean => Number(task.slice(2)) % 6 === 5;
    assertGoneOn(
      here,
      kept.filter(({ task }) => !isStashed(task)),
    );
    const found = tokensOnRemote(here);
    assert.deepEqual(
      kept.filter(({ token }) => !found.has(token)),
      [],
    );
  });

  for (const { name, gone } of cases) {
    test(name, async () => {
      const here = await fleet({
        machines: [...workers, 'desk'],
        agent: countedAgent,
        settings: fleetSettings,
      });
      const tasks = layeredPlan(new SeededChance(7), 3, 5);
      const desk = here.machine('desk');
      desk.writeUserSettings('[fleet]\nagents = 0\n');
      await importEpic(desk, tasks);
      await startWorkers(here, workers, 2);
      const run = desk.start(['run', '--workers', '6']);
      await run.line((line) => line.includes('task.completed'));
      await Promise.all(gone.map((machine) => here.machine(machine).kill()));
      await eventually('the run is finished', () => isFinished(here), doneMaxMs);
      await assertFleetDone(here, tasks);
    });
  }
});

function holdsHalf(machine: Machine): boolean {
  const slots = join(machine.folder, 'repo.worktrees');
  return (
    existsSync(slots) &&
    readdirSync(slots).some((slot) => existsSync(join(slots, slot, 'half.txt')))
  );
}

async function isFinished(fleet: Fleet): Promise<boolean> {
  const rows = await fleet.query<{ state: string }>('SELECT state FROM runs');
  return rows.length === 1 && rows[0]?.state === 'finished';
}
