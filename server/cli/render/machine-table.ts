// Formats the machines of a fleet as a table, with each note below its machine.

import type { MachineView } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { durationText } from './figures.ts';
import { fill, fillStart, wrap, displayWidth } from './fit.ts';
import type { Paint, Tone } from './style.ts';

export interface MachineTableOptions {
  readonly width: number;
  readonly paint: Paint;
}

interface Column {
  readonly name: string;
  readonly widthMax: number;
  readonly atEnd?: boolean;
  readonly cell: (machine: MachineView) => string;
}

const gap = '  ';
const idLength = 8;

const columns: readonly Column[] = [
  { name: 'NAME', widthMax: 24, cell: ({ name }) => plainLine(name) },
  { name: 'ID', widthMax: idLength, cell: ({ id }) => plainLine(id).slice(0, idLength) },
  { name: 'STATE', widthMax: 8, cell: ({ state }) => state },
  {
    name: 'AGENTS',
    widthMax: 7,
    atEnd: true,
    cell: ({ agents, agents_max: most }) => `${agents}/${most}`,
  },
  { name: 'LANDS', widthMax: 5, cell: ({ lands }) => (lands ? 'yes' : 'no') },
  {
    name: 'HEARD',
    widthMax: 12,
    atEnd: true,
    cell: ({ heard_ago_ms: ms }) => `${durationText(ms / 1000)} ago`,
  },
  { name: 'VERSION', widthMax: 12, cell: ({ version }) => plainLine(version) },
  { name: 'LABELS', widthMax: 60, cell: ({ labels }) => plainLine(labels.join(', ')) },
];

const tones: { readonly [S in MachineView['state']]: Tone } = {
  working: 'green',
  draining: 'yellow',
  dead: 'red',
  left: 'dim',
};

export function machineTable(
  machines: readonly MachineView[],
  { width, paint }: MachineTableOptions,
): string[] {
  const widths = columns.map(({ name, cell, widthMax }) => {
    const cells = machines.map((machine) => displayWidth(cell(machine)));
    return Math.min(widthMax, Math.max(displayWidth(name), ...cells));
  });
  const lineOf = (textOf: (column: Column, padded: (text: string) => string) => string): string =>
    columns
      .map((column, at) => {
        const pad = column.atEnd === true ? fillStart : fill;
        return textOf(column, (text) => pad(text, widths[at] ?? 0));
      })
      .join(gap)
      .trimEnd();
  const lines = [
    paint(
      'dim',
      lineOf(({ name }, padded) => padded(name)),
    ),
  ];
  for (const machine of machines) {
    lines.push(
      lineOf(({ name, cell }, padded) => {
        const text = padded(cell(machine));
        return name === 'STATE' ? paint(tones[machine.state], text) : text;
      }),
    );
    for (const { branch, since_ago_ms: ms } of machine.landing ?? []) {
      const isAlive = machine.state === 'working' || machine.state === 'draining';
      const words = isAlive ? 'landing on' : 'stopped while landing on';
      const landing = `${words} ${plainLine(branch)}, started ${durationText(ms / 1000)} ago`;
      lines.push(wrap(`  ${landing}`, width, '  '));
    }
    if (machine.note !== null) lines.push(wrap(`  ${plainLine(machine.note)}`, width, '  '));
  }
  return lines;
}
