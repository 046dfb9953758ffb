// The list of hashes that a job leaves beside its result. It only proves that a download is
// complete.

import { isText } from './exclusion.ts';

/**
 * Maps each path to its SHA-256 (hex), without paths that are not UTF-8. Accepts the format of GNU
 * and busybox, including escaped names. Returns null if the text is not a manifest.
 */
export function readManifest(text: string): ReadonlyMap<string, string> | null {
  const hashes = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const match = /^(\\?)([0-9a-f]{64})(?: [ *]| {2})(.+)$/s.exec(line);
    if (match === null) return null;
    const [, escape, hash = '', name = ''] = match;
    const path = escape === '' ? name : unescaped(name);
    if (isText(path)) hashes.set(path.replace(/^\.\//, ''), hash);
  }
  return hashes;
}

function unescaped(name: string): string {
  return name.replace(/\\([\\nr])/g, (_, letter: string) =>
    letter === 'n' ? '\n' : letter === 'r' ? '\r' : '\\',
  );
}

/** Empty if every file is listed and matches, and no listed file is missing. */
export function manifestProblems(
  manifest: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, { readonly sha256: string }>,
): string[] {
  const problems: string[] = [];
  for (const [path, hash] of manifest) {
    const file = files.get(path);
    if (file === undefined) problems.push(`${path} is missing`);
    else if (file.sha256 !== hash) problems.push(`${path} is damaged`);
  }
  for (const path of files.keys()) {
    if (!manifest.has(path)) problems.push(`${path} is not listed`);
  }
  return problems;
}
