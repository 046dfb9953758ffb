// A heartbeat that has run out proves a death only to a process that has waited for the next one.

import assert from 'node:assert/strict';
import { HeardExecutors } from '../../../server/durable/fleet/heard-executors.ts';

const lifetimeMs = 9_000;
const tickMs = 1_000;

/** Looks each second from `fromMs` on; `beatAt` names the heartbeat of the other one. */
function look(
  heard: HeardExecutors,
  fromMs: number,
  toMs: number,
  beatAt: (ms: number) => string,
): void {
  for (let ms = fromMs; ms <= toMs; ms += tickMs)
    heard.look([{ id: 'other', expired: false, beat: beatAt(ms) }], ms);
}

suite('executors that send heartbeats', () => {
  test('a killed process is dead when its heartbeat expires', () => {
    const heard = new HeardExecutors(lifetimeMs, tickMs);
    look(heard, 0, 20_000, (ms) => String(Math.floor(ms / 3_000)));
    assert.equal(heard.isSilent('other'), false);
    look(heard, 21_000, 20_000 + lifetimeMs, () => 'last');
    assert.equal(heard.isSilent('other'), true);
  });

  test('a process that has just started listens first', () => {
    const heard = new HeardExecutors(lifetimeMs, tickMs);
    assert.equal(heard.isSilent('other'), false);
    look(heard, 100_000, 102_000, () => 'last');
    assert.equal(heard.isSilent('other'), false);
    look(heard, 103_000, 103_000, () => 'last');
    assert.equal(heard.isSilent('other'), true);
  });

  test('after the database was unreachable, the others have a heartbeat lifetime to return', () => {
    const heard = new HeardExecutors(lifetimeMs, tickMs);
    look(heard, 0, 10_000, () => 'before');
    heard.wasAway();
    look(heard, 70_000, 70_000 + lifetimeMs, () => 'before');
    assert.equal(heard.isSilent('other'), false);
    look(heard, 80_000, 81_000, () => 'back');
    assert.equal(heard.isSilent('other'), false);
    heard.wasAway();
    look(heard, 150_000, 150_000 + 2 * lifetimeMs, () => 'back');
    assert.equal(heard.isSilent('other'), true);
  });

  test('an absence that is shorter than a lifetime is not silence', () => {
    const heard = new HeardExecutors(lifetimeMs, tickMs);
    look(heard, 0, 2_000, () => 'before');
    look(heard, 9_000, 11_000, () => 'before');
    assert.equal(heard.isSilent('other'), false);
    look(heard, 12_000, 12_000, () => 'before');
    assert.equal(heard.isSilent('other'), true);
  });

  test('a new process is listened to first', () => {
    const heard = new HeardExecutors(lifetimeMs, tickMs);
    heard.look([], 0);
    assert.equal(heard.isSilent('other'), false);
  });
});
