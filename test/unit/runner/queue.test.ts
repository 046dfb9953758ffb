// The order of the test runner's jobs, without processes: prerequisites, busy cores, and the
// effects of a failure.

import assert from 'node:assert/strict';
import type { Job } from '../../runner/job.ts';
import { type Expected, JobQueue, roomOf } from '../../runner/queue.ts';
import { jobNamed } from './jobs.ts';

const times: Readonly<Record<string, number>> = { long: 90, middle: 50, short: 10, last: 100 };
const namesOf = (jobs: readonly Job[]): string[] => jobs.map(({ name }) => name);
const job = (name: string, more: Partial<Job> = {}): Job => jobNamed(name, more);
/** All jobs wait half of their time, except those that are named. */
const expected = (cores: Readonly<Record<string, number>> = {}): Expected => ({
  lengthMs: ({ name }) => times[name] ?? 1,
  cores: ({ name }) => cores[name] ?? 0.5,
});
const room = (cores: number, jobs = 9) => ({ cores, jobs, timed: 1 });

suite('queue of test jobs', () => {
  test('it starts the longest job first, and as many jobs as fit', () => {
    const jobs = [job('short'), job('long'), job('middle')];
    const queue = new JobQueue(jobs, expected(), room(1));
    assert.deepEqual(namesOf(queue.next()), ['long', 'middle']);
    assert.deepEqual(queue.next(), []);
    queue.finished('long', true);
    assert.deepEqual(namesOf(queue.next()), ['short']);
  });

  test('it uses the path to the end: prerequisites of long jobs come first', () => {
    const jobs = [job('long'), job('short'), job('last', { after: ['short'] })];
    const queue = new JobQueue(jobs, expected(), room(0.5));
    assert.deepEqual(namesOf(queue.next()), ['short']);
    queue.finished('short', true);
    assert.deepEqual(namesOf(queue.next()), ['last']);
  });

  test('a job that computes runs beside jobs that wait, not beside another that computes', () => {
    const jobs = [job('long'), job('middle'), job('short')];
    const queue = new JobQueue(jobs, expected({ long: 1, middle: 1 }), room(1.5));
    assert.deepEqual(namesOf(queue.next()), ['long', 'short']);
    queue.finished('short', true);
    assert.deepEqual(queue.next(), []);
    queue.finished('long', true);
    assert.deepEqual(namesOf(queue.next()), ['middle']);
  });

  test('light jobs do not delay a heavy one until the end', () => {
    const jobs = [job('long'), job('middle'), job('short'), job('other')];
    const queue = new JobQueue(jobs, expected({ middle: 1 }), room(1));
    assert.deepEqual(namesOf(queue.next()), ['long']);
    queue.finished('long', true);
    assert.deepEqual(namesOf(queue.next()), ['middle']);
  });

  test('a job heavier than the machine runs alone', () => {
    const queue = new JobQueue([job('long'), job('short')], expected({ long: 3 }), room(1));
    assert.deepEqual(namesOf(queue.next()), ['long']);
    queue.finished('long', true);
    assert.deepEqual(namesOf(queue.next()), ['short']);
  });

  test('the number of jobs that only wait is limited', () => {
    const jobs = [job('long'), job('middle'), job('short')];
    const idle = expected({ long: 0.1, middle: 0.1, short: 0.1 });
    const queue = new JobQueue(jobs, idle, room(2, 2));
    assert.deepEqual(namesOf(queue.next()), ['long', 'middle']);
  });

  test('on two cores, one job with deadlines runs at a time, and more on more cores', () => {
    const jobs = ['long', 'middle', 'short'].map((name) => job(name, { isTimed: true }));
    const startedOn = (cores: number): string[] =>
      namesOf(new JobQueue([...jobs, job('other')], expected(), roomOf(cores)).next());
    assert.deepEqual(startedOn(2), ['long', 'other']);
    assert.deepEqual(startedOn(4), ['long', 'middle', 'short', 'other']);
  });

  test('a failure fails the jobs that need it, directly or indirectly', () => {
    const jobs = [job('package', { after: ['build'] }), job('vscode', { after: ['package'] })];
    const queue = new JobQueue([job('build'), ...jobs], expected(), room(3));
    assert.deepEqual(namesOf(queue.next()), ['build']);
    const blocked = queue.finished('build', false);
    assert.deepEqual(
      blocked.map(({ job: lost, by }) => [lost.name, by]),
      [
        ['package', 'build'],
        ['vscode', 'package'],
      ],
    );
    assert.deepEqual([queue.next(), queue.waiting], [[], []]);
  });
});
