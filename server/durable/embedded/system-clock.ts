// The real clock, for everything except tests and the simulation.

import type { Clock } from '../port.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  timer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
