// How a command of the project's own (gate, setup) ended, in words: with the limit that ended it, or its last line.

import { formatDuration } from '../core/format.ts';

export interface CommandEnd {
  readonly isLate: boolean;
  /** null: a signal ended it. */
  readonly exitCode: number | null;
  readonly tail: string;
  /** As `[gate] timeout`, with its value. */
  readonly limit: { readonly name: string; readonly ms: number };
}

const lastLineMax = 200;

export function commandEnd({ isLate, exitCode, tail, limit }: CommandEnd): string {
  if (isLate) return `did not end by itself within ${formatDuration(limit.ms)} (${limit.name})`;
  const how = exitCode === null ? 'was killed' : `ended with exit code ${exitCode}`;
  const last = tail.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? how : `${how} ("${last.slice(0, lastLineMax)}")`;
}
