// One machine's clock is ten minutes ahead: retries that it stores start on time, and the times
// that it reports are correct.

import assert from 'node:assert/strict';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { tail } from '../e2e/support/run-program.ts';
import { aheadMs, wrongClock } from './support/clock.ts';
import { fleetSettings, importEpic, layeredPlan } from './support/epic.ts';
import { useFleets } from './support/suite-fleets.ts';

/** The first attempt of each task fails, so that a second one waits for its time. */
const agent = `
cat > /dev/null
if [ "$attempt" = 1 ]; then exit 1; fi
echo "work of $id" > "$id.txt"
`;

suite('a machine whose clock is wrong', function () {
  this.timeout(240_000);
  const fleet = useFleets();

  test('it uses the time of the database', async () => {
    const here = await fleet({
      machines: ['early', 'desk'],
      agent,
      settings: fleetSettings,
      isPlain: true,
    });
    const early = here.machine('early');
    const desk = here.machine('desk');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    const tasks = layeredPlan(new SeededChance(7), 1, 3);
    await importEpic(desk, tasks);
    await early.expect(0, ['init']);
    await early.startWorker([], wrongClock());
    const run = await desk.start(['run', '--workers', '2']).ended;
    assert.equal(run.code, 0, `${tail(run.stdout)}\n${tail(run.stderr)}\n${early.log()}`);
    const waits = await here.query<{ ms: number }>(
      `SELECT (second.started_at_ms - first.ended_at_ms)::int AS ms FROM attempts first
         JOIN attempts second ON second.task_id = first.task_id AND second.number = first.number + 1
        WHERE first.number = 1`,
    );
    assert.equal(waits.length, tasks.length);
    const late = waits.filter(({ ms }) => !(ms >= 0 && ms < aheadMs / 2));
    assert.deepEqual(late, [], 'no second attempt waited for ten minutes');
    const [row] = await here.query<{ most: string; n: number }>(
      'SELECT max(at_ms)::text AS most, count(*)::int AS n FROM events',
    );
    assert.ok(Number(row?.most) < Date.now() + 60_000, 'no event is of a time to come');
    const [machine] = await here.query<{ note: string }>(
      `SELECT note FROM machines WHERE name = 'early'`,
    );
    assert.match(machine?.note ?? '', /Its clock is 10 min.* ahead of the database/);
  });
});
