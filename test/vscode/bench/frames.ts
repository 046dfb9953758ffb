// A panel's report of its frames, and the floor for it: the same measure of the least that a page
// can draw.

import {
  type DrawnFrame,
  FrameMeter,
  type FrameReport,
} from '../../../webview/shared/looks/frame-meter.ts';
import type { Frame } from '../host/browser.ts';
import type { Measured } from './measurements.ts';

const drawEveryMs = 125;

/** The grid's own reports, one for each second, oldest first. */
export function frameReports(heard: readonly Measured[]): FrameReport[] {
  const of = (what: string): readonly number[] => {
    return heard.filter(({ name }) => name === `grid.frame.${what}`).map(({ ms }) => ms);
  };
  const [worst, median, dropped, drawn] = ['worst', 'median', 'dropped', 'drawn'].map(of);
  return (drawn ?? []).map((frames, at) => ({
    worstMs: worst?.[at] ?? Number.NaN,
    medianMs: median?.[at] ?? Number.NaN,
    dropped: dropped?.[at] ?? Number.NaN,
    frames,
  }));
}

/** One line of text changes about eight times a second: reports of each second. */
export async function framesOfOneLine(page: Frame, seconds: number): Promise<FrameReport[]> {
  const drawings = (seconds * 1_000) / drawEveryMs;
  const frames = await page.evaluate(drawOneLine, { drawings, everyMs: drawEveryMs });
  const reports: FrameReport[] = [];
  const meter = new FrameMeter((report) => reports.push(report));
  for (const frame of frames) meter.frame(frame);
  return reports;
}

/** Runs in the page; measures as `FramePace` does. */
async function drawOneLine(how: { drawings: number; everyMs: number }): Promise<DrawnFrame[]> {
  const line = document.createElement('div');
  line.style.cssText = 'position: fixed; bottom: 0; left: 0; contain: content;';
  document.body.append(line);
  const frames: DrawnFrame[] = [];
  for (let drawing = 0; drawing < how.drawings; drawing += 1) {
    await new Promise((later) => setTimeout(later, how.everyMs));
    const dueMs = performance.now();
    frames.push(
      await new Promise<DrawnFrame>((drawn) => {
        requestAnimationFrame((refreshMs) => {
          line.textContent = `drawing ${drawing}`;
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => {
            port1.close();
            drawn({ dueMs, refreshMs, doneMs: performance.now() });
          };
          port2.postMessage(null);
        });
      }),
    );
  }
  line.remove();
  return frames;
}
