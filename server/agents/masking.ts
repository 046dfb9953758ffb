// Keeps secret values out of everything that is stored or shown.

export type Mask = (text: string) => string;

export const hiddenText = '[hidden]';

/** Shorter values would hide ordinary words. */
const secretLengthMin = 6;

/** Replaces every secret value by `[hidden]`. Output is framed in lines, so each line of a longer value counts as well. */
export function createMask(secrets: readonly string[]): Mask {
  const values = new Set<string>();
  for (const secret of secrets) {
    for (const value of [secret, ...secret.split(/\r?\n/)]) {
      if (value.trim().length < secretLengthMin) continue;
      values.add(value);
      values.add(JSON.stringify(value).slice(1, -1)); // as it looks inside printed JSON
    }
  }
  if (values.size === 0) return (text) => text;
  // Longest first: a value may begin with another one.
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  return (text) => text.replace(pattern, hiddenText);
}

function escapePattern(value: string): string {
  return value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Applies a mask to every text inside a JSON value, names of properties included. */
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
