// Other people's text on its way into VS Code's own messages, quick picks and titles: there
// `[a](command:b)` is a link and `$(x)` an icon, and control characters can make text read as
// something else. Pure.

/**
 * Control characters, and those that change the direction of the following text or are invisible.
 */
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** One line without links and icons, at most `lengthMax` characters long. */
export function plainText(text: string, lengthMax = 200): string {
  const line = text
    .slice(0, lengthMax * 4)
    .replace(unseen, ' ')
    .replace(/\]\(/g, '] (')
    .replace(/\$\(/g, '$ (')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  return characters.length <= lengthMax ? line : `${characters.slice(0, lengthMax - 1).join('')}…`;
}
