// Whether an untrusted value is in a closed list.

export function isOneOf<Word extends string>(
  words: readonly Word[],
  value: unknown,
): value is Word {
  return (words as readonly unknown[]).includes(value);
}
