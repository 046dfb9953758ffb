// One drawing per frame, however many changes arrive, and the measurement of these frames for the
// extension's log and benches.

import type { Host } from '../host.ts';
import { FrameMeter } from './frame-meter.ts';

/**
 * The time at which this script started; the time that VS Code needs for the page before that is
 * reported separately.
 */
const scriptMs = performance.now();

/** After this long without a change the stream counts as paused. */
const restMs = 1_500;

/**
 * Called at the end of the frame, so that it includes Lit's updates, layout and paint. (On a busy
 * page, a timer would run later.)
 */
function behindFrame(then: (doneMs: number) => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    then(performance.now());
  };
  port2.postMessage(null);
}

export class FramePace {
  readonly #host: Host;
  readonly #draw: () => void;
  readonly #name: string;
  readonly #meter: FrameMeter;
  /** When the next frame was requested. Null if nothing needs to be drawn. */
  #dueMs: number | null = null;
  #request: number | null = null;
  #lastDrawnMs = 0;
  #isOpened = false;

  /** `name`: the name of the measurements, `stream` or `grid`. */
  constructor(host: Host, draw: () => void, name = 'stream') {
    this.#host = host;
    this.#draw = draw;
    this.#name = name;
    this.#meter = new FrameMeter((report) => {
      this.#say('frame.worst', report.worstMs);
      this.#say('frame.median', report.medianMs);
      this.#say('frame.dropped', report.dropped);
      this.#say('frame.drawn', report.frames);
    });
  }

  /** Draws in the next frame. */
  wanted(): void {
    this.#dueMs ??= performance.now();
    this.#request ??= requestAnimationFrame(this.#frame);
  }

  /**
   * The first content is about to be drawn; measured from the script's start to the following
   * frame.
   */
  opened(): void {
    if (this.#isOpened) return;
    this.#isOpened = true;
    requestAnimationFrame(() => {
      behindFrame((doneMs) => {
        this.#say('open', doneMs - scriptMs);
        this.#say('page', scriptMs);
      });
    });
  }

  stop(): void {
    if (this.#request !== null) cancelAnimationFrame(this.#request);
    this.#request = null;
    this.#dueMs = null;
  }

  readonly #frame = (refreshMs: number): void => {
    const dueMs = this.#dueMs ?? refreshMs;
    this.#request = null;
    this.#dueMs = null;
    if (refreshMs - this.#lastDrawnMs > restMs) this.#meter.rest();
    this.#lastDrawnMs = refreshMs;
    this.#draw();
    behindFrame((doneMs) => this.#meter.frame({ dueMs, refreshMs, doneMs }));
  };

  #say(what: string, ms: number): void {
    const name = `${this.#name}.${what}`;
    this.#host.action('measured', { name, ms }).catch(() => {
      // A measurement without a listener may be lost.
    });
  }
}
