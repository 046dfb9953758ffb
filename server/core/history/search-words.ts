// Splits a search into words, and finds them in a text. Pure.

/** Lower-case words, all of which must occur. */
export function searchWords(search: string): readonly string[] {
  return search
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
}

const excerptCharsMax = 200;
/** Characters of the excerpt before the first word. */
const beforeChars = 60;

/**
 * One line around the first word; null if any word is missing. A few letters change their length in
 * lower case, which may shift the excerpt by a few characters.
 */
export function excerptAround(text: string, words: readonly string[]): string | null {
  const lower = text.toLowerCase();
  if (!words.every((word) => lower.includes(word))) return null;
  const at = lower.indexOf(words[0] ?? '');
  const from = Math.max(0, at - beforeChars);
  const cut = text.slice(from, from + excerptCharsMax);
  const line = cut.replace(/\s+/gu, ' ').trim();
  return `${from > 0 ? '…' : ''}${line}${from + excerptCharsMax < text.length ? '…' : ''}`;
}
