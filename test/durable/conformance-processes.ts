// Conformance: several processes on one store, and processes that are killed or suspended.

import assert from 'node:assert/strict';
import { sized } from '../tier.ts';
import type { Check } from './conformance.ts';
import { readLog, registerTestWorkflows, sixSteps, type CrashAt } from './workflows.ts';

/** Longer than any test takes. */
export const leaseThatNeverEndsMs = 600_000;
const sumOfSix = 100 + 1 + 2 + 3 + 4 + 5 + 6;

export function describeProcesses(check: Check): void {
  // The first step, the step that is a commit, and the last.
  for (const step of sized<readonly CrashAt['step'][]>(['s1', 's3', 's6'], sixSteps)) {
    for (const where of ['before', 'after', 'stored'] as const) {
      describeKill(check, { step, where });
    }
  }

  if (process.platform !== 'win32') describeStopped(check); // A process cannot be stopped there.

  check('two processes run each workflow once, inside the limits of the queue', async (bench) => {
    const queues = { q: { concurrency: 4, perProcess: 3 } };
    const children = [bench.child({ queues }), bench.child({ queues })];
    await Promise.all(children.map((child) => child.said('launched')));
    const { durable } = await bench.open();
    const ids = Array.from({ length: 40 }, (_, index) => `w${index}`);
    for (const id of ids) await durable.start('span', id, { workMs: 40 }, { queue: 'q' });
    await Promise.all(ids.map((id) => durable.wait(id)));
    await Promise.all(children.map((child) => child.close()));
    const log = readLog(bench.folder).map((line) => line.split(' '));
    const ended = log.filter(([what]) => what === 'end').map(([, id]) => id);
    assert.equal(ended.length, ids.length);
    assert.deepEqual(new Set(ended), new Set(ids));
    assert.ok(mostAtOnce(log) <= 4, 'concurrency');
    for (const { pid } of children) {
      assert.ok(mostAtOnce(log.filter(([, , by]) => by === String(pid))) <= 3, 'perProcess');
    }
  });

  check('work that one process may not take is taken by the other', async (bench) => {
    const queues = { q: { perProcess: 1 } };
    const children = [bench.child({ queues }), bench.child({ queues })];
    await Promise.all(children.map((child) => child.said('launched')));
    const { durable } = await bench.open();
    await durable.start('meet', 'meet-1', null, { queue: 'q' });
    await durable.start('meet', 'meet-2', null, { queue: 'q' });
    const ends = await Promise.all([durable.wait('meet-1'), durable.wait('meet-2')]);
    const pids = children.map(({ pid }) => pid);
    assert.deepEqual(new Set(ends.map(({ result }) => result)), new Set(pids));
  });

  check('cancels a workflow that runs in another process, and resumes it there', async (bench) => {
    const child = bench.child();
    await child.said('launched');
    const { durable } = await bench.open();
    await durable.start('hang', 'w1', null, { queue: 'q' });
    await child.said('hanging w1');
    await durable.cancel('w1');
    assert.equal((await durable.wait('w1')).state, 'cancelled');
    await child.said('aborted w1');
    assert.deepEqual(readLog(bench.folder), ['w1 first', 'w1 aborted']);
    await child.close();
    assert.equal((await durable.get('w1'))?.state, 'cancelled');
  });

  check('cancels a workflow of a dead process', async (bench) => {
    const child = bench.child({ leaseMs: leaseThatNeverEndsMs });
    await child.said('launched');
    const { durable } = await bench.open({ leaseMs: leaseThatNeverEndsMs });
    await durable.start('hang', 'w1', null, { queue: 'q' });
    await child.said('hanging w1');
    child.kill('SIGKILL');
    await child.ended;
    await durable.cancel('w1');
    assert.equal((await durable.wait('w1')).state, 'cancelled');
  });

  check('a process that is asked to close gives its work to the others', async (bench) => {
    const child = bench.child({ leaseMs: leaseThatNeverEndsMs });
    await child.said('launched');
    const { durable } = await bench.open({ leaseMs: leaseThatNeverEndsMs });
    await durable.start('hang', 'w1', null, { queue: 'q' });
    await child.said('hanging w1');
    await child.close();
    assert.equal((await child.ended).code, 0);
    assert.equal((await durable.get('w1'))?.state, 'pending');
    const next = bench.child();
    await next.said('hanging w1');
    assert.deepEqual(readLog(bench.folder), ['w1 first', 'w1 aborted']);
  });
}

function describeStopped(check: Check): void {
  check('a process that runs already takes over from one that is killed', async (bench) => {
    const here = await bench.open({ leaseMs: leaseThatNeverEndsMs });
    registerTestWorkflows(here, { folder: bench.folder });
    here.durable.queue('q', { perProcess: 0 });
    await here.durable.launch();
    const child = bench.child({ leaseMs: leaseThatNeverEndsMs, stopsItself: true });
    await child.said('launched');
    await here.durable.start('zombie', 'w1', null, { queue: 'q' });
    await child.said('stopping');
    here.durable.queue('q', { perProcess: 1 });
    child.kill('SIGKILL');
    assert.equal((await here.durable.wait('w1')).result, 'done');
    assert.deepEqual(readLog(bench.folder), ['z1', 'z2', 'z2', 'z3']);
  });

  check('a process that slept past its lease can store nothing more', async (bench) => {
    const leaseMs = 5_000;
    const here = await bench.open({ leaseMs: leaseThatNeverEndsMs });
    registerTestWorkflows(here, { folder: bench.folder });
    const child = bench.child({ leaseMs, stopsItself: true });
    await child.said('launched');
    await here.durable.start('zombie', 'w1', null, { queue: 'q' });
    await child.said('stopping');
    await here.durable.launch();
    assert.equal((await here.durable.wait('w1')).result, 'done');
    child.kill('SIGCONT');
    await child.said('write fenced');
    await child.said('fenced');
    await child.close();
    assert.deepEqual(readLog(bench.folder), ['z1', 'z2', 'z2', 'z3']);
    assert.equal((await here.durable.get('w1'))?.result, 'done');
    assert.deepEqual(await here.notes(), ['in z2'], 'also outside of a step');
  });
}

/**
 * Kills the child at the point, then continues here: stored steps do not run again, but the one in
 * flight does. The work is taken over at once, because its lease would outlast the test.
 */
function describeKill(check: Check, crashAt: CrashAt): void {
  const { step, where } = crashAt;
  check(
    `kill -9 ${where === 'stored' ? 'when' : where} ${step} ${where === 'stored' ? 'is stored' : 'takes effect'}`,
    async (bench) => {
      const here = await bench.open({ leaseMs: leaseThatNeverEndsMs });
      registerTestWorkflows(here, { folder: bench.folder });
      await here.durable.start('six', 'w1', { start: 100 }, { queue: 'q' });
      const child = bench.child({ leaseMs: leaseThatNeverEndsMs, crashAt });
      assert.equal((await child.ended).signal, 'SIGKILL');
      await here.durable.launch();
      const info = await here.durable.wait('w1');
      assert.deepEqual([info.state, info.result], ['succeeded', sumOfSix]);
      const expected = sixSteps.flatMap((name) => {
        const line = `w1 ${name}`;
        return name === step && where === 'after' ? [line, line] : [line];
      });
      assert.deepEqual(readLog(bench.folder), expected);
      assert.deepEqual(await here.notes(), ['w1 s3']);
    },
  );
}

/** Lines of the log are `begin|end id pid`, in chronological order. */
function mostAtOnce(log: readonly (readonly string[])[]): number {
  let running = 0;
  let most = 0;
  for (const [what] of log) {
    running += what === 'begin' ? 1 : -1;
    most = Math.max(most, running);
  }
  return most;
}
