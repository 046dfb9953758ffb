// Keeps secret values out of everything that is stored or shown.

import { writtenForms } from '../../secrets/known-secrets.ts';
import { withoutKeys } from '../../secrets/published-formats.ts';

export type Mask = (text: string) => string;

export const hiddenText = '[hidden]';

/**
 * Replaces every secret value, in each of its common forms, and every key in a published format by
 * `[hidden]`.
 */
export function createMask(secrets: readonly string[]): Mask {
  const forms = new Set(secrets.flatMap(writtenForms));
  if (forms.size === 0) return (text) => withoutKeys(text, hiddenText);
  // Longest first, because a value may be a prefix of another one.
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  return (text) => withoutKeys(text.replace(pattern, hiddenText), hiddenText);
}

/** Escapes a text so that it matches literally in a pattern. */
export function escapePattern(value: string): string {
  return value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Applies a mask to every text inside a JSON value, including property names. */
export function maskDeep<T>(value: T, mask: Mask): T {
  return maskUnknown(value, mask) as T;
}

function maskUnknown(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((one) => maskUnknown(one, mask));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [mask(name), maskUnknown(one, mask)]),
    );
  }
  return value;
}
