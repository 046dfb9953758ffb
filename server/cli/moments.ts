// Parses moments of the past from the command line.

import type { PastMoment } from '../protocol/requests/board.ts';

/** Parses a number as an event's, anything else as a local time. Returns null if it is neither. */
export function parseMoment(when: string, nowMs: number): PastMoment | null {
  if (/^\d{1,15}$/u.test(when)) return { seq: Number(when) };
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/u.exec(when);
  if (clock !== null) {
    const [, hours = '', minutes = '', seconds = '0'] = clock;
    const time = new Date(nowMs);
    time.setHours(Number(hours), Number(minutes), Number(seconds), 999);
    if (Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60) {
      return { at_ms: time.getTime() };
    }
  }
  const isDate = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?)?(Z|[+-]\d{2}:?\d{2})?$/u;
  // A date without a time would be read as UTC.
  const text = when.includes(':') ? when.replace(' ', 'T') : `${when}T00:00`;
  const atMs = isDate.test(when) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : { at_ms: atMs };
}
