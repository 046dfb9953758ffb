// The shapes of the timeline: each attempt has its place, and the path of each kind contains its
// parts.

import assert from 'node:assert/strict';
import { buildTimeline } from '../../../../webview/run/timeline-model.ts';
import { buildShapes } from '../../../../webview/run/timeline-shapes.ts';
import { largeRun, smallRun } from '../../../doubles/reports.ts';

suite('shapes of a timeline', () => {
  const countOf = (d = ''): number => d.split('M').length - 1;

  test('a bar is at the time of its attempt, in its row', () => {
    const timeline = buildTimeline(smallRun());
    assert.ok(timeline !== null);
    const scale = 1_000 / timeline.lengthMs;
    const { boxes } = buildShapes(timeline, scale);
    for (const [index, { attempt, lane }] of timeline.bars.entries()) {
      assert.deepEqual(boxes[index], {
        x: (attempt.started_at_ms - timeline.startMs) * scale,
        y: 22 + lane * 22,
        width: (attempt.ended_at_ms - attempt.started_at_ms) * scale,
        height: 16,
      });
    }
  });

  test('failed attempts, the critical path and each kind of time have their own path', () => {
    const timeline = buildTimeline(smallRun());
    assert.ok(timeline !== null);
    const { edges, parts, ground } = buildShapes(timeline, 1_000 / timeline.lengthMs);
    assert.equal(countOf(ground), 4);
    const counts = (paths: ReadonlyMap<string, string>): object =>
      Object.fromEntries([...paths].map(([kind, d]) => [kind, countOf(d)]));
    assert.deepEqual(counts(edges), { critical: 2, failed: 2 });
    assert.deepEqual(counts(parts), { agent: 4, landing: 2, setup: 4 });
  });

  test('the shortest attempt can be seen and clicked, and a long run needs few paths', () => {
    const timeline = buildTimeline(largeRun(1_000));
    assert.ok(timeline !== null);
    const { boxes, edges, parts } = buildShapes(timeline, 1e-9);
    assert.equal(boxes.length, 1_000);
    assert.ok(boxes.every(({ width }) => width === 3));
    assert.ok(edges.size + parts.size <= 7);
    const paths = [...edges.values(), ...parts.values()];
    assert.ok(paths.every((d) => !/NaN|undefined|Infinity/u.test(d)));
  });
});
