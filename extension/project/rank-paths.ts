// Ranks the paths that match a typed text, the best first. Pure.

const shownMax = 20;

/**
 * Matches at the start of the file name come first, then matches in its middle, then matches in the
 * rest of the path.
 */
export function rankPaths(paths: readonly string[], typed: string): readonly string[] {
  const text = typed.toLowerCase();
  const found = paths.flatMap((path) => {
    const rank = rankOf(path.toLowerCase(), text);
    return rank === null ? [] : [{ path, rank }];
  });
  found.sort(
    (a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1),
  );
  return found.slice(0, shownMax).map(({ path }) => path);
}

function rankOf(path: string, text: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(text)) return 0;
  if (path.startsWith(text)) return 1;
  if (name.includes(text)) return 2;
  return path.includes(text) ? 3 : null;
}
