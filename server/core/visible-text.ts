// Shows invisible and direction-changing characters by their numbers. Otherwise they could make a
// title, a file name or a commit subject appear as a different text.

/**
 * Characters that change the direction, have no width or are tags. Control characters are handled
 * separately.
 */
export const invisible =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;

const invisibleAll = new RegExp(invisible.source, 'gu');

export function withVisible(text: string): string {
  return text.replaceAll(invisibleAll, codePointText);
}

/** `U+202E`. */
export function codePointText(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Most tools that list commits truncate longer subjects. */
export const subjectMax = 72;

/** Prevents a cut inside a character of several code points. */
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Returns the first line of a commit message: one line without hidden characters, truncated with an
 * ellipsis.
 */
export function commitSubject(text: string): string {
  const line = withVisible(text.replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim());
  if (line.length <= subjectMax) return line;
  const letters = Array.from(segmenter.segment(line), ({ segment }) => segment);
  if (letters.length <= subjectMax) return line;
  return `${letters
    .slice(0, subjectMax - 1)
    .join('')
    .trimEnd()}…`;
}
