// Shared by all code that opens a project's database.

import { randomBytes, randomUUID } from 'node:crypto';
import { Refusal } from '../core/failure.ts';
import { systemClock } from '../durable/embedded/system-clock.ts';
import type { LiveSettings } from './live-settings.ts';

export const storeSources = {
  clock: systemClock,
  uuid: () => randomUUID(),
  random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
};

/**
 * Other invalid values only stop a run. With this one, a plan would silently be written to another
 * database.
 */
export function refuseWrongDatabase(live: LiveSettings): void {
  const elsewhere = live.loaded.problems.find((problem) => problem.key === 'database');
  if (elsewhere !== undefined) throw new Refusal('bad_configuration', elsewhere.message);
}
