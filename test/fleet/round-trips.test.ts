// What a far database costs a fleet: how often a task waits for an answer while it has the turn to
// write, for which all other machines wait. A number of the wire, nearly whatever the load.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RoundTripCounter } from '../postgres/round-trips.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

const tasks = 5;
/** So far that what is sent together is on its way before the first answer. */
const awayMs = 10;

suite('the database of a fleet is far away', function () {
  this.timeout(180_000);
  const fleet = useFleets();

  test('a task waits for few answers while all other writers wait for it', async () => {
    const counter = new RoundTripCounter();
    const here = await fleet({
      machines: ['desk', 'one'],
      agent: 'cat > /dev/null',
      settings: '[gate]\ncommand = "true"\n',
      isPlain: true,
      databaseAwayMs: awayMs,
      onDatabaseRoad: counter.listener,
    });
    const desk = here.machine('desk');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await desk.expect(0, ['init']);
    const plan = Array.from({ length: tasks }, (_, n) => ({
      id: `N-${n}`,
      type: 'task',
      title: `Do nothing ${n}`,
    }));
    const path = join(here.folder, 'plan.jsonl');
    writeFileSync(path, plan.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await desk.expect(0, ['import', path]);
    await startWorkers(here, ['one'], 1);
    const before = counter.counts;
    // Each waits for a person, as it changed nothing.
    await desk.start(['run']).ended;
    const { inTurns, turns } = counter.counts;
    const [ended] = await here.query<{ n: number }>(
      "select count(*)::int as n from events where type = 'agent.ended'",
    );
    assert.equal(ended?.n, tasks);
    const told = `${turns - before.turns} turns, ${inTurns - before.inTurns} waits in them`;
    console.log(`${tasks} tasks one after the other: ${told}`);
    // Asked one after the other, the claim alone took fourteen, and all of a task 21. On a busy
    // machine an answer can arrive before what belongs to its question is sent, and counts as one.
    assert.ok((inTurns - before.inTurns) / tasks <= 18, told);
    assert.ok((turns - before.turns) / tasks <= 12, told);
  });
});
