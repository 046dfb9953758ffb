// A person's edits of a plan before it is added, and the lines that are then added. Pure.

import { isBehind } from '../../server/core/spec/shared-files.ts';
import type { PlanView } from '../../server/protocol/spec-plan.ts';

type PlannedTask = PlanView['tasks'][number];

export interface TaskChange {
  readonly title?: string;
  readonly description?: string;
  readonly criteria?: readonly string[];
  readonly blockedBy?: readonly string[];
}

export interface PlanDraft {
  /** Ids of omitted tasks. */
  readonly out: readonly string[];
  /** Edited titles of epics, by id. */
  readonly epics: Readonly<Record<string, string>>;
  readonly tasks: Readonly<Record<string, TaskChange>>;
}

export interface DraftedTask {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly criteria: readonly string[];
  readonly blockedBy: readonly string[];
  readonly priority: PlannedTask['priority'];
  readonly isIn: boolean;
}

export interface DraftedEpic {
  /** Null for the tasks without an epic. */
  readonly id: string | null;
  readonly title: string;
  readonly tasks: readonly DraftedTask[];
}

type Plan = Pick<PlanView, 'epics' | 'tasks' | 'jsonl'>;

export const freshDraft: PlanDraft = { out: [], epics: {}, tasks: {} };

/** A draft that survived a reload may be of an older version. */
export function readDraft(raw: unknown): PlanDraft {
  const { out, epics, tasks } = fieldsOf(raw);
  return {
    out: textsOf(out) ?? [],
    epics: Object.fromEntries(
      Object.entries(fieldsOf(epics)).filter(([, title]) => typeof title === 'string'),
    ) as Record<string, string>,
    tasks: Object.fromEntries(
      Object.entries(fieldsOf(tasks)).map(([id, change]) => [id, readChange(change)]),
    ),
  };
}

function readChange(raw: unknown): TaskChange {
  const { title, description, criteria, blockedBy } = fieldsOf(raw);
  const listed = textsOf(criteria);
  const waits = textsOf(blockedBy);
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(listed === null ? {} : { criteria: listed }),
    ...(waits === null ? {} : { blockedBy: waits }),
  };
}

/** Grouped by epic, in the order of the plan. An epic without tasks is left out. */
export function draftedEpics(plan: Plan, draft: PlanDraft): readonly DraftedEpic[] {
  const known = new Set(plan.epics.map(({ id }) => id));
  const all = plan.tasks.map((task) => ({ epic: task.epic_id, task: draftedTask(task, draft) }));
  const free = all.filter(({ epic }) => epic === null || !known.has(epic));
  const epics = [
    ...plan.epics.map(({ id, title }) => ({
      id,
      title: draft.epics[id] ?? title,
      tasks: all.filter(({ epic }) => epic === id).map(({ task }) => task),
    })),
    { id: null, title: 'Without an epic', tasks: free.map(({ task }) => task) },
  ];
  return epics.filter(({ tasks }) => tasks.length > 0);
}

function draftedTask(task: PlannedTask, draft: PlanDraft): DraftedTask {
  const change = draft.tasks[task.id] ?? {};
  return {
    id: task.id,
    title: change.title ?? task.title,
    description: change.description ?? task.description,
    criteria: change.criteria ?? task.acceptance_criteria,
    blockedBy: change.blockedBy ?? task.blocked_by,
    priority: task.priority,
    isIn: !draft.out.includes(task.id),
  };
}

export function changeTask(draft: PlanDraft, id: string, change: TaskChange): PlanDraft {
  return { ...draft, tasks: { ...draft.tasks, [id]: { ...draft.tasks[id], ...change } } };
}

export function changeEpic(draft: PlanDraft, id: string, title: string): PlanDraft {
  return { ...draft, epics: { ...draft.epics, [id]: title } };
}

export function choose(draft: PlanDraft, ids: readonly string[], isIn: boolean): PlanDraft {
  const others = draft.out.filter((id) => !ids.includes(id));
  return { ...draft, out: isIn ? others : [...others, ...ids] };
}

/** Tasks that this task can wait for without a loop. */
export function possibleBlockers(
  tasks: readonly DraftedTask[],
  id: string,
): readonly DraftedTask[] {
  const blockers = new Map(tasks.map((task) => [task.id, task.blockedBy]));
  const present = new Set(blockers.get(id));
  return tasks.filter(
    (task) => task.id !== id && !present.has(task.id) && !isBehind(task.id, id, blockers),
  );
}

/**
 * The lines for the import: the selected tasks with their edits. A selected task that depends on an
 * omitted one waits for the omitted task's blockers; an epic without tasks is omitted, too.
 */
export function planLines(plan: Plan, draft: PlanDraft): string {
  const epics = draftedEpics(plan, draft);
  const tasks = new Map(epics.flatMap((epic) => epic.tasks.map((task) => [task.id, task])));
  const titles = new Map(
    epics
      .filter((epic) => epic.tasks.some(({ isIn }) => isIn))
      .map((epic) => [epic.id, epic.title]),
  );
  const records = plan.jsonl
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>> & { readonly id: string });
  const kept = records.flatMap((record): readonly object[] => {
    if (record['type'] === 'epic') {
      const title = titles.get(record.id);
      return title === undefined ? [] : [{ ...record, title }];
    }
    const task = tasks.get(record.id);
    return task?.isIn === true ? [changedRecord(record, task, tasks)] : [];
  });
  return kept.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function changedRecord(
  { description: _text, blocked_by: _all, ...rest }: Readonly<Record<string, unknown>>,
  task: DraftedTask,
  tasks: ReadonlyMap<string, DraftedTask>,
): object {
  const waits = blockersIn(task, tasks);
  return {
    ...rest,
    title: task.title,
    ...(task.description === '' ? {} : { description: task.description }),
    acceptance_criteria: task.criteria,
    ...(waits.length === 0 ? {} : { blocked_by: waits }),
  };
}

/** Its blockers among the selected tasks. */
function blockersIn(task: DraftedTask, tasks: ReadonlyMap<string, DraftedTask>): readonly string[] {
  const found = new Set<string>();
  const seen = new Set([task.id]);
  const open = [...task.blockedBy];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const blocker = tasks.get(next);
    if (blocker === undefined || blocker.isIn) found.add(next);
    else open.push(...blocker.blockedBy);
  }
  return [...found];
}

function fieldsOf(raw: unknown): Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw)
    ? (raw as Record<string, unknown>)
    : {};
}

function textsOf(raw: unknown): readonly string[] | null {
  return Array.isArray(raw) && raw.every((each) => typeof each === 'string') ? raw : null;
}
