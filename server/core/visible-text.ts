// Characters that take no room or turn the reading direction could make a title, a file's name or a
// commit's subject read as something else, so they are shown by their numbers.

/** Turn the direction, take no room, or are tags. Control characters are another matter. */
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

/** A longer subject is cut by most tools that list commits. */
export const subjectMax = 72;

/** A sign of several code points is not cut in two. */
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The first line of a commit's message: one line, nothing hidden, cut with an ellipsis. */
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
