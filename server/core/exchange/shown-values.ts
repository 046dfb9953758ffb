// Values of a record as messages show them.

/** A text as messages show it: short, on one line, without control characters. */
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
