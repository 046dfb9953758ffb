// The product's version, which both ends report, and the comparison of versions.

/** Must equal the version in package.json; a test checks this. */
export const droverVersion = '0.1.0';

/**
 * Negative if `a` is older than `b`, positive if newer, 0 if equal. A part that is not a number
 * counts as 0.
 */
export function compareVersions(a: string, b: string): number {
  const left = numbersOf(a);
  const right = numbersOf(b);
  for (let at = 0; at < 3; at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): number[] {
  return (version.split(/[-+]/u)[0] ?? '').split('.').map((part) => Number.parseInt(part, 10) || 0);
}
