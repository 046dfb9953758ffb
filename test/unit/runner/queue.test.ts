// The order of the test runner's jobs, without processes: prerequisites, weights, and what a failure takes with it.

import assert from 'node:assert/strict';
import type { Job, Kind } from '../../runner/job.ts';
import { JobQueue } from '../../runner/queue.ts';
import { jobNamed } from './jobs.ts';

const times: Readonly<Record<string, number>> = { long: 90, middle: 50, short: 10, last: 100 };
const expectedMs = ({ name }: Job): number => times[name] ?? 1;
const namesOf = (jobs: readonly Job[]): string[] => jobs.map(({ name }) => name);
const job = (name: string, kind: Kind = 'waits', after: readonly string[] = []): Job =>
  jobNamed(name, { kind, after });

suite('queue of test jobs', () => {
  test('starts the longest first, and as much as fits', () => {
    const queue = new JobQueue([job('short'), job('long'), job('middle')], expectedMs, 2);
    assert.deepEqual(namesOf(queue.next()), ['long', 'middle']);
    assert.deepEqual(queue.next(), []);
    queue.finished('long', true);
    assert.deepEqual(namesOf(queue.next()), ['short']);
  });

  test('counts the way to the end: what long jobs wait for comes first', () => {
    const queue = new JobQueue(
      [job('long'), job('short'), job('last', 'waits', ['short'])],
      expectedMs,
      1,
    );
    assert.deepEqual(namesOf(queue.next()), ['short']);
    queue.finished('short', true);
    assert.deepEqual(namesOf(queue.next()), ['last']);
  });

  test('a job that computes runs beside one that waits, not beside another that computes', () => {
    const queue = new JobQueue(
      [job('long', 'computes'), job('middle', 'computes'), job('short')],
      expectedMs,
      3,
    );
    assert.deepEqual(namesOf(queue.next()), ['long', 'short']);
    queue.finished('short', true);
    assert.deepEqual(queue.next(), []);
    queue.finished('long', true);
    assert.deepEqual(namesOf(queue.next()), ['middle']);
  });

  test('light jobs do not keep a heavy one waiting until the end', () => {
    const jobs = [job('long'), job('middle', 'computes'), job('short'), job('other')];
    const queue = new JobQueue(jobs, expectedMs, 2);
    assert.deepEqual(namesOf(queue.next()), ['long']);
    queue.finished('long', true);
    assert.deepEqual(namesOf(queue.next()), ['middle']);
  });

  test('a job heavier than the machine runs alone', () => {
    const queue = new JobQueue([job('long', 'computes'), job('short')], expectedMs, 1);
    assert.deepEqual(namesOf(queue.next()), ['long']);
    queue.finished('long', true);
    assert.deepEqual(namesOf(queue.next()), ['short']);
  });

  test('a failure takes with it what needs the job, directly or through others', () => {
    const queue = new JobQueue(
      [job('build'), job('package', 'waits', ['build']), job('vscode', 'waits', ['package'])],
      expectedMs,
      3,
    );
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
