// Finds tasks of a plan that name the same files although neither waits for the other, so that
// their changes are likely to conflict. Pure.

import { isSameFile, namedFiles } from '../notes/named-files.ts';

interface TaskWords {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly criteria: readonly string[];
  readonly blockedBy: readonly string[];
}

/** A dependency that would prevent the conflict: the later task waits for the earlier one. */
export interface ProposedEdge {
  readonly task: string;
  readonly waitsFor: string;
  readonly files: readonly string[];
}

const proposalsMax = 20;
const filesShownMax = 3;

/**
 * Proposes dependencies. The tasks must be in an order in which they can be done. Each task is
 * compared with earlier ones, closest first, and a proposed dependency counts as present in later
 * comparisons.
 */
export function proposeEdges(tasks: readonly TaskWords[]): readonly ProposedEdge[] {
  const named = new Map(tasks.map((task) => [task.id, filesOf(task)]));
  const blockers = new Map(tasks.map(({ id, blockedBy }) => [id, [...blockedBy]]));
  const proposed: ProposedEdge[] = [];
  for (const [index, { id }] of tasks.entries()) {
    for (const before of tasks.slice(0, index).toReversed()) {
      if (proposed.length >= proposalsMax) return proposed;
      const files = sharedFiles(named.get(id) ?? [], named.get(before.id) ?? []);
      if (files.length === 0) continue;
      if (isBehind(id, before.id, blockers) || isBehind(before.id, id, blockers)) continue;
      proposed.push({ task: id, waitsFor: before.id, files });
      blockers.get(id)?.push(before.id);
    }
  }
  return proposed;
}

function filesOf({ title, description, criteria }: TaskWords): readonly string[] {
  return namedFiles([title, description, ...criteria].join('\n'));
}

function sharedFiles(own: readonly string[], others: readonly string[]): readonly string[] {
  return own.filter((file) => others.some((other) => isSameFile(file, other)));
}

/** Whether a task waits for another one, directly or indirectly. */
export function isBehind(
  task: string,
  wanted: string,
  blockers: ReadonlyMap<string, readonly string[]>,
): boolean {
  const seen = new Set<string>();
  const open = [task];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === wanted) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(blockers.get(next) ?? []));
  }
  return false;
}

/** `src/cart.ts, src/till.ts and 2 more`. */
export function sharedFileNames({ files }: ProposedEdge): string {
  const more = files.length - filesShownMax;
  return `${files.slice(0, filesShownMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Adds these dependencies to the plan's lines, in the form that an import reads. */
export function linesWithEdges(jsonl: string, edges: readonly ProposedEdge[]): string {
  return jsonl
    .split('\n')
    .map((line) => {
      if (line.trim() === '') return line;
      const record = JSON.parse(line) as { readonly id: string; readonly blocked_by?: string[] };
      const more = edges.filter(({ task }) => task === record.id).map(({ waitsFor }) => waitsFor);
      if (more.length === 0) return line;
      return JSON.stringify({ ...record, blocked_by: [...(record.blocked_by ?? []), ...more] });
    })
    .join('\n');
}
