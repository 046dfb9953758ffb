// Formats tasks as a table. Empty columns are omitted, and the title takes the remaining width.

import type { TaskView } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { fill, fillStart, fit, displayWidth } from './fit.ts';
import { costText } from './figures.ts';
import { looks, type Paint } from './style.ts';
import { elapsedText, isRunning, situation, tryText } from './task-facts.ts';

export interface TableOptions {
  readonly width: number;
  readonly paint: Paint;
  readonly nowMs: number;
}

interface Column {
  readonly name: string;
  readonly widthMax: number;
  readonly atEnd: boolean;
  readonly cell: (task: TaskView) => string;
}

const gap = '  ';
const titleWidthMin = 12;
const wideFrom = 110;

export function taskTable(tasks: readonly TaskView[], options: TableOptions): string[] {
  const { width, paint, nowMs } = options;
  const rows = tasks.toSorted((a, b) => looks[a.status].rank - looks[b.status].rank);
  const columns = columnsOf(nowMs, width).map((column) => ({ ...column, width: 0 }));
  for (const column of columns) {
    const cells = Math.max(0, ...rows.map((task) => displayWidth(column.cell(task))));
    if (cells === 0) continue;
    column.width = Math.min(column.widthMax, Math.max(cells, displayWidth(column.name)));
  }
  const used = columns.filter((column) => column.width > 0);
  const before = used.reduce((sum, column) => sum + column.width + gap.length, 0);
  const titleWidth = Math.max(titleWidthMin, width - before);
  const head = used.map(({ name, width: wide, atEnd }) => (atEnd ? fillStart : fill)(name, wide));
  const lines = [paint('dim', fit([...head, 'TITLE'].join(gap), width))];
  for (const task of rows) {
    const cells = used.map((column) => {
      const text = (column.atEnd ? fillStart : fill)(column.cell(task), column.width);
      return column.name === 'STATUS' ? paint(looks[task.status].tone, text) : text;
    });
    lines.push([...cells, fit(plainLine(task.title), titleWidth)].join(gap).trimEnd());
  }
  return lines;
}

function columnsOf(nowMs: number, width: number): readonly Column[] {
  const isWide = width >= wideFrom;
  return [
    { name: 'ID', widthMax: Math.max(13, Math.floor(width / 4)), atEnd: false, cell: (t) => t.id },
    { name: 'STATUS', widthMax: 14, atEnd: false, cell: (task) => statusCell(task, isWide) },
    {
      name: 'AT',
      widthMax: Math.floor(width / 4),
      atEnd: false,
      cell: (task) => (isWide ? situation(task) : ''),
    },
    { name: 'MACHINE', widthMax: 14, atEnd: false, cell: (task) => plainLine(task.machine ?? '') },
    { name: 'TRY', widthMax: 5, atEnd: true, cell: tryText },
    { name: 'TIME', widthMax: 7, atEnd: true, cell: (task) => elapsedText(task, nowMs) },
    { name: 'COST', widthMax: 8, atEnd: true, cell: (task) => costText(task.cost) },
  ];
}

/** Without room for a separate column, a running task shows its step instead of "running". */
function statusCell(task: TaskView, isWide: boolean): string {
  const { symbol, word } = looks[task.status];
  return `${symbol} ${isWide || !isRunning(task) ? word : plainLine(task.phase ?? word)}`;
}
