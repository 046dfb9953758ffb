// Writes the plan as JSONL, one record per line, which `import` reads back to the same content.

import { parentsFirst } from './export-session.ts';
import { withoutCriteria } from './import-record.ts';
import type { Epic, Task } from '../plan/task.ts';
import { type TaskRules, writtenTaskRules } from './task-rules.ts';

export type JsonlTask = Pick<
  Task,
  | 'id'
  | 'title'
  | 'description'
  | 'acceptanceCriteria'
  | 'epicId'
  | 'parentId'
  | 'sequence'
  | 'type'
  | 'priority'
  | 'labels'
  | 'blockedBy'
> &
  TaskRules;

export type JsonlEpic = Pick<Epic, 'id' | 'title' | 'description' | 'runsOn'>;

export function exportJsonl(epics: readonly JsonlEpic[], tasks: readonly JsonlTask[]): string {
  const records = [...epics.map(epicRecord), ...parentsFirst(tasks).map(taskRecord)];
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function epicRecord(epic: JsonlEpic): Readonly<Record<string, unknown>> {
  return {
    id: epic.id,
    type: 'epic',
    title: epic.title,
    ...(epic.description === '' ? {} : { description: epic.description }),
    ...(epic.runsOn ? { runs_on: epic.runsOn } : {}),
  };
}

function taskRecord(task: JsonlTask): Readonly<Record<string, unknown>> {
  const description = withoutCriteria(task.description, task.acceptanceCriteria);
  return {
    id: task.id,
    type: task.parentId === null ? 'story' : 'task',
    ...(task.parentId === null ? {} : { parent_id: task.parentId }),
    // A sub-task has its parent's epic and does not repeat it.
    ...(task.epicId === null || task.parentId !== null ? {} : { epic_id: task.epicId }),
    title: task.title,
    ...(description === '' ? {} : { description }),
    ...(task.acceptanceCriteria.length === 0
      ? {}
      : { acceptance_criteria: task.acceptanceCriteria }),
    // An import accepts only 0 to 100.
    priority: Math.min(Math.max(task.priority, 0), 100),
    ...(task.labels.length === 0 ? {} : { labels: task.labels }),
    ...(task.blockedBy.length === 0 ? {} : { blocked_by: task.blockedBy }),
    task_type: task.type,
    ...writtenTaskRules(task),
  };
}
