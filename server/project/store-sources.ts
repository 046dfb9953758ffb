// The common part of every opening of a project's database.

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
 * Any other wrong value stops a run only; with this one a plan would silently go into another
 * database.
 */
export function refuseWrongDatabase(live: LiveSettings): void {
  const elsewhere = live.loaded.problems.find((problem) => problem.key === 'database');
  if (elsewhere !== undefined) throw new Refusal('bad_configuration', elsewhere.message);
}
