// Finds duplicated production code: six identical lines in two places. Imports, comments, blank
// lines and lone punctuation do not count.

import type { SourceFile } from './source-files.ts';

const linesMin = 6;
const importBlock =
  /^(?:import|export) (?:type )?(?:\{[^}]*\}|\* as \w+|\w+)? ?(?:from )?'[^']+';$/gmu;
const comment = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu;

interface CodeLine {
  readonly number: number;
  readonly text: string;
}

export interface Repeat {
  readonly first: string;
  readonly second: string;
  readonly lines: number;
}

/** One for each pair of places, however long their common run. */
export function repeatsIn(files: readonly SourceFile[]): readonly Repeat[] {
  const places = new Map<string, { readonly path: string; readonly at: number }[]>();
  const codeOf = new Map(files.map((file) => [file.path, codeLines(file.text)]));
  for (const [path, lines] of codeOf) {
    for (let at = 0; at + linesMin <= lines.length; at += 1) {
      const key = lines
        .slice(at, at + linesMin)
        .map(({ text }) => text)
        .join('\n');
      const known = places.get(key);
      if (known === undefined) places.set(key, [{ path, at }]);
      else known.push({ path, at });
    }
  }
  const repeats: Repeat[] = [];
  for (const found of places.values()) {
    for (const [index, second] of found.entries()) {
      for (const first of found.slice(0, index)) {
        const [one, other] = [codeOf.get(first.path) ?? [], codeOf.get(second.path) ?? []];
        // The middle of a longer run was counted at its start.
        const before = one[first.at - 1]?.text;
        if (before !== undefined && before === other[second.at - 1]?.text) continue;
        const sameFile = first.path === second.path;
        const most = sameFile ? second.at - first.at : Infinity;
        let lines = 0;
        while (
          lines < most &&
          one[first.at + lines] !== undefined &&
          one[first.at + lines]?.text === other[second.at + lines]?.text
        )
          lines += 1;
        if (lines < linesMin) continue;
        const placeOf = (path: string, line: CodeLine | undefined): string =>
          `${path}:${line?.number ?? 0}`;
        repeats.push({
          first: placeOf(first.path, one[first.at]),
          second: placeOf(second.path, other[second.at]),
          lines,
        });
      }
    }
  }
  return repeats.toSorted((a, b) => b.lines - a.lines || a.first.localeCompare(b.first));
}

function codeLines(text: string): readonly CodeLine[] {
  const blank = (part: string): string => part.replace(/[^\n]/gu, '');
  return text
    .replace(comment, blank)
    .replace(importBlock, blank)
    .split('\n')
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => /\w/u.test(line.text));
}
