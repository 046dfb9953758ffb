// Finds fields that both sides of a sync have changed. The other tool's value wins, and the
// replaced value is reported, so that no edit is lost silently.

import type { BeadsChanges, BeadsField } from '../../core/exchange/beads-base.ts';
import { parseBeads } from '../../core/exchange/import-beads.ts';
import { splitLines } from '../../core/exchange/import-jsonl.ts';
import type { SessionPlan } from '../../core/exchange/import-session.ts';
import { emptyProject, type ExistingTask } from '../../core/exchange/import-types.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import type { ImportResultView } from '../../protocol/api.ts';
import type { StoredProject } from './import-existing.ts';

export interface SyncedSides {
  /** The file at the last sync, when both sides were equal. */
  readonly base: string;
  readonly file: SessionPlan;
  readonly changed: BeadsChanges['changed'];
  /** Ids whose changes wait for the end of an attempt. */
  readonly later: readonly string[];
  readonly project: StoredProject;
}

export function conflictWarnings(sides: SyncedSides): ImportResultView['warnings'] {
  const { base, file, changed, later, project } = sides;
  const both = [...changed].filter(([id]) => project.tasks.has(id) && !later.includes(id));
  if (both.length === 0) return [];
  const before = parseBeads(splitLines(base), emptyProject);
  const [old, theirs] = [byId(before.tasks), byId(file.updatedTasks)];
  return both.flatMap(([id, fields]) => {
    const ours = project.tasks.get(id);
    const [was, is] = [old.get(id), theirs.get(id) ?? ours];
    if (ours === undefined || was === undefined || is === undefined) return [];
    const states = [before.states, file.states].map((all) => all.get(id)?.status);
    const replaced = [...fields].flatMap((field) => {
      const [here, then, there] =
        field === 'state'
          ? [project.statuses.get(id), ...states].map(wayOf)
          : [ours, was, is].map((task) => valueOf(task, field));
      const isBoth = here !== null && here !== then && here !== there;
      return isBoth ? [`${names[field]} ${JSON.stringify(here)}`] : [];
    });
    if (replaced.length === 0) return [];
    const message = `It was changed here and in Beads, whose values were taken. Replaced: ${replaced.join(', ')}.`;
    return [{ line: 0, id, message }];
  });
}

function byId<T extends { readonly id: string }>(records: readonly T[]): ReadonlyMap<string, T> {
  return new Map(records.map((record) => [record.id, record]));
}

const names: Readonly<Record<BeadsField, string>> = {
  title: 'title',
  text: 'description',
  priority: 'priority',
  labels: 'labels',
  type: 'type',
  edges: 'dependencies',
  state: 'state',
};

function valueOf(task: ExistingTask, field: Exclude<BeadsField, 'state'>): unknown {
  switch (field) {
    case 'title':
    case 'priority':
    case 'type':
      return task[field];
    case 'text':
      return task.description.trim();
    case 'labels':
      return task.labels.toSorted().join(', ');
    case 'edges':
      return [task.parentId ?? task.epicId ?? '', ...task.blockedBy.toSorted()].join(' ').trim();
  }
}

/** Returns null if the engine is processing the task, whose next state then decides. */
function wayOf(status: TaskStatus | undefined): string | null {
  switch (status) {
    case 'ready':
    case 'blocked':
      return 'open';
    case 'completed':
    case 'cancelled':
      return 'closed';
    case 'paused':
      return 'paused';
    default:
      return null;
  }
}
