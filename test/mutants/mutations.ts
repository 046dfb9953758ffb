// Small wrong changes to source text, like slips of a programmer.

import type { SeededChance } from '../doubles/seeded-chance.ts';

export interface Mutation {
  /** Position in the file's text. */
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

/**
 * Pairs of a pattern and its replacement. The spaces around operators exclude types, strings and
 * arrows.
 */
const rules: readonly (readonly [RegExp, string])[] = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/\bif \((?!!)/g, 'if (!'],
  [/\breturn;/g, ';'],
];

/** All places in a file to which a rule applies; comments, imports and types are left alone. */
export function mutationsOf(text: string): readonly Mutation[] {
  const found: Mutation[] = [];
  let lineAt = 0;
  for (const line of text.split('\n')) {
    if (isCode(line)) {
      for (const [pattern, to] of rules) {
        for (const match of line.matchAll(pattern)) {
          found.push({ at: lineAt + match.index, from: match[0], to });
        }
      }
    }
    lineAt += line.length + 1;
  }
  return found;
}

function isCode(line: string): boolean {
  const words = line.trim();
  return (
    !/^(\/\/|\/\*|\*|import\b|export type\b|type\b|\| )/.test(words) &&
    !words.startsWith('readonly ')
  );
}

export function applied(text: string, { at, from, to }: Mutation): string {
  return text.slice(0, at) + to + text.slice(at + from.length);
}

export function lineOf(text: string, { at }: Mutation): number {
  return text.slice(0, at).split('\n').length;
}

/** `count` different places over all files, where every place has the same weight. */
export function drawMutations<File extends { readonly text: string }>(
  files: readonly File[],
  count: number,
  chance: SeededChance,
): readonly { readonly file: File; readonly mutation: Mutation }[] {
  const all = files.flatMap((file) => {
    return mutationsOf(file.text).map((mutation) => ({ file, mutation }));
  });
  const drawn: (typeof all)[number][] = [];
  while (drawn.length < count && all.length > 0) {
    const [one] = all.splice(chance.below(all.length), 1);
    if (one !== undefined) drawn.push(one);
  }
  return drawn;
}
