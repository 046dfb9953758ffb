// Derives ids from names.

import { createHash } from 'node:crypto';

/** Derives this many hexadecimal digits from the text, so that the id is always the same. */
export function hashHex(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
