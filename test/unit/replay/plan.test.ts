// Edges between the changes of a replay, its drawn times, and the bounds that runs are compared with.

import assert from 'node:assert/strict';
import {
  agentMs,
  criticalMs,
  drawsFrom,
  edgesByFiles,
  edgesByNeed,
  planTasks,
  serialMs,
  type Change,
  type ReplayTask,
} from '../../replay/plan.ts';

function change(id: string, ...files: readonly string[]): Change {
  return { id, commit: id, title: id, files };
}

function task(id: string, ms: number, ...blockedBy: readonly string[]): ReplayTask {
  return { ...change(id), blockedBy, firstMs: ms / 2, restMs: ms / 2 };
}

const idsOf = (changes: readonly Change[]): string => changes.map(({ id }) => id).join('');

suite('the plan of a replay', () => {
  test('has an edge to the last change of each file', () => {
    const edges = edgesByFiles([
      change('a', 'x'),
      change('b', 'y'),
      change('c', 'x', 'y'),
      change('d', 'x'),
      change('e', 'z'),
    ]);
    assert.deepEqual([...edges.values()], [[], [], ['a', 'b'], ['c'], []]);
  });

  test('has an edge to each change that another one needs, and to none that is implied', () => {
    const changes = ['a', 'b', 'c', 'd', 'e'].map((id) => change(id, id === 'e' ? 'y' : 'x'));
    const needed: Readonly<Record<string, readonly string[]>> = { b: ['a'], d: ['b', 'c'] };
    const edges = edgesByNeed(changes, ({ id }, present) =>
      (needed[id] ?? []).every((need) => idsOf(present).includes(need)),
    );
    assert.deepEqual(Object.fromEntries(edges), { a: [], b: ['a'], c: [], d: ['b', 'c'], e: [] });
  });

  test('looks at all earlier changes if those of the same files are not enough', () => {
    const changes = [change('a', 'old'), change('b', 'x'), change('c', 'new')];
    const edges = edgesByNeed(
      changes,
      ({ id }, present) => id !== 'c' || idsOf(present).includes('a'),
    );
    assert.deepEqual(edges.get('c'), ['a']);
  });

  test('leaves a change out only together with those that need it', () => {
    const asked: string[] = [];
    const needed: Readonly<Record<string, readonly string[]>> = { b: ['a'], c: ['b'] };
    edgesByNeed(
      ['a', 'b', 'c'].map((id) => change(id, 'x')),
      ({ id }, present) => {
        asked.push(`${id}:${idsOf(present)}`);
        return (needed[id] ?? []).every((need) => idsOf(present).includes(need));
      },
    );
    assert.equal(asked.includes('c:b'), false, asked.join(' '));
  });

  test('draws the same times from the same seed, within their bounds, whatever the edges', () => {
    const changes = ['a', 'b', 'c', 'd'].map((id) => change(id));
    const span = { fromMs: 1000, toMs: 3000 };
    const timesOf = (seed: number, edges = new Map<string, readonly string[]>()) =>
      planTasks(changes, edges, seed, span).map(({ firstMs, restMs }) => [firstMs, restMs]);
    assert.deepEqual(timesOf(1), timesOf(1, new Map([['b', ['a']]])));
    assert.notDeepEqual(timesOf(1), timesOf(2));
    for (const each of planTasks(changes, new Map(), 3, span)) {
      assert.ok(agentMs(each) >= 1000 && agentMs(each) <= 3000);
      assert.ok(each.firstMs >= 0.29 * agentMs(each) && each.firstMs <= 0.71 * agentMs(each));
    }
    const draw = drawsFrom(5);
    const draws = Array.from({ length: 1000 }, () => draw());
    assert.ok(draws.every((value) => value >= 0 && value < 1));
    const mean = draws.reduce((sum, value) => sum + value, 0) / 1000;
    assert.ok(Math.abs(mean - 0.5) < 0.05, String(mean));
  });
});

suite('the bounds of a replay', () => {
  test('are the sum of all agents and gates, and the longest chain', () => {
    const tasks = [task('a', 10), task('b', 20, 'a'), task('c', 5)];
    assert.equal(serialMs(tasks, 3), 10 + 20 + 5 + 9);
    assert.equal(criticalMs(tasks, 3, 8), 10 + 3 + 20 + 3);
  });

  test('know that agents are few, and start the longest way first', () => {
    const tasks = [task('a', 10), task('b', 10), task('c', 10), task('d', 10, 'c')];
    // c and d take 10 + 2 + 10 + 2; the other agent does a and b.
    assert.equal(criticalMs(tasks, 2, 2), 24);
    assert.equal(criticalMs(tasks, 2, 1), 10 + 10 + 10 + 10 + 2);
  });

  test('refuse a circle', () => {
    assert.throws(() => criticalMs([task('a', 1, 'b'), task('b', 1, 'a')], 1, 2), /wait for each/);
  });
});
