// The name of a run, and how it ended, as text. Pure.

import { formatCount, formatDuration } from '../../server/core/format.ts';
import { type Report, skippedStageText } from '../../server/core/history/report.ts';
import type { RunLine } from '../../server/core/history/run-list.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';

/** More of a title or an error than fits into a row. */
const lineCharsMax = 400;

/** Text of people and agents on one line, without invisible characters. */
export function shortLine(text: string): string {
  const line = visibleLine(text.slice(0, lineCharsMax));
  return text.length > lineCharsMax ? `${line}…` : line;
}

export function runTitle({
  epic_title: title,
  tasks,
}: Pick<RunLine, 'epic_title' | 'tasks'>): string {
  const all = title === null ? 'All open tasks' : shortLine(title);
  if (tasks === null) return all;
  return title === null ? 'Chosen tasks' : `Chosen tasks of ${all}`;
}

export function stateWords(state: string): string {
  switch (state) {
    case 'active':
      return 'running';
    case 'stopped':
      return 'stopped';
    case 'finished':
      return 'finished';
    default:
      return shortLine(state);
  }
}

/** Date and time in the user's time zone. */
export function timeWords(atMs: number): string {
  return new Date(atMs).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Returns null if the gate did not run and no stage of it was skipped. */
export function gateWords({ gate }: Report): string | null {
  const said = (gate.skipped ?? []).map((skipped) => shortLine(skippedStageText(skipped)));
  const flaky = gate.flaky === 0 ? '' : `, ${gate.flaky} flaky`;
  if (gate.unused_ms > 0)
    said.unshift(`${formatDuration(gate.unused_ms)} of early gates were not needed.`);
  if (gate.runs > 0)
    said.unshift(
      `The gate ran ${formatCount(gate.runs, 'time')}: ${gate.passed} passed, ${gate.failed} failed${flaky}; ${formatDuration(gate.ms)} in all.`,
    );
  return said.length === 0 ? null : said.join(' ');
}

export function causeWords(cause: string): string {
  return shortLine(cause).replaceAll('_', ' ');
}
