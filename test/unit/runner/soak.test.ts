// The jobs of a soak, their order, and how a failure is repeated.

import assert from 'node:assert/strict';
import { neededJobs, partsOf, soakJobs, soakOrder } from '../../runner/soak-plan.ts';
import { jobNamed } from './jobs.ts';

const gate = [
  jobNamed('build'),
  jobNamed('package', { after: ['build'] }),
  jobNamed('test/e2e/crash.test.ts', { suite: 'end-to-end', counting: 'mocha', after: ['build'] }),
  jobNamed('test/e2e/power-cut.test.ts', { suite: 'end-to-end', counting: 'mocha' }),
  jobNamed('test/e2e/steer.test.ts', { suite: 'end-to-end', counting: 'mocha' }),
  jobNamed('test/simulation/seeds.test.ts', { suite: 'simulation', counting: 'mocha' }),
  jobNamed('test/simulation/faults.test.ts', { suite: 'simulation', counting: 'mocha' }),
  jobNamed('test/neighbours/schedules.test.ts', { suite: 'neighbours', counting: 'mocha' }),
  jobNamed('test/neighbours/day.test.ts', { suite: 'neighbours', counting: 'mocha' }),
  jobNamed('test/fleet/show-2.test.ts', { suite: 'fleet', counting: 'mocha' }),
  jobNamed('in-host project', { suite: 'in-host', counting: 'last-line', after: ['package'] }),
];

suite('soak', () => {
  const jobs = soakJobs(gate, 500);

  test('a round has 10,000 seeds, 1,000 kills, 20 schedules and each suite', () => {
    const goals = Object.fromEntries(partsOf(jobs).map(({ name, goal }) => [name, goal]));
    assert.deepEqual(goals, {
      simulation: 10_000,
      crash: 1_000,
      'power-cut': 60,
      neighbours: 1_000,
      schedules: 20,
      faults: 2,
      'end-to-end': 1,
      fleet: 1,
      'in-host': 1,
    });
    assert.equal(new Set(jobs.map(({ job }) => job.name)).size, jobs.length);
    assert.deepEqual(
      neededJobs(gate, jobs).map(({ name }) => name),
      ['build', 'package'],
    );
  });

  test('a batch contains the seeds of one job, and the round stays the same', () => {
    const small = soakJobs(gate, 500, 4).filter(({ part }) => part === 'simulation');
    assert.equal(small.length, 2_500);
    assert.equal(small[1]?.replay, 'npm run simulate -- --seeds 4 --from 504');
    assert.deepEqual(partsOf(small), [{ name: 'simulation', unit: 'seeds', goal: 10_000 }]);
  });

  test('whenever it is stopped, each part has completed about the same share', () => {
    const ranks = soakOrder(jobs);
    const half = jobs.filter(({ job }) => (ranks.get(job.name) ?? 0) >= 0.5);
    const done = Object.fromEntries(partsOf(half).map(({ name, goal }) => [name, goal]));
    assert.deepEqual(
      [done['simulation'], done['crash'], done['power-cut'], done['schedules']],
      [5_000, 500, 36, 10],
    );
  });

  test('each job names the command that repeats it', () => {
    const replays = new Map(jobs.map(({ job, replay }) => [job.name, replay]));
    assert.equal(replays.get('simulation from 750'), 'npm run simulate -- --seeds 25 --from 750');
    assert.equal(
      replays.get('crash of seed 501'),
      'DROVER_TEST_TIER=soak DROVER_SEED=501 npm test -- --no-retries test/e2e/crash.test.ts',
    );
    assert.equal(replays.get('schedule 502'), 'npm run schedules -- --seeds 1 --from 502 --cut 8');
    assert.equal(
      replays.get('in-host project'),
      "DROVER_TEST_TIER=soak DROVER_SEED=500 npm test -- --no-retries 'in-host project'",
    );
  });
});
