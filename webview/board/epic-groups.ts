// Shows epics as single nodes of the graph if all of their tasks would be too many to read. Pure.

import type { TaskStatus } from '../../server/core/plan/state.ts';
import { completedShare } from '../../server/core/plan/outcome-words.ts';
import { countsByEpic, noTasks } from '../../server/core/plan/outcome.ts';
import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';

/** More tasks than this are not readable in one picture. */
export const tasksInSightMax = 100;

export interface GroupedBoard {
  readonly board: StatusSnapshot;
  /** The label of each node that represents an epic, by the epic's id. */
  readonly groups: ReadonlyMap<string, string>;
}

/** `epic` is the selected epic, whose tasks are shown individually. */
export function groupedByEpic(board: StatusSnapshot, epic: string | null): GroupedBoard {
  const tops = board.tasks.filter(({ parent_id: parent }) => parent === null);
  if (epic !== null || tops.length <= tasksInSightMax) return { board, groups: new Map() };
  const byEpic = Map.groupBy(board.tasks, ({ epic_id: id }) => id);
  const epicOf = new Map(board.tasks.map(({ id, epic_id: of }) => [id, of]));
  const counts = countsByEpic(board);
  const groups = new Map<string, string>();
  const nodes = board.epics.flatMap(({ id, title }): readonly TaskView[] => {
    const tasks = byEpic.get(id) ?? [];
    const [first] = tasks;
    if (first === undefined) return [];
    groups.set(id, `${completedShare(counts.get(id) ?? noTasks)} completed`);
    const blockers = new Set(
      tasks.flatMap(({ blocked_by: by }) => by.map((task) => epicOf.get(task) ?? task)),
    );
    blockers.delete(id);
    const status = statusOfAll(tasks);
    return [{ ...first, ...alone, id, title, status, blocked_by: [...blockers] }];
  });
  const loose = (byEpic.get(null) ?? []).map((task) => {
    const blockers = new Set(task.blocked_by.map((id) => epicOf.get(id) ?? id));
    return { ...task, blocked_by: [...blockers] };
  });
  return { board: { ...board, tasks: [...nodes, ...loose], questions: [] }, groups };
}

/** Clears the task fields that the node of an epic does not have. */
const alone = {
  parent_id: null,
  candidate_of: null,
  phase: null,
  block: null,
  blocked_reason: null,
  review_kind: null,
};

/** The state that is most important to a person. */
const telling: readonly TaskStatus[] = [
  'failed',
  'conflict',
  'needs_review',
  'in_progress',
  'claimed',
  'waiting',
  'ready',
  'blocked',
  'paused',
];

function statusOfAll(tasks: readonly TaskView[]): TaskStatus {
  const present = new Set(tasks.map(({ status }) => status));
  return telling.find((status) => present.has(status)) ?? 'completed';
}
