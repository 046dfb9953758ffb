// A panel's measurements of its own frames.

import assert from 'node:assert/strict';
import {
  FrameMeter,
  summarizeFrames,
  type DrawnFrame,
  type FrameReport,
} from '../../../../webview/shared/looks/frame-meter.ts';

suite('frames', () => {
  /** The display refreshes every 20 ms; each frame is requested 15 ms before a refresh. */
  const frame = (refreshMs: number, workMs: number, waitMs = 15): DrawnFrame => {
    return { dueMs: refreshMs - waitMs, refreshMs, doneMs: refreshMs + workMs };
  };

  test('the longest and the median work are reported, and refreshes that passed during the work count as dropped', () => {
    const inTime = [frame(20, 16), frame(40, 3), frame(60, 9, -5)];
    assert.deepEqual(summarizeFrames(inTime, 20), {
      worstMs: 16,
      medianMs: 4,
      dropped: 0,
      frames: 3,
    });
    const late = [frame(120, 50), frame(240, 4, 45)];
    assert.deepEqual(summarizeFrames(late, 20), {
      worstMs: 50,
      medianMs: 50,
      dropped: 4,
      frames: 2,
    });
    const ahead = [frame(320, 35, -5), frame(420, 45, -5)];
    assert.deepEqual(summarizeFrames(ahead, 20), {
      worstMs: 40,
      medianMs: 40,
      dropped: 1,
      frames: 2,
    });
  });

  test('one report per second is sent, and idle time is not a slow frame', () => {
    const reports: FrameReport[] = [];
    const meter = new FrameMeter((report) => reports.push(report), 20);
    for (let ms = 0; ms <= 1_000; ms += 20) meter.frame(frame(ms, 5));
    assert.deepEqual(reports, [{ worstMs: 5, medianMs: 5, dropped: 0, frames: 51 }]);
    meter.rest();
    for (let ms = 60_000; ms <= 61_000; ms += 100) meter.frame(frame(ms, 60));
    assert.deepEqual(reports[1], { worstMs: 60, medianMs: 60, dropped: 33, frames: 11 });
  });

  test('a short burst is reported once, when the stream is idle', () => {
    const reports: FrameReport[] = [];
    const meter = new FrameMeter((report) => reports.push(report), 20);
    meter.rest();
    for (const ms of [20, 40, 60]) meter.frame(frame(ms, 5));
    assert.deepEqual(reports, []);
    meter.rest();
    meter.rest();
    assert.deepEqual(reports, [{ worstMs: 5, medianMs: 5, dropped: 0, frames: 3 }]);
  });

  test('a hidden window is not a slow frame', () => {
    const reports: FrameReport[] = [];
    const meter = new FrameMeter((report) => reports.push(report), 20);
    meter.frame(frame(20, 5));
    meter.frame(frame(90_000, 5, 80_000));
    meter.frame(frame(92_000, 5));
    assert.deepEqual(reports, [{ worstMs: 5, medianMs: 5, dropped: 0, frames: 2 }]);
  });
});
