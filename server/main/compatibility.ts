// The compatibility number of this process; tests use it to make one build act as two releases.

import { compatibilityNumber } from '../core/compatibility.ts';

export function compatibilityOf(environment: Readonly<Record<string, string | undefined>>): number {
  if (environment['DROVER_TEST'] !== '1') return compatibilityNumber;
  const wanted = Number(environment['DROVER_TEST_COMPATIBILITY']);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : compatibilityNumber;
}
