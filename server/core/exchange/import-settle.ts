// Compares valid records with the project (new, unchanged or different), and assigns their
// sequences, epics and final ids.

import { sameContent, sameEpic } from './import-content.ts';
import { checkId } from '../ids.ts';
import { shown } from './shown-values.ts';
import { pickTaskRules } from './task-rules.ts';
import { parentReference, type ReadRecord } from './import-references.ts';
import type {
  ExistingProject,
  ImportedEpic,
  ImportedTask,
  ImportOptions,
  ImportPlan,
  ImportProblem,
} from './import-types.ts';

export interface Settled {
  readonly plan: Omit<ImportPlan, 'problems' | 'warnings'>;
  readonly problems: readonly ImportProblem[];
}

export function settleRecords(
  records: readonly ReadRecord[],
  existing: ExistingProject,
  onDiffers: NonNullable<ImportOptions['onDiffers']>,
): Settled {
  const epics = records.flatMap((record) =>
    record.fields.kind === 'epic' ? [epicOf(record)] : [],
  );
  const tasks = tasksOf(records, existing);
  if (onDiffers === 'rename') {
    const renamed = newNames(epics, tasks, existing);
    return settle(
      epics.map((epic) => ({ ...epic, id: renamed.get(epic.id) ?? epic.id })),
      numbered(
        tasks.map((task) => renamedTask(task, renamed)),
        existing,
      ),
      { existing, onDiffers, renamed },
    );
  }
  return settle(epics, tasks, { existing, onDiffers, renamed: new Map() });
}

function epicOf({ line, fields }: ReadRecord): ImportedEpic {
  const { id, title, description, runsOn } = fields;
  return { line, id, title, description, ...(runsOn === undefined ? {} : { runsOn }) };
}

/**
 * Returns parents before their sub-tasks, otherwise in file order. Each task gets its parent's epic
 * and its sequence.
 */
function tasksOf(records: readonly ReadRecord[], existing: ExistingProject): ImportedTask[] {
  const stories = records.filter(({ fields }) => fields.kind !== 'epic');
  const ids = new Set(stories.map(({ fields }) => fields.id));
  const below = new Map<string, ReadRecord[]>();
  const placed: ReadRecord[] = [];
  for (const record of stories) {
    const parentId = parentReference(record.fields);
    const siblings = parentId === null ? undefined : below.get(parentId);
    if (parentId === null || !ids.has(parentId)) placed.push(record);
    else if (siblings === undefined) below.set(parentId, [record]);
    else siblings.push(record);
  }
  for (let head = 0; head < placed.length; head++) {
    placed.push(...(below.get(placed[head]?.fields.id ?? '') ?? []));
  }
  const epicIds = new Map<string, string | null>();
  const tasks = placed.map((record): ImportedTask => {
    const parentId = parentReference(record.fields);
    const inherited =
      parentId === null
        ? record.fields.epicId
        : epicIds.has(parentId)
          ? (epicIds.get(parentId) ?? null)
          : (existing.tasks.get(parentId)?.epicId ?? null);
    epicIds.set(record.fields.id, inherited);
    return taskOf(record, parentId, inherited);
  });
  return numbered(tasks, existing);
}

function taskOf(
  { line, fields }: ReadRecord,
  parentId: string | null,
  epicId: string | null,
): ImportedTask {
  return {
    line,
    id: fields.id,
    title: fields.title,
    description: fields.description,
    acceptanceCriteria: fields.acceptanceCriteria,
    epicId,
    parentId,
    sequence: 0,
    type: fields.taskType,
    priority: fields.priority,
    labels: fields.labels,
    blockedBy: fields.blockedBy,
    ...pickTaskRules(fields),
  };
}

/** Numbers sub-tasks in file order, after the parent's existing ones. */
function numbered(tasks: readonly ImportedTask[], existing: ExistingProject): ImportedTask[] {
  const last = new Map<string, number>();
  for (const { parentId, sequence } of existing.tasks.values()) {
    if (parentId !== null) last.set(parentId, Math.max(last.get(parentId) ?? 0, sequence));
  }
  const sequences = new Map<string, number>();
  for (const { id, parentId } of tasks.toSorted((a, b) => a.line - b.line)) {
    if (parentId === null) continue;
    const before = existing.tasks.get(id);
    const kept = before !== undefined && before.parentId === parentId ? before.sequence : 0;
    const sequence = kept > 0 ? kept : (last.get(parentId) ?? 0) + 1;
    last.set(parentId, Math.max(last.get(parentId) ?? 0, sequence));
    sequences.set(id, sequence);
  }
  return tasks.map((task) => ({ ...task, sequence: sequences.get(task.id) ?? 0 }));
}

/** Renames differing records and all records that refer to them, which also become new tasks. */
function newNames(
  epics: readonly ImportedEpic[],
  tasks: readonly ImportedTask[],
  existing: ExistingProject,
): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  const taken = new Set<string>([...existing.tasks.keys(), ...existing.epics.keys()]);
  for (const { id } of [...epics, ...tasks]) taken.add(id);
  const rename = (id: string): void => {
    const name = freeName(id, taken);
    taken.add(name);
    renamed.set(id, name);
  };
  for (const epic of epics) if (differs(epic, 'epic', existing)) rename(epic.id);
  const referrers = new Map<string, ImportedTask[]>();
  for (const task of tasks) {
    for (const id of [task.epicId, task.parentId, ...task.blockedBy]) {
      if (id === null) continue;
      const list = referrers.get(id);
      if (list === undefined) referrers.set(id, [task]);
      else list.push(task);
    }
    if (differs(task, 'task', existing)) rename(task.id);
  }
  const spreading = [...renamed.keys()];
  for (let head = 0; head < spreading.length; head++) {
    for (const task of referrers.get(spreading[head] ?? '') ?? []) {
      if (renamed.has(task.id) || !isTaken(task.id, existing)) continue;
      rename(task.id);
      spreading.push(task.id);
    }
  }
  return renamed;
}

function isTaken(id: string, existing: ExistingProject): boolean {
  return existing.tasks.has(id) || existing.epics.has(id);
}

function freeName(id: string, taken: ReadonlySet<string>): string {
  for (let number = 2; ; number++) {
    const suffix = `-${number}`;
    const name = id.slice(0, 64 - suffix.length) + suffix;
    if (!taken.has(name) && checkId(name).ok) return name;
  }
}

function renamedTask(task: ImportedTask, renamed: ReadonlyMap<string, string>): ImportedTask {
  const nameOf = (id: string): string => renamed.get(id) ?? id;
  return {
    ...task,
    id: nameOf(task.id),
    epicId: task.epicId === null ? null : nameOf(task.epicId),
    parentId: task.parentId === null ? null : nameOf(task.parentId),
    blockedBy: task.blockedBy.map(nameOf),
  };
}

function differs(
  record: ImportedEpic | ImportedTask,
  kind: 'epic' | 'task',
  existing: ExistingProject,
): boolean {
  if (!isTaken(record.id, existing)) return false;
  const epic = existing.epics.get(record.id);
  const task = existing.tasks.get(record.id);
  if (kind === 'epic') return epic === undefined || !sameEpic(record, epic);
  return task === undefined || !('priority' in record) || !sameContent(record, task);
}

interface SettleContext {
  readonly existing: ExistingProject;
  readonly onDiffers: NonNullable<ImportOptions['onDiffers']>;
  readonly renamed: ReadonlyMap<string, string>;
}

function settle(
  epics: readonly ImportedEpic[],
  tasks: readonly ImportedTask[],
  { existing, onDiffers, renamed }: SettleContext,
): Settled {
  const problems: ImportProblem[] = [];
  const different: { readonly line: number; readonly id: string }[] = [];
  const sort = <T extends ImportedEpic | ImportedTask>(
    records: readonly T[],
    kind: 'epic' | 'task',
  ): { added: T[]; updated: T[]; unchanged: string[] } => {
    const sorted = { added: [] as T[], updated: [] as T[], unchanged: [] as string[] };
    for (const record of records) {
      const { id, line } = record;
      if (!isTaken(id, existing)) sorted.added.push(record);
      else if (!differs(record, kind, existing)) sorted.unchanged.push(id);
      else {
        different.push({ line, id });
        const otherKind = kind === 'epic' ? existing.tasks.has(id) : existing.epics.has(id);
        if (onDiffers === 'update' && !otherKind) sorted.updated.push(record);
        else
          problems.push({ line, id, kind: 'differs', message: differsText(id, otherKind, kind) });
      }
    }
    return sorted;
  };
  const sortedEpics = sort(epics, 'epic');
  const sortedTasks = sort(tasks, 'task');
  const formerIds = new Map([...renamed].map(([before, name]) => [name, before]));
  for (const { id, line } of [...epics, ...tasks]) {
    const before = formerIds.get(id);
    if (before !== undefined) different.push({ line, id: before });
  }
  return {
    plan: {
      epics: sortedEpics.added,
      tasks: sortedTasks.added,
      updatedEpics: sortedEpics.updated,
      updatedTasks: sortedTasks.updated,
      unchanged: { epics: sortedEpics.unchanged, tasks: sortedTasks.unchanged },
      differs: different.toSorted((a, b) => a.line - b.line).map(({ id }) => id),
      renamed,
    },
    problems,
  };
}

function differsText(id: string, otherKind: boolean, kind: 'epic' | 'task'): string {
  if (otherKind) {
    const other = kind === 'epic' ? 'a task' : 'an epic';
    return `the project already has ${other} with the id ${shown(id)}`;
  }
  return `the project has ${shown(id)} with other content; --update overwrites it, --rename keeps both`;
}
