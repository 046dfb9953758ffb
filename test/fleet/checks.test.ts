// The checks of the fleet's tests detect planted faults: a second completion, a lost landing, a
// double one, a commit that nothing references, a run without a claim.

import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { tail } from '../e2e/support/run-program.ts';
import { assertFleetDone } from './support/checks.ts';
import { countedAgent, fleetSettings, importEpic, layeredPlan } from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import { useFleets } from './support/suite-fleets.ts';

interface Planted {
  readonly what: string;
  readonly plant: (fleet: Fleet) => unknown;
  readonly undo: (fleet: Fleet) => unknown;
  readonly said: RegExp;
}

const task = 'F-000';
const saved = { main: '', ledger: '', commit: '' };
const setMain = ({ gitServer }: Fleet, sha: string): void => {
  gitServer.git('update-ref', 'refs/heads/main', sha);
  gitServer.git('update-ref', 'refs/drover/land/main', sha);
};
const identity = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.org'];

const planted: readonly Planted[] = [
  {
    what: 'a second completion',
    plant: (fleet) =>
      fleet.query(
        `INSERT INTO events (id, type, timestamp, at_ms, task_id, data)
         VALUES ('planted', 'task.completed', 1, 1, $1, '{}')`,
        [task],
      ),
    undo: (fleet) => fleet.query(`DELETE FROM events WHERE id = 'planted'`),
    said: /exactly once/,
  },
  {
    what: 'an attempt that was used up',
    plant: (fleet) => fleet.query('UPDATE tasks SET attempts = 1 WHERE id = $1', [task]),
    undo: (fleet) => fleet.query('UPDATE tasks SET attempts = 0'),
    said: /no attempt is used up/,
  },
  {
    what: 'a landing that is lost again',
    plant: (fleet) => setMain(fleet, fleet.gitServer.git('rev-parse', 'main^1')),
    undo: (fleet) => setMain(fleet, saved.main),
    said: /one merge per task/,
  },
  {
    what: 'a landing that comes twice',
    plant: (fleet) => {
      const parents = ['-p', saved.main, '-p', fleet.gitServer.git('rev-parse', 'main^2')];
      const words = ['-m', 'again', '-m', `Drover-Task: ${task}`];
      const tree = fleet.gitServer.git('rev-parse', 'main^{tree}');
      setMain(fleet, fleet.gitServer.git(...identity, 'commit-tree', tree, ...parents, ...words));
    },
    undo: (fleet) => setMain(fleet, saved.main),
    said: /one merge per task/,
  },
  {
    what: 'a landing that is not where the database says',
    plant: (fleet) =>
      fleet.query('UPDATE tasks SET landed_sha = $1 WHERE id = $2', ['0'.repeat(40), task]),
    undo: (fleet) =>
      fleet.query('UPDATE tasks SET landed_sha = $1 WHERE id = $2', [saved.commit, task]),
    said: /landed where it says/,
  },
  {
    what: 'a commit of an agent that no name on the remote holds',
    plant: async (fleet) => {
      const tree = fleet.gitServer.git('rev-parse', 'main^{tree}');
      const lost = fleet.gitServer.git(...identity, 'commit-tree', tree, '-m', 'lost');
      await fleet.query(
        `INSERT INTO attempts (task_id, number, epoch, state, agent, session_id, branch, commit_sha, started_at_ms)
         VALUES ($1, 99, 99, 'interrupted', 'command', 'planted', 'planted', $2, 1)`,
        [task, lost],
      );
    },
    undo: (fleet) => fleet.query('DELETE FROM attempts WHERE number = 99'),
    said: /what was committed is reachable/,
  },
  {
    what: 'a run of an agent that nobody claimed',
    plant: (fleet) => appendFileSync(join(fleet.folder, 'ledger'), `${task} 1 solo\n`),
    undo: (fleet) => writeFileSync(join(fleet.folder, 'ledger'), saved.ledger),
    said: /no run without a claim/,
  },
];

suite("the checks of the fleet's tests", function () {
  this.timeout(240_000);
  const fleet = useFleets();

  test(`they detect ${planted.map(({ what }) => what).join(', ')}`, async () => {
    const here = await fleet({ machines: ['solo'], agent: countedAgent, settings: fleetSettings });
    const solo = here.machine('solo');
    const tasks = layeredPlan(new SeededChance(9), 2, 2);
    await importEpic(solo, tasks);
    const run = await solo.start(['run', '--workers', '2']).ended;
    assert.equal(run.code, 0, `${tail(run.stdout)}\n${tail(run.stderr)}`);
    await assertFleetDone(here, tasks);
    saved.main = here.gitServer.git('rev-parse', 'main');
    saved.ledger = readFileSync(join(here.folder, 'ledger'), 'utf8');
    const [row] = await here.query<{ sha: string }>(
      'SELECT landed_sha AS sha FROM tasks WHERE id = $1',
      [task],
    );
    saved.commit = row?.sha ?? '';
    for (const { what, plant, undo, said } of planted) {
      await plant(here);
      await assert.rejects(assertFleetDone(here, tasks), said, what);
      await undo(here);
    }
    await assertFleetDone(here, tasks);
  });
});
