// Why GitHub's GraphQL API refuses a query. It responds with status 200 and a type for each error.

import { isObject } from '../core/exchange/json-object.ts';
import type { Unreadable } from './port.ts';

type Cause = Unreadable['cause'] | 'limited';

const causes: Readonly<Record<string, Cause>> = {
  RATE_LIMITED: 'limited',
  FORBIDDEN: 'refused',
  INSUFFICIENT_SCOPES: 'refused',
  UNPROCESSABLE: 'invalid',
  NOT_FOUND: 'absent',
};
/** Among several errors, the first of these causes decides. */
const order: readonly Cause[] = ['limited', 'refused', 'invalid', 'absent', 'other'];

export function causeOfErrors(errors: unknown): Cause {
  const list = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
  const found = list.map(causeOf);
  return order.find((cause) => found.includes(cause)) ?? 'other';
}

function causeOf(error: unknown): Cause {
  if (!isObject(error)) return 'other';
  const { type, extensions } = error;
  // Servers of earlier releases lack fields of the schema.
  if (isObject(extensions) && extensions['code'] === 'undefinedField') return 'absent';
  return typeof type === 'string' ? (causes[type] ?? 'other') : 'other';
}
