// How a command of the project (gate, setup) ended, as a sentence: with the limit that ended it, or
// its telling lines.

import { formatDuration } from '../../core/format.ts';

export interface CommandEnd {
  readonly isLate: boolean;
  /** null: a signal ended it. */
  readonly exitCode: number | null;
  readonly telling: readonly string[];
  /** As `[gate] timeout`, with its value. */
  readonly limit: { readonly name: string; readonly ms: number };
}

const linesMax = 3;
const lineMax = 160;

export function commandEnd({ isLate, exitCode, telling, limit }: CommandEnd): string {
  const how = isLate
    ? `did not finish within ${formatDuration(limit.ms)} (${limit.name})`
    : exitCode === null
      ? 'was killed'
      : `ended with exit code ${exitCode}`;
  const said = tellingText(telling);
  return said === '' ? how : `${how}: ${said}`;
}

/** The first telling lines on one line; empty without any. */
export function tellingText(telling: readonly string[]): string {
  return telling
    .slice(0, linesMax)
    .map((line) => (line.length > lineMax ? `${line.slice(0, lineMax)}…` : line))
    .join('; ');
}
