// Sanitizes external text for VS Code's own messages, quick picks and titles, where
// `[a](command:b)` is a link and `$(x)` an icon, and control characters can make text read
// differently. Pure.

/**
 * Control characters, and characters that are invisible or change the direction of the following
 * text.
 */
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** Returns one line without links and icons, at most `lengthMax` characters long. */
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
