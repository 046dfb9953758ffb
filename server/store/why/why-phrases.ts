// Phrases that the sentences of `why` share.

import type { PlaceRules } from '../../core/work/run-place.ts';
import type { AgentChoices } from '../../core/work/fallback.ts';
import { formatDuration } from '../../core/format.ts';

export interface WhyFacts {
  readonly nowMs: number;
  /** The agent of tasks that name none. */
  readonly agentKind: string;
  /** Which agents take over from each other. */
  readonly agents: AgentChoices;
  /** False if nothing can be running now, whatever the rows say. */
  readonly hasBackend: boolean;
  /** Labels of the machines that may run the gate. */
  readonly gateNeeds: readonly string[];
  /** Absent if nothing is known about remote workers. */
  readonly remote?: PlaceRules & { readonly max: number };
  /** Absent if no lost refs are known. */
  readonly lost?: LostRefs;
}

/** The refs that a task's row names but the repository no longer has. */
export interface LostRefs {
  /** Maps each missing branch or ref to the commit that it contained, or null if unknown. */
  readonly refs: ReadonlyMap<string, string | null>;
  /** No line contains the commit under which the task landed. */
  readonly isLandedLost: boolean;
}

const errorCharactersMax = 500;

export function toSingleLine(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length > errorCharactersMax ? `${line.slice(0, errorCharactersMax)}…` : line;
}

/** `2027-01-15 08:00:00 UTC (in 5 min)`. */
export function timeText(ms: number, nowMs: number): string {
  const text = new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/u, ' UTC');
  return ms > nowMs ? `${text} (in ${formatDuration(ms - nowMs)})` : `${text} (now)`;
}
