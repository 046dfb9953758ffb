// Figures with their targets, and the table that prints them.

export interface Figure {
  readonly part: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** Null if the figure has no target. */
  readonly target: { readonly atMost: number } | { readonly atLeast: number } | null;
  /** Details of the value: the single ratios and the absolute times. */
  readonly detail?: string;
}

export function isMet({ value, target }: Figure): boolean | null {
  if (target === null) return null;
  return 'atMost' in target ? value <= target.atMost : value >= target.atLeast;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

export function short(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

function targetText(figure: Figure): string {
  const { target } = figure;
  if (target === null) return '';
  return 'atMost' in target ? `≤ ${short(target.atMost)}` : `≥ ${short(target.atLeast)}`;
}

export function tableText(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const met = isMet(figure);
    return [
      figure.part,
      figure.what,
      `${short(figure.value)} ${figure.unit}`,
      targetText(figure),
      met === null ? '' : met ? 'pass' : 'MISS',
      figure.detail ?? '',
    ];
  });
  const header = ['part', 'what', 'figure', 'target', '', 'detail'];
  const all = [header, ...rows];
  const widths = header.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
