// A plan before it is added: rows to be chosen from, with what each waits for, and what is left of
// the plan when some are not wanted. Pure.

import { formatCount } from '../../server/core/format.ts';
import type { SpecPlanView } from '../../server/protocol/spec-plan.ts';
import { plainText } from '../notices/plain-text.ts';

export interface PlanRow {
  /** Of a task; null is the heading of an epic. */
  readonly id: string | null;
  readonly label: string;
  readonly description: string;
  readonly detail: string;
}

const titleChars = 120;
const detailChars = 200;

/**
 * Epics as headings, each with its tasks in an order in which they can be done. `titles`: those
 * that were changed.
 */
export function planRows(
  { epics, tasks }: Pick<SpecPlanView, 'epics' | 'tasks'>,
  titles: ReadonlyMap<string, string> = new Map(),
): readonly PlanRow[] {
  const titleOf = (id: string): string =>
    plainText(titles.get(id) ?? tasks.find((task) => task.id === id)?.title ?? id, titleChars);
  const rowOf = (task: SpecPlanView['tasks'][number]): PlanRow => {
    const after = task.blocked_by.map((id) => titleOf(id));
    const criteria = formatCount(task.acceptance_criteria.length, 'criterion', 'criteria');
    return {
      id: task.id,
      label: titleOf(task.id),
      description: after.length === 0 ? 'can start at once' : `after ${after.join(', ')}`,
      detail: plainText(`${criteria} · ${task.description}`, detailChars),
    };
  };
  const heading = (label: string): PlanRow => ({ id: null, label, description: '', detail: '' });
  const known = new Set(epics.map(({ id }) => id));
  const free = tasks.filter(({ epic_id: epic }) => epic === null || !known.has(epic));
  return [
    ...epics.flatMap((epic) => {
      const own = tasks.filter(({ epic_id: id }) => id === epic.id);
      return [heading(plainText(epic.title, titleChars)), ...own.map(rowOf)];
    }),
    ...(free.length === 0 ? [] : [heading('Without an epic'), ...free.map(rowOf)]),
  ];
}

/**
 * The plan's lines with the chosen tasks alone, under the titles that were changed. What a chosen
 * task waits for is waited for through tasks that are left out; an epic without tasks is left out,
 * too.
 */
export function chosenLines(
  { jsonl, tasks }: Pick<SpecPlanView, 'jsonl' | 'tasks'>,
  chosen: ReadonlySet<string>,
  titles: ReadonlyMap<string, string> = new Map(),
): string {
  const blockers = new Map(tasks.map((task) => [task.id, task.blocked_by]));
  const epics = new Set(tasks.filter(({ id }) => chosen.has(id)).map(({ epic_id: epic }) => epic));
  const lines = jsonl.split('\n').filter((line) => line.trim() !== '');
  const kept = lines.flatMap((line) => {
    const record = JSON.parse(line) as Readonly<Record<string, unknown>> & { readonly id: string };
    if (record['type'] === 'epic') return epics.has(record.id) ? [line] : [];
    if (!chosen.has(record.id)) return [];
    const { blocked_by: _all, ...rest } = record;
    const waits = [...waitsOf(record.id, chosen, blockers)];
    const title = titles.get(record.id);
    const changed = {
      ...rest,
      ...(title === undefined ? {} : { title }),
      ...(waits.length === 0 ? {} : { blocked_by: waits }),
    };
    return [JSON.stringify(changed)];
  });
  return kept.map((line) => `${line}\n`).join('');
}

function waitsOf(
  id: string,
  chosen: ReadonlySet<string>,
  blockers: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set<string>([id]);
  const open = [...(blockers.get(id) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (chosen.has(next) || !blockers.has(next)) found.add(next);
    else open.push(...(blockers.get(next) ?? []));
  }
  return found;
}
