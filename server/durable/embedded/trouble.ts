// Distinguishes temporary database problems (a full disk, a lock) from a workflow's bug.

import { Refusal } from '../../core/failure.ts';

export function isDatabaseTrouble(error: unknown): boolean {
  return error instanceof Refusal && error.kind === 'database';
}
