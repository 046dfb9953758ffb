// The timeline's model: rows of workers, the critical path, axis marks at round times, and where
// keys move to.

import assert from 'node:assert/strict';
import { nextBarIndex, listTicks, buildTimeline } from '../../../../webview/run/timeline-model.ts';
import { largeRun, smallRun } from '../../../doubles/reports.ts';

suite('timeline of a run', () => {
  test('attempts that run at the same time have different rows', () => {
    const timeline = buildTimeline(smallRun());
    assert.ok(timeline !== null);
    assert.equal(timeline.lanes, 2);
    for (const one of timeline.bars) {
      for (const other of timeline.bars) {
        if (one === other || one.lane !== other.lane) continue;
        const isApart =
          one.attempt.ended_at_ms <= other.attempt.started_at_ms ||
          other.attempt.ended_at_ms <= one.attempt.started_at_ms;
        assert.ok(isApart, `${one.attempt.task_id} and ${other.attempt.task_id}`);
      }
    }
    assert.equal(buildTimeline(largeRun(160))?.lanes, 16);
  });

  test('the attempts that ended the tasks of the critical path are marked', () => {
    const critical = buildTimeline(smallRun())?.bars.filter(({ isCritical }) => isCritical);
    assert.deepEqual(
      critical?.map(({ attempt }) => attempt.task_id),
      ['parse', 'print'],
    );
  });

  test('a time axis has a few marks at round times, from a second to a week', () => {
    for (const lengthMs of [900, 45_000, 23 * 60_000, 5 * 3_600_000, 6 * 86_400_000]) {
      const ticks = listTicks(lengthMs);
      assert.ok(ticks.length >= 3 && ticks.length <= 10, `${lengthMs}: ${ticks.length}`);
      assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length);
    }
    assert.deepEqual(
      listTicks(23 * 60_000).map(({ label }) => label),
      ['0', '5:00 min', '10:00 min', '15:00 min', '20:00 min'],
    );
  });

  test('keys move along time and between rows, and never out of the list', () => {
    const bars = buildTimeline(smallRun())?.bars ?? [];
    assert.equal(nextBarIndex(bars, 0, 'left'), 0);
    assert.equal(nextBarIndex(bars, 0, 'right'), 1);
    assert.equal(nextBarIndex(bars, 0, 'last'), bars.length - 1);
    assert.equal(nextBarIndex(bars, 0, 'up'), 0);
    const below = bars[nextBarIndex(bars, 0, 'down')];
    assert.equal(below?.lane, 1);
  });

  test('a run without attempts has no timeline', () => {
    assert.equal(buildTimeline({ ...smallRun(), attempts: [] }), null);
  });
});
