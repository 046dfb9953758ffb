// Loaded into a test's processes before anything else: their clock is ahead by the milliseconds in
// a file, as after a sleep, while the monotonic clock and the timers do not advance, as on Linux.

import { readFileSync } from 'node:fs';

const file = process.env['JUMP_CLOCK_FILE'] ?? '';
const real = Date.now.bind(Date);
const known = { ms: 0, atMs: -1 };

Date.now = () => {
  if (performance.now() - known.atMs > 20) {
    known.ms = Number(readFileSync(file, 'utf8'));
    known.atMs = performance.now();
  }
  return real() + known.ms;
};
