// The cost of a distant database for a fleet: how often a task waits for an answer while it holds
// the write turn, for which all other machines wait. The number is measured on the network. A busy
// machine sends data in several pieces that an idle one sends at once, and heartbeats come in
// between. Both only increase a task's number, so the smallest of several counts.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Burst, RoundTripCounter } from '../postgres/round-trips.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

const tasks = 8;
/** So far away that requests sent together are all sent before the first answer arrives. */
const awayMs = 10;
const waitsMax = 20;
const turnsMax = 8;

suite('a fleet with a distant database', function () {
  this.timeout(180_000);
  const fleet = useFleets();

  test('a task waits for few answers while all other writers wait for it', async () => {
    const bursts: Burst[] = [];
    const counter = new RoundTripCounter((burst) => void bursts.push(burst));
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
    // Each waits for a person, because it changed nothing.
    await desk.start(['run']).ended;
    const [ended] = await here.query<{ n: number }>(
      "select count(*)::int as n from events where type = 'agent.ended'",
    );
    assert.equal(ended?.n, tasks);
    const waits = perTask(bursts, ({ isInTurn }) => (isInTurn ? 1 : 0));
    const turns = perTask(bursts, ({ statements }) => statements.filter(isTurnStart).length);
    const told = `waits in turns ${waits.join(', ')}; turns ${turns.join(', ')}`;
    console.log(`from claim to claim: ${told}`);
    // If each statement waited for its answer, a task would take 57 round trips.
    assert.ok(Math.min(...waits) <= waitsMax, told);
    assert.ok(Math.min(...turns) <= turnsMax, told);
  });
});

/**
 * Added up from each claim of a task to the next one, because the tasks run one after the other.
 */
function perTask(
  bursts: readonly Burst[],
  countOf: (burst: Burst) => number,
): readonly [number, ...number[]] {
  const sums: number[] = [];
  for (const burst of bursts) {
    if (burst.statements.some((text) => text.startsWith('insert into "attempts"'))) sums.push(0);
    const last = sums.at(-1);
    if (last !== undefined) sums[sums.length - 1] = last + countOf(burst);
  }
  const [first, ...others] = sums;
  assert.equal(sums.length, tasks);
  // After the last one, the run ends.
  return [first ?? 0, ...others.slice(0, -1)];
}

const isTurnStart = (text: string): boolean =>
  text.startsWith('begin isolation level read committed');
