// A fleet is upgraded machine by machine under load, to a release that cannot continue the previous
// release's work.

import assert from 'node:assert/strict';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { assertFleetDone } from './support/checks.ts';
import { countedAgent, fleetSettings, importEpic, layeredPlan } from './support/epic.ts';
import { storyOf } from './support/story.ts';
import { useFleets } from './support/suite-fleets.ts';

const workers = ['north', 'east', 'south'];
const release = (number: number) => ({
  DROVER_TEST: '1',
  DROVER_TEST_COMPATIBILITY: String(number),
});

suite('an upgrade of a fleet', function () {
  this.timeout(400_000);
  const fleet = useFleets();

  test('three workers are upgraded one by one across a compatibility number: nothing hangs, and nothing runs twice', async () => {
    const here = await fleet({
      machines: [...workers, 'desk'],
      agent: countedAgent,
      settings: fleetSettings,
      isPlain: true,
    });
    const tasks = layeredPlan(new SeededChance(5), 4, 8);
    const desk = here.machine('desk');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await importEpic(desk, tasks);
    const start = async (name: string, number: number): Promise<void> => {
      await here.machine(name).startWorker(['--agents', '2'], release(number));
    };
    for (const name of workers) {
      await here.machine(name).expect(0, ['init']);
      await start(name, 1);
    }
    // The old release keeps running on the clone without agents until the end.
    const run = desk.start(['run'], release(1));
    await run.line((line) => line.includes('task.completed'));
    for (const [index, name] of workers.entries()) {
      const machine = here.machine(name);
      machine.signalWorker('SIGTERM');
      assert.equal((await machine.worker()?.ended)?.code, 0, `${name} has drained`);
      await start(name, 2);
      if (index > 0) continue;
      await eventually('the older ones say why they get nothing', async () => {
        const notes = await here.query(
          `SELECT name FROM machines WHERE name IN ('east', 'south') AND note LIKE 'Other machines run a newer Drover%'`,
        );
        return notes.length === 2;
      });
    }
    const ended = await run.ended;
    assert.equal(ended.code, 0, `${ended.stderr}\n${ended.code === 0 ? '' : await storyOf(here)}`);
    const { doubledRuns } = await assertFleetDone(here, tasks);
    assert.equal(doubledRuns, 0, 'no agent works twice');
  });
});
