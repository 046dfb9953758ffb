// The rows of the worktrees, and the text about their space. Pure.

import { formatBytes, formatCount } from '../../server/core/format.ts';
import type { WorktreeSizes, WorktreeView } from '../../server/protocol/views.ts';

export interface WorktreeRow {
  readonly path: string;
  /** Last part of the path. */
  readonly name: string;
  readonly size: string;
  readonly bytes: number;
  /** Title of the task that uses it, or null. */
  readonly task: string | null;
  readonly taskId: string | null;
  readonly mayGo: boolean;
  /** A sentence. */
  readonly why: string;
}

/** Removable worktrees come first, the largest first. */
export function rowsOf(
  sizes: WorktreeSizes,
  titleOf: (task: string) => string | null,
): readonly WorktreeRow[] {
  const rows = sizes.worktrees.map((each) => rowOf(each, titleOf));
  const others = sizes.others.map(({ path, size_bytes: bytes, why }): WorktreeRow => ({
    ...sized(path, bytes),
    task: null,
    taskId: null,
    mayGo: false,
    why: sentence(`It stays: ${why}`),
  }));
  const byWeight = (a: WorktreeRow, b: WorktreeRow): number =>
    Number(b.mayGo) - Number(a.mayGo) || b.bytes - a.bytes || (a.path < b.path ? -1 : 1);
  return [...rows, ...others].toSorted(byWeight);
}

function rowOf(worktree: WorktreeView, titleOf: (task: string) => string | null): WorktreeRow {
  const { path, size_bytes: bytes, task_id: task, action } = worktree;
  const mayGo = action === 'remove';
  const why = worktree.why ?? worktree.reason ?? worktree.status;
  return {
    ...sized(path, bytes),
    task: task === null ? null : (titleOf(task) ?? task),
    taskId: task,
    mayGo,
    why: sentence(mayGo ? `It may go: ${why}` : `It stays: ${why}`),
  };
}

function sized(path: string, bytes: number): Pick<WorktreeRow, 'path' | 'name' | 'size' | 'bytes'> {
  const name = path.split(/[\\/]/u).findLast((part) => part !== '') ?? path;
  return { path, name, bytes, size: formatBytes(bytes) };
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

/** The total space, with the limit. */
export function totalWords({ total_bytes: total, limit_bytes: limit }: WorktreeSizes): string {
  return limit === null
    ? `${formatBytes(total)} in all. [worktree] disk_limit is not set.`
    : `${formatBytes(total)} of ${formatBytes(limit)}.${total < limit ? '' : ' No task starts until there is room.'}`;
}

/** The result of a removal, with the worktrees that stayed although they were selected. */
export function freedWords(done: readonly WorktreeView[], asked: readonly string[]): string {
  const gone = done.filter(({ action }) => action === 'removed');
  const bytes = gone.reduce((sum, { size_bytes: each }) => sum + each, 0);
  const stayed = done.filter(({ action, path }) => action === 'keep' && asked.includes(path));
  const whys = stayed.map(({ path, reason }) => `${sized(path, 0).name} stays: ${reason ?? ''}.`);
  return [`${formatBytes(bytes)} are free again.`, ...whys].join(' ');
}

/** The label of the button that removes them. */
export function freeTitle(rows: readonly WorktreeRow[]): string {
  return `Free ${formatBytes(rows.reduce((sum, { bytes }) => sum + bytes, 0))}`;
}

/** The heading of the confirmation's list. */
export function goesWords(rows: readonly WorktreeRow[]): string {
  return `${formatCount(rows.length, 'worktree goes', 'worktrees go')}. The next tasks set up new ones.`;
}
