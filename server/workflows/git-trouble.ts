// A shared remote that is away is nobody's mistake: where an answer has room for a failure, it becomes one.

import { failure, type Failure } from '../core/failure.ts';
import { GitTrouble } from '../git/port.ts';

/** What `body` returns; or what `otherwise` makes of the trouble, when git could not tell. */
export async function orElse<T>(
  body: () => Promise<T>,
  otherwise: (trouble: Failure) => T | Promise<T>,
): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof GitTrouble)) throw error;
    return otherwise(failure('git_failed', error.message));
  }
}

export function isPassingTrouble(error: unknown): boolean {
  return error instanceof GitTrouble && error.failure.retryable;
}
