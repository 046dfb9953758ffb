// The forecast of a run: its jobs share the cores, and wait for their prerequisites.

import assert from 'node:assert/strict';
import { forecast } from '../../runner/forecast.ts';
import { roomOf } from '../../runner/queue.ts';
import { jobNamed } from './jobs.ts';

suite('forecast of a run', () => {
  const expected = (cores: number) => ({ lengthMs: () => 60_000, cores: () => cores });
  const jobs = ['a', 'b', 'c', 'd'].map((name) => jobNamed(name));
  const secondsOf = (cores: number, machine: number): number =>
    Math.round(forecast(jobs, expected(cores), roomOf(machine), machine).durationMs / 1_000);

  test('jobs that compute take turns, and jobs that wait run concurrently', () => {
    assert.deepEqual([secondsOf(1, 2), secondsOf(0.25, 2), secondsOf(1, 4)], [120, 60, 60]);
  });

  test('concurrent jobs never compute more than the cores can', () => {
    const many = Array.from({ length: 6 }, (_, at) => jobNamed(`${at}`));
    const room = { cores: 10, jobs: 10, timed: 1 };
    const { durationMs } = forecast(many, expected(0.5), room, 2);
    assert.equal(Math.round(durationMs / 1_000), 90);
  });

  test('a job that needs another job runs after it', () => {
    const chain = [jobNamed('a'), jobNamed('b', { after: ['a'] })];
    const { durationMs, cpuMs } = forecast(chain, expected(0.5), roomOf(2), 2);
    assert.deepEqual([durationMs, cpuMs], [120_000, 60_000]);
  });
});
