// The real clock, for everything outside tests and the simulation.

import type { Clock } from '../port.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  timer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
