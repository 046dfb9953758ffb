// Formats the worktrees with their sizes, which of them may be removed, and why.

import { formatBytes } from '../../core/format.ts';
import type { WorktreeSizes } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { fill, fillStart, displayWidth } from './fit.ts';

export function worktreeSizesText(sizes: WorktreeSizes): string {
  const { worktrees, others } = sizes;
  if (worktrees.length === 0 && others.length === 0) return 'No worktrees.';
  const rows = worktrees.map((each) => [
    formatBytes(each.size_bytes),
    plainLine(each.task_id ?? '(free)'),
    plainLine(each.path),
    plainLine(`${each.action === 'keep' ? 'stays' : 'may go'}: ${each.why ?? each.status}`),
  ]);
  for (const { size_bytes: bytes, path, why } of others) {
    rows.push([formatBytes(bytes), '', plainLine(path), plainLine(`stays: ${why}`)]);
  }
  const widths = [0, 1, 2].map((at) => Math.max(...rows.map((row) => displayWidth(row[at] ?? ''))));
  const lines = rows.map(([size = '', holder = '', path = '', why = '']) =>
    [
      fillStart(size, widths[0] ?? 0),
      fill(holder, widths[1] ?? 0),
      fill(path, widths[2] ?? 0),
      why,
    ].join('  '),
  );
  return [...lines, totalLine(sizes)].join('\n');
}

function totalLine({ total_bytes, limit_bytes, frees_bytes }: WorktreeSizes): string {
  const limit =
    limit_bytes === null ? '' : ` of ${formatBytes(limit_bytes)} ([worktree] disk_limit)`;
  const frees =
    frees_bytes === 0
      ? 'Nothing can be removed now.'
      : `"drover worktree prune" frees ${formatBytes(frees_bytes)}.`;
  return `${formatBytes(total_bytes)}${limit} in all. ${frees}`;
}
