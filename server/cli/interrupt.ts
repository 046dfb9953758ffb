// Commands that go on until somebody ends them: Ctrl-C, the reader of their output, or the thing they watch.

import type { CommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';

type End = (outcome: number | Error) => void;

/** Runs `start` (which returns how to stop) until `end` is called, Ctrl-C is pressed or nobody reads any more. */
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
