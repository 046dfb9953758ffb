// Whether a value from outside is in a closed list.

export function isOneOf<Word extends string>(
  words: readonly Word[],
  value: unknown,
): value is Word {
  return (words as readonly unknown[]).includes(value);
}
