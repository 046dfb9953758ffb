// Parses JSON lines that an agent prints to untyped objects: fields differ between versions, so
// each one is checked before use.

export type Json = Readonly<Record<string, unknown>>;

/** One line as an object with a type; null for any other line. */
export function parseLine(line: string): Json | null {
  try {
    const value = asObject(JSON.parse(line));
    return value !== null && typeof value['type'] === 'string' ? value : null;
  } catch {
    return null;
  }
}

export function asObject(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : null;
}

export function objectAt(from: Json, name: string): Json {
  return asObject(from[name]) ?? {};
}

export function objectsAt(from: Json, name: string): readonly Json[] {
  const value = from[name];
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    const found = asObject(one);
    return found === null ? [] : [found];
  });
}

export function textAt(from: Json, name: string): string | null {
  const value = from[name];
  return typeof value === 'string' ? value : null;
}

export function numberAt(from: Json, name: string): number | null {
  const value = from[name];
  return typeof value === 'number' ? value : null;
}
