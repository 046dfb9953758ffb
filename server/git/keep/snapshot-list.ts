// Lists the snapshots of a task. Reads only git, so it works without the database.

import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import type { GitResult } from '../port.ts';
import type { ChangeSize, SnapshotView } from '../snapshot-port.ts';
import { toSnapshotView } from './restore.ts';
import { parseSnapshot, workRef } from './work-chain.ts';
import { isSha, type Sha } from '../sha.ts';

/** Maximum number of commits read. The chains of one task are far shorter. */
const commitsMax = 20_000;

/** Matches the refs of all snapshots of a task. */
export function snapshotsPrefix(taskId: string): string {
  return workRef(`${taskId}/0`).slice(0, -1);
}

/** `others`: the local root of refs fetched from other machines. */
export async function listSnapshots(
  context: RepositoryContext,
  taskId: string,
  bases: readonly Sha[],
  others: readonly string[] = [],
): Promise<GitResult<readonly SnapshotView[]>> {
  const prefixes = [snapshotsPrefix(taskId), ...others];
  const refs = await context.git(['for-each-ref', '--format=%(objectname)', ...prefixes]);
  if (refs.code !== 0) return err(failureOf(refs, `list the snapshots of ${taskId}`));
  const tips = refs.stdout.toString('utf8').split('\n').filter(isSha);
  if (tips.length === 0) return ok([]);
  const lines = [...tips, ...bases.filter(isSha).map((base) => `^${base}`)];
  const args = ['rev-list', '--topo-order', '--reverse', '--header', '--ignore-missing'];
  const output = await context.git([...args, `--max-count=${commitsMax}`, '--stdin'], {
    input: lines.map((line) => `${line}\n`).join(''),
  });
  if (output.code !== 0) return err(failureOf(output, `list the snapshots of ${taskId}`));
  const views = output.stdout
    .toString('utf8')
    .split('\0')
    .flatMap((record) => viewIn(record, taskId));
  return ok(views.toSorted((one, other) => one.timeMs - other.timeMs));
}

/** Parses `<id>\n<header>\n\n<message, each line indented>`. */
function viewIn(record: string, taskId: string): SnapshotView[] {
  const end = record.indexOf('\n');
  if (end === -1) return [];
  const split = record.indexOf('\n\n');
  const body = record.slice(split + 2).replaceAll(/^ {4}/gm, '');
  const text = `${record.slice(end + 1, split)}\n\n${body}`;
  const facts = parseSnapshot(record.slice(0, end).trim(), text);
  return facts === null || !facts.label.startsWith(`${taskId}/`) ? [] : [toSnapshotView(facts)];
}

export async function sizeOfChange(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
): Promise<GitResult<ChangeSize>> {
  const args = ['diff-tree', '-r', '--shortstat', '--no-ext-diff', '--no-textconv'];
  const output = await context.git([...args, '--end-of-options', from, to]);
  if (output.code !== 0) return err(failureOf(output, `compare ${from} and ${to}`));
  const text = output.stdout.toString('utf8');
  const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(text)?.[1] ?? 0);
  return ok({
    files: count('files? changed'),
    insertions: count('insertion'),
    deletions: count('deletion'),
  });
}
