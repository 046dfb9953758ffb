// How inputs, outputs and errors are stored as text.

const outputBytesMax = 8 * 1024 * 1024;
const errorCharactersMax = 8_000;

/** Null represents "nothing" (undefined), which JSON cannot express. */
export function toJson(value: unknown): string | null {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return null;
  if (text.length > outputBytesMax) {
    throw new Error(`a stored value of ${text.length} characters is longer than ${outputBytesMax}`);
  }
  return text;
}

export function fromJson(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}

export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, errorCharactersMax);
}
