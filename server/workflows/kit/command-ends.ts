// Describes in a sentence how a project command (gate, setup) ended: the limit that ended it, or
// the lines that explain the failure.

import { formatDuration } from '../../core/format.ts';

export interface CommandEnd {
  readonly isLate: boolean;
  /** How long it had printed nothing when its time was up. */
  readonly silentMs?: number;
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly telling: readonly string[];
  /** Named like `[gate] timeout`, with its value. */
  readonly limit: { readonly name: string; readonly ms: number };
}

const linesMax = 3;
const lineMax = 160;

export function commandEnd({ isLate, silentMs = 0, exitCode, telling, limit }: CommandEnd): string {
  // A watch mode prints its result and then waits for changes, and a prompt waits for an answer.
  // Both end in silence.
  const isQuiet = silentMs >= limit.ms / 2;
  const quiet = isQuiet ? '; it was still running and silent: is it a watch mode?' : '';
  const how = isLate
    ? `did not finish within ${formatDuration(limit.ms)} (${limit.name})${quiet}`
    : exitCode === null
      ? 'was killed'
      : `ended with exit code ${exitCode}`;
  const said = tellingText(telling);
  return said === '' ? how : `${how}: ${said}`;
}

/** Joins the first explaining lines to one line; empty if there are none. */
export function tellingText(telling: readonly string[]): string {
  return telling
    .slice(0, linesMax)
    .map((line) => (line.length > lineMax ? `${line.slice(0, lineMax)}…` : line))
    .join('; ');
}
