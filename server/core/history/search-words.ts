// The words of a search, and the place in a text at which they were found. Pure.

/** Words in lower case; all of them must occur. */
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
 * One line around the place of the first word; null if a word is missing. A text of another case
 * has the same length but for a few letters, which may shift the excerpt by as many characters.
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
