// Formats values of a record for messages, and describes faults in them.

/** Shortens a text to one line without control characters, for messages. */
export function shown(text: string): string {
  // eslint-disable-next-line no-control-regex
  const clean = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `\`${clean.length > 100 ? `${clean.slice(0, 100)}…` : clean}\``;
}

/** Describes a value for messages. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'missing';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'a string';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    default:
      return 'an object';
  }
}

/** Reads the value of a record's key (null = not given), and collects faults. */
export interface SaidRecord {
  readonly valueOf: (key: string) => unknown;
  readonly faults: string[];
}

/** Returns null if the value is not a string, and adds a fault. */
export function textSaid({ valueOf, faults }: SaidRecord, key: string): string | null {
  const value = valueOf(key);
  if (value === null || typeof value === 'string') return value;
  faults.push(`\`${key}\` is ${describeValue(value)}; use a string`);
  return null;
}

/** Returns null if the value is not one of the words, and adds a fault. */
export function wordSaid<Word extends string>(
  said: SaidRecord,
  key: string,
  words: readonly Word[],
): Word | null {
  const value = textSaid(said, key);
  const found = words.find((word) => word === value) ?? null;
  if (value !== null && found === null) {
    said.faults.push(`\`${key}\` is ${shown(value)}; use one of ${words.join(', ')}`);
  }
  return found;
}
