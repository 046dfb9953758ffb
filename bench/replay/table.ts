// Formats the figures of all runs of a replay as a Markdown table.

import { short } from '../figures.ts';
import type { ReplayLine } from './replay.ts';

const columns: readonly (readonly [string, (line: ReplayLine) => string])[] = [
  ['history', ({ history }) => history],
  ['mode', ({ mode, kills }) => (kills === 0 ? mode : `${mode}, ${kills} kills`)],
  ['W', ({ parallelGates }) => String(parallelGates ?? '–')],
  ['landed', ({ landed }) => percent(landed)],
  ['at first try', ({ landedFirst }) => percent(landedFirst)],
  ['conflicts', ({ conflicts }) => String(conflicts ?? '–')],
  ['attempts', ({ attempts }) => short(attempts)],
  ['wall, s', ({ wallS }) => wallS.toFixed(0)],
  ['÷ serial', ({ toSerial }) => toSerial.toFixed(2)],
  ['÷ critical', ({ toCritical }) => toCritical.toFixed(2)],
  ['gates ÷ tasks', ({ gatesPerTask }) => gatesPerTask.toFixed(2)],
  ['for nothing, s', ({ unusedGateS }) => unusedGateS?.toFixed(0) ?? '–'],
  ['wait p50', ({ waitP50 }) => waitP50.toFixed(2)],
  ['wait p95', ({ waitP95 }) => waitP95.toFixed(2)],
  ['precision', ({ forecast }) => ratio(forecast?.foreseen_and_came, forecast?.foreseen)],
  ['recall', ({ forecast }) => ratio(forecast?.came_and_foreseen, forecast?.came)],
  [
    'tree',
    ({ treeEqual, pathsEqual }) => (treeEqual ? 'equal' : `${percent(pathsEqual)} of paths`),
  ],
  ['lost', ({ lost }) => String(lost.length)],
  ['load', ({ load }) => load.toFixed(0)],
];

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function ratio(part: number | undefined, all: number | undefined): string {
  return all === undefined ? '–' : `${part} of ${all}`;
}

export function replayTable(lines: readonly ReplayLine[]): string {
  const rows = [
    columns.map(([name]) => name),
    columns.map(() => '---'),
    ...lines.map((line) => columns.map(([, text]) => text(line))),
  ];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
