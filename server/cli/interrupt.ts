// Ctrl-C: for commands that run until the user stops them, and for runs, which are stopped cleanly
// first.

import type { CommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import type { Surroundings } from './surroundings.ts';

type End = (outcome: number | Error) => void;

/**
 * Runs `start` (which returns a stop function) until `end` is called, Ctrl-C is pressed or the
 * reader is gone.
 */
export async function untilInterrupted(
  context: CommandContext,
  start: (end: End) => Promise<() => void>,
): Promise<number> {
  const { surroundings } = context;
  let end: End = () => {};
  const ended = new Promise<number>((resolve, reject) => {
    end = (outcome) => (typeof outcome === 'number' ? resolve(outcome) : reject(outcome));
  });
  const offInterrupt = surroundings.onInterrupt(() => end(exitCodes.interrupted));
  const offClosed = surroundings.stdout.onClosed(() => end(exitCodes.done));
  let stop: () => void = () => {};
  try {
    stop = await start(end);
    return await ended;
  } finally {
    stop();
    offInterrupt();
    offClosed();
  }
}

/**
 * A terminal sends Ctrl-C to the whole group and a launcher forwards it. Both arrive within this
 * time.
 */
const sameInterruptMs = 250;

/**
 * Remembers the first Ctrl-C, even one that comes before it can be handled. A second one ends the
 * process.
 */
export class InterruptWatch {
  readonly #surroundings: Surroundings;
  readonly #off: () => void;
  #firstAtMs: number | null = null;
  #tell: () => void = () => {};

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#off = surroundings.onInterrupt(() => this.#press());
  }

  get isInterrupted(): boolean {
    return this.#firstAtMs !== null;
  }

  onFirst(listener: () => void): void {
    this.#tell = listener;
    if (this.isInterrupted) listener();
  }

  end(): void {
    this.#off();
  }

  #press(): void {
    const nowMs = this.#surroundings.nowMs();
    if (this.#firstAtMs === null) {
      this.#firstAtMs = nowMs;
      this.#tell();
    } else if (nowMs - this.#firstAtMs > sameInterruptMs) {
      this.#surroundings.exitNow(exitCodes.interrupted);
    }
  }
}
