// Reads the project's tasks and epics in the form that an import compares with.

import type {
  EpicContent,
  ExistingProject,
  ExistingTask,
} from '../../core/exchange/import-types.ts';
import { type TaskType, taskTypes } from '../../core/plan/task.ts';
import { type RunPlace, runPlaces } from '../../core/settings/remote-settings.ts';
import { type Db, textList } from '../rows/one-moment.ts';
import type { TaskRow } from '../schema/tables.ts';
import { taskRulesOfColumns } from '../../core/exchange/task-rule-columns.ts';

export type StoredProject = ExistingProject & {
  readonly statuses: ReadonlyMap<string, TaskRow['status']>;
};

export async function readProject(db: Db): Promise<StoredProject> {
  const { rows, blockers } = await plannedTasks(db);
  const tasks = new Map<string, ExistingTask>();
  const statuses = new Map<string, TaskRow['status']>();
  for (const row of rows) {
    tasks.set(row.id, toExistingTask(row, blockers.get(row.id) ?? []));
    statuses.set(row.id, row.status);
  }
  const epics = new Map<string, EpicContent>();
  const epicRows = await db
    .selectFrom('epics')
    .select(['id', 'title', 'description', 'runs_on'])
    .orderBy('position')
    .execute();
  for (const { id, title, description, runs_on: place } of epicRows) {
    epics.set(id, { id, title, description: description ?? '', runsOn: runPlace(place) });
  }
  return { tasks, epics, statuses };
}

/** Tasks that users created, with the blockers of each. */
export async function plannedTasks(db: Db): Promise<{
  readonly rows: readonly TaskRow[];
  readonly blockers: ReadonlyMap<string, readonly string[]>;
}> {
  const blockers = new Map<string, string[]>();
  for (const edge of await plannedEdges(db)) {
    const list = blockers.get(edge.task_id);
    if (list === undefined) blockers.set(edge.task_id, [edge.blocked_by]);
    else list.push(edge.blocked_by);
  }
  const rows = await db
    .selectFrom('tasks')
    .selectAll()
    .where('candidate_of', 'is', null)
    .orderBy('position')
    .execute();
  return { rows, blockers };
}

/** Edges that users created. A task's edges to its candidates are not part of the plan. */
async function plannedEdges(db: Db): Promise<readonly { task_id: string; blocked_by: string }[]> {
  return db
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as t', 't.id', 'd.task_id')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select(['d.task_id', 'd.blocked_by'])
    .where('t.candidate_of', 'is', null)
    .where('b.candidate_of', 'is', null)
    .execute();
}

export function toExistingTask(row: TaskRow, blockedBy: readonly string[]): ExistingTask {
  return {
    id: row.id,
    title: row.title,
    description: row.description ?? '',
    acceptanceCriteria: textList(row.acceptance_criteria),
    epicId: row.epic_id,
    parentId: row.parent_id,
    sequence: row.sequence_number,
    type: oneOf<TaskType>(taskTypes, row.type, 'other'),
    priority: row.priority,
    labels: textList(row.labels),
    blockedBy,
    ...taskRulesOfColumns(row),
  };
}

export function runPlace(given: string | null): RunPlace | null {
  return runPlaces.find((place) => place === given) ?? null;
}

function oneOf<Word extends string>(words: readonly Word[], given: string, otherwise: Word): Word {
  return words.find((word) => word === given) ?? otherwise;
}
