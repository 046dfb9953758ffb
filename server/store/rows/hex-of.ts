// Ids that follow from names.

import { createHash } from 'node:crypto';

/**
 * So many hexadecimal digits that follow from the text: ids that are the same whenever they are
 * made.
 */
export function hexOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
