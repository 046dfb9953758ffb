// The machine that lands loses only its connection to git: the others land, including its own
// agents' finished work, and it takes nothing until git answers it again.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { assertFleetDone, machineEvents } from './support/checks.ts';
import {
  completedRuns,
  countedAgent,
  fleetSettings,
  importEpic,
  layeredPlan,
} from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import { gitThroughProxy } from './support/git-proxy.ts';
import { useFleets } from './support/suite-fleets.ts';
import { storyOf } from './support/story.ts';
import { startWorkers } from './support/workers.ts';
import { soakTest } from '../tier.ts';

/**
 * Until a listing of the remote has not arrived, and another machine has taken over the landing.
 */
const standStillMaxMs = 60_000;
const perLayer = 4;
/** A remote has this long to answer a listing. */
const listingMaxMs = 10_000;

/**
 * All but the first layer end only when the test lets them, so that work that another machine must
 * land is still running at that time.
 */
const waitingAgent = `
case $id in F-0*) ;; *) while [ ! -e "$ledger.go" ]; do sleep 0.1; done ;; esac
${countedAgent}`;

suite('a fleet whose landing machine cannot reach git', function () {
  this.timeout(300_000);
  const fleet = useFleets();

  test('another machine lands everything, and the first one reports why it does not land', async () => {
    const here = await fleet({
      machines: ['north', 'south', 'desk'],
      agent: waitingAgent,
      settings: fleetSettings,
      isPlain: true,
    });
    const tasks = layeredPlan(new SeededChance(11), 4, perLayer);
    const north = here.machine('north');
    const desk = here.machine('desk');
    const proxy = await gitThroughProxy(here, north);
    try {
      desk.writeUserSettings('[fleet]\nagents = 0\n');
      await importEpic(desk, tasks);
      await startWorkers(here, ['north'], 2);
      // It is the only machine at that time, so tasks are assigned to it, too.
      const run = north.start(['run', '--workers', '4']);
      await run.line((line) => line.includes('task.completed'));
      await startWorkers(here, ['south'], 2);
      // Nothing is being sent to the remote at that time: later landings are other machines'.
      await eventually('both wait with their agents', () => isWaiting(here));
      proxy.stall();
      writeFileSync(join(here.folder, 'ledger.go'), '');
      const others = async (): Promise<boolean> => (await completedCount(here)) > perLayer + 1;
      await eventually('the others land', others, standStillMaxMs).catch(async (error: unknown) => {
        throw new Error(await storyOf(here), { cause: error });
      });
      const note = await eventually('north says that it does not land', () => noteOfNorth(here));
      assert.match(note, /git remote origin has not answered/);
      // A command that waited for git would never be this fast, even on an idle machine.
      await eventually('status answers before a listing could have ended', async () => {
        const askedMs = performance.now();
        assert.match(await north.expect(0, ['status']), /completed/);
        return performance.now() - askedMs < listingMaxMs;
      });
      const isAll = async (): Promise<boolean> => (await completedCount(here)) === tasks.length;
      await eventually('all land, with the work of north', isAll, standStillMaxMs).catch(
        async (error: unknown) => {
          throw new Error(await storyOf(here), { cause: error });
        },
      );
      const runs = completedRuns(here);
      assert.equal(runs.length, tasks.length, 'no agent ran for nothing');
      assert.ok(
        runs.some(({ task, machine }) => machine === 'north' && !task.startsWith('F-0')),
        'north has finished work that it could not push',
      );
      assert.match(await desk.expect(0, ['status']), /north: The git remote origin has not/);
      proxy.goOn();
      const ended = await run.ended;
      assert.equal(
        ended.code,
        0,
        `${ended.stderr}\n${ended.code === 0 ? '' : await storyOf(here)}`,
      );
      await assertFleetDone(here, tasks);
      await eventually('north lands again', async () => (await noteOfNorth(here)) === null);
      await eventually('the feed reports it of north alone', async () => {
        const told = await machineEvents(here);
        const ofNorth = told
          .get('north')
          ?.filter((type) => type !== 'took_over')
          .join(' ');
        return ofNorth === 'joined cut_off reconnected' && told.get('south')?.[0] === 'joined';
      });
      assert.match(await desk.expect(0, ['events']), / machine\.cut_off +north\n/);
    } finally {
      proxy.close();
    }
  });

  soakTest(
    'a worker that drains releases work that it cannot push, and its agent does not run again',
    async () => {
      const here = await fleet({
        machines: ['north'],
        agent: waitingAgent,
        settings: fleetSettings,
        isPlain: true,
      });
      const north = here.machine('north');
      const proxy = await gitThroughProxy(here, north);
      try {
        await importEpic(north, [{ id: 'F-1', blockedBy: [] }]);
        const worker = north.start(['worker', '--agents', '1']);
        await eventually('it is in the fleet', () => isListed(here));
        await north.expect(0, ['run', '--detach']);
        await eventually('its agent runs', () => isAtStep(here, 'agent'));
        proxy.stall();
        writeFileSync(join(here.folder, 'ledger.go'), '');
        await eventually('its push hangs', () => isAtStep(here, 'commit'));
        worker.signal('SIGTERM');
        assert.equal((await worker.ended).code, 2);
        const [task] = await here.query('SELECT status, attempts::int AS attempts FROM tasks');
        assert.deepEqual(task, { status: 'ready', attempts: 0 });
        proxy.goOn();
        await north.startWorker(['--agents', '1']);
        await eventually('it lands', async () => (await completedCount(here)) === 1);
        assert.deepEqual(completedRuns(here), [{ task: 'F-1', attempt: 1, machine: 'north' }]);
      } finally {
        proxy.close();
      }
    },
  );
});

async function completedCount(fleet: Fleet): Promise<number> {
  const rows = await fleet.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM tasks WHERE status = 'completed'`,
  );
  return rows[0]?.n ?? 0;
}

async function isListed(fleet: Fleet): Promise<boolean> {
  return (await fleet.query('SELECT 1 FROM machines')).length > 0;
}

async function isAtStep(fleet: Fleet, phase: string): Promise<boolean> {
  const [task] = await fleet.query<{ phase: string | null }>('SELECT phase FROM tasks');
  return task?.phase === phase;
}

/** The first layer has landed, and agents of the second are running on both machines. */
async function isWaiting(fleet: Fleet): Promise<boolean> {
  const rows = await fleet.query(
    `SELECT DISTINCT a.machine FROM tasks t JOIN attempts a ON a.task_id = t.id AND a.epoch = t.epoch
     WHERE t.phase = 'agent' AND t.id NOT LIKE 'F-0%'`,
  );
  return rows.length === 2 && (await completedCount(fleet)) === perLayer;
}

/** The reason why it does not land; null while it does. */
async function noteOfNorth(fleet: Fleet): Promise<string | null> {
  const [row] = await fleet.query<{ lands: number; note: string }>(
    `SELECT lands::int AS lands, note FROM machines WHERE name = 'north'`,
  );
  return row?.lands === 0 ? row.note : null;
}
