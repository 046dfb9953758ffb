// Validates the input of a language model's tool call field by field, because a host may not
// validate it against the schema. Pure.

/** A sentence that tells the model how to change its input. */
export class InputFault extends Error {}

export function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
}

/** Returns null if it is absent or empty. */
export function textIn(input: unknown, name: string): string | null {
  const value = fieldsOf(input)[name];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw new InputFault(`"${name}" must be a string.`);
  return value;
}

export function wantedText(input: unknown, name: string, place?: string): string {
  const text = textIn(input, name);
  const where = place === undefined ? '' : ` of ${place}`;
  if (text === null || text.trim() === '')
    throw new InputFault(`"${name}"${where} must not be empty.`);
  return text;
}

export function listIn(input: unknown, name: string): readonly unknown[] {
  const value = fieldsOf(input)[name] ?? [];
  if (!Array.isArray(value)) throw new InputFault(`"${name}" must be a list.`);
  return value;
}

export function textsIn(input: unknown, name: string): readonly string[] {
  return listIn(input, name).map((item) => {
    if (typeof item !== 'string') throw new InputFault(`"${name}" must be a list of strings.`);
    return item;
  });
}
