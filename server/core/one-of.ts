// Whether a value from outside is one of a closed list of words.

export function isOneOf<Word extends string>(
  words: readonly Word[],
  value: unknown,
): value is Word {
  return (words as readonly unknown[]).includes(value);
}
