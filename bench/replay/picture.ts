// Draws the result of a replay: for each history and mode, how long the changes took compared with
// running them sequentially.

import type { ReplayLine } from './replay.ts';

const width = 760;
const left = 190;
const right = 225;
const rowPx = 22;
const headPx = 30;
const axisPx = 46;
const topPx = 44;

/** A bar can extend past the axis: a program can take longer than the sequential run. */
const shareMin = 1;

const style = `
text { font: 12px system-ui, sans-serif; fill: #57606a; }
.head { font-weight: 600; }
.bar { fill: #2f81c7; } .bar.hand { fill: #8a929b; } .bar.kill { fill: #b0722a; }
.ideal { stroke: #1f2328; stroke-width: 2; } .grid { stroke: #8a929b; stroke-opacity: .35; }
@media (prefers-color-scheme: dark) {
  text { fill: #adb5bf; } .ideal { stroke: #f0f3f6; } .bar { fill: #4c9be0; }
}`;

export function pictureOf(lines: readonly ReplayLine[]): string {
  const most = Math.max(shareMin, ...lines.map(({ toSerial }) => toSerial));
  const x = (share: number): number => left + (share / most) * (width - left - right);
  const parts: string[] = [];
  let y = topPx;
  for (const [name, ofHistory] of Map.groupBy(lines, groupOf)) {
    parts.push(text(12, y + 18, name, 'class="head"'));
    y += headPx;
    for (const line of ofHistory) {
      parts.push(rowOf(line, y, x));
      y += rowPx;
    }
  }
  const ticks = Array.from({ length: Math.floor(most / 0.25 + 0.001) + 1 }, (_, at) => at * 0.25);
  const grid = ticks.map(
    (share) =>
      `<line class="grid" x1="${x(share)}" x2="${x(share)}" y1="${topPx}" y2="${y}"/>` +
      text(x(share), y + 16, String(share), 'text-anchor="middle"'),
  );
  const title = 'Time to the last landing, compared with one change after the other';
  const height = y + axisPx;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">
<title id="t">${title}</title>
<style>${style}</style>
${text(12, 22, title, 'class="head"')}
${[...grid, ...parts].join('\n')}
${text(x(most / 2), y + 36, 'time ÷ serial time (shorter is faster); the upright line is the critical path', 'text-anchor="middle"')}
</svg>
`;
}

function groupOf({ history, tasks, agents }: ReplayLine): string {
  return `${history}: ${tasks} changes, ${agents} agents`;
}

function rowOf(line: ReplayLine, y: number, x: (share: number) => number): string {
  const { mode, kills, parallelGates, toSerial, toCritical, landed, attempts } = line;
  const kind = mode === 'by-hand' ? 'bar hand' : kills > 0 ? 'bar kill' : 'bar';
  const gates = parallelGates === null ? '' : `, W = ${parallelGates}`;
  const name = `${mode}${gates}${kills > 0 ? `, ${kills} kills` : ''}`;
  const ideal = x(toSerial / toCritical);
  const result = `${toSerial.toFixed(2)}, ${Math.round(landed * 100)} % landed, ${attempts.toFixed(1)} attempts`;
  return [
    text(left - 8, y + 15, name, 'text-anchor="end"'),
    `<rect class="${kind}" x="${left}" y="${y + 3}" width="${x(toSerial) - left}" height="${rowPx - 6}" rx="2"/>`,
    `<line class="ideal" x1="${ideal}" x2="${ideal}" y1="${y + 1}" y2="${y + rowPx - 1}"/>`,
    text(Math.max(x(toSerial), ideal) + 6, y + 15, result, ''),
  ].join('\n');
}

function text(x: number, y: number, words: string, attributes: string): string {
  const safe = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${Math.round(x)}" y="${Math.round(y)}" ${attributes}>${safe}</text>`;
}
