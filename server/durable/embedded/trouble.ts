// Tells trouble of the database file (a full disk, a lock) from a mistake of a workflow.

import { Refusal } from '../../core/failure.ts';

export function isDatabaseTrouble(error: unknown): boolean {
  return error instanceof Refusal && error.kind === 'database';
}
