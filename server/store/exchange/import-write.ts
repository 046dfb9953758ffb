// Writes an import's plan, ten thousand records in a few statements, inside the caller's
// transaction.

import type { Insertable, Updateable } from 'kysely';
import { criticalPathLengths } from '../../core/plan/graph.ts';
import type { ImportedState } from '../../core/exchange/import-session.ts';
import type {
  ExistingTask,
  ImportedEpic,
  ImportedTask,
  ImportPlan,
} from '../../core/exchange/import-types.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import { nextEpicPosition } from '../plan/epics.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { rebuildChains } from '../status/graph-rows.ts';
import type { StoredProject } from './import-existing.ts';
import { stateColumns, workColumns } from './import-state.ts';
import { inParts } from '../rows/one-moment.ts';
import { refreshReadiness, withParents } from '../status/readiness.ts';
import type { EventTable, TaskTable, Tx } from '../schema/tables.ts';
import { insertBlockers, nextTaskPosition } from '../plan/tasks.ts';
import { taskAndSubTaskIds } from '../status/transition.ts';
import { columnsOfTaskRules, saidColumns } from '../../core/exchange/task-rule-columns.ts';
import type { GraphNode } from '../../core/plan/graph-edges.ts';

export interface ImportTarget {
  readonly project: StoredProject;
  /** File name for the column `source`. */
  readonly file: string;
  readonly maxAttempts: number;
  /** The states of tasks in the file, apart from their content. */
  readonly states: ReadonlyMap<string, ImportedState>;
  readonly closedEpics: ReadonlySet<string>;
  /** Creation times in Unix seconds, if the file contains them. */
  readonly epicTimes: ReadonlyMap<string, number>;
  /** The file is from another repository, so its commits and branches have no meaning here. */
  readonly isForeign: boolean;
}

/** Rows per INSERT. Their values must stay below SQLite's limit for parameters. */
const rowsPerInsert = 250;

export async function writePlan(
  tx: Tx,
  sources: StoreSources,
  plan: ImportPlan,
  target: ImportTarget,
): Promise<void> {
  await writeEpics(tx, sources, plan.epics, target);
  for (const epic of plan.updatedEpics) await updateEpic(tx, sources, epic);
  const nodes = finalGraph(plan, target.project);
  const chains = criticalPathLengths(nodes);
  const blocked = blockedIds(nodes, target);
  await writeTasks(tx, sources, plan.tasks, { ...target, chains, blocked });
  for (const task of plan.updatedTasks) {
    await updateTask(tx, sources, task, target.project.tasks.get(task.id));
  }
  if (target.project.tasks.size > 0) await settleExisting(tx, sources, plan, target, nodes);
}

/** All tasks as they will be after the import. */
function finalGraph(plan: ImportPlan, project: StoredProject): GraphNode[] {
  const nodes = new Map<string, GraphNode>(project.tasks);
  for (const task of [...plan.updatedTasks, ...plan.tasks]) nodes.set(task.id, task);
  return [...nodes.values()];
}

/** Tasks that wait for an unfinished task, directly or through a sub-task. */
function blockedIds(
  nodes: readonly GraphNode[],
  { project, states }: Pick<ImportTarget, 'project' | 'states'>,
): Set<string> {
  const statusOf = (id: string): TaskStatus | undefined =>
    project.statuses.get(id) ?? states.get(id)?.status;
  const parents = new Map(nodes.map((node) => [node.id, node.parentId]));
  const lineOf = (id: string): string[] => {
    const line = [id];
    let parent = parents.get(id) ?? null;
    while (parent !== null && line.length < 4) {
      line.push(parent);
      parent = parents.get(parent) ?? null;
    }
    return line;
  };
  const blocked = new Set<string>();
  for (const node of nodes) {
    if (node.blockedBy.length === 0) continue;
    const line = lineOf(node.id);
    const isUnmet = node.blockedBy.some(
      (blocker) => statusOf(blocker) !== 'completed' && lineOf(blocker).at(-1) !== line.at(-1),
    );
    if (isUnmet) for (const id of line) blocked.add(id);
  }
  return blocked;
}

async function writeEpics(
  tx: Tx,
  sources: StoreSources,
  epics: readonly ImportedEpic[],
  target: ImportTarget,
): Promise<void> {
  const position = await nextEpicPosition(tx);
  const now = Math.floor(sources.clock.now() / 1000);
  for (const [index, epic] of epics.entries()) {
    await tx
      .insertInto('epics')
      .values({
        id: epic.id,
        title: epic.title,
        description: epic.description === '' ? null : epic.description,
        created_at: target.epicTimes.get(epic.id) ?? now,
        status: target.closedEpics.has(epic.id) ? 'closed' : 'open',
        position: position + index,
        runs_on: epic.runsOn ?? null,
        source: JSON.stringify({ file: target.file, line: epic.line }),
      })
      .execute();
    await appendEvent(tx, sources, {
      type: 'epic.created',
      epicId: epic.id,
      data: { title: epic.title, file: target.file },
    });
  }
}

async function updateEpic(tx: Tx, sources: StoreSources, epic: ImportedEpic): Promise<void> {
  await tx
    .updateTable('epics')
    .set({
      title: epic.title,
      description: epic.description === '' ? null : epic.description,
      ...(epic.runsOn ? { runs_on: epic.runsOn } : {}),
    })
    .where('id', '=', epic.id)
    .execute();
  await appendEvent(tx, sources, {
    type: 'epic.edited',
    epicId: epic.id,
    data: { title: epic.title, by: 'import' },
  });
}

interface NewTaskFacts extends ImportTarget {
  readonly chains: ReadonlyMap<string, number>;
  readonly blocked: ReadonlySet<string>;
}

async function writeTasks(
  tx: Tx,
  sources: StoreSources,
  tasks: readonly ImportedTask[],
  facts: NewTaskFacts,
): Promise<void> {
  const nowMs = sources.clock.now();
  const now = Math.floor(nowMs / 1000);
  const places = placesByLine(tasks, await nextTaskPosition(tx));
  const rows = tasks.map((task): Insertable<TaskTable> => ({
    ...columnsOf(task),
    id: task.id,
    ...columnsOfTaskRules({ ...task, maxAttempts: task.maxAttempts ?? facts.maxAttempts }),
    status: statusOf(task.id, facts),
    chain: facts.chains.get(task.id) ?? 1,
    created_at: now,
    updated_at: now,
    position: places.get(task.id) ?? 0,
    source: sourceOf(task, facts),
    ...stateColumns(facts.states.get(task.id), facts.isForeign),
  }));
  const edges = tasks.flatMap((task) =>
    task.blockedBy.map((blocker) => ({ task_id: task.id, blocked_by: blocker })),
  );
  const events = tasks.map((task): Insertable<EventTable> => ({
    id: sources.uuid(),
    type: 'task.created',
    timestamp: now,
    at_ms: nowMs,
    task_id: task.id,
    epic_id: task.epicId,
    data: JSON.stringify({
      title: task.title,
      status: statusOf(task.id, facts),
      parent: task.parentId,
      blocked_by: task.blockedBy,
      file: facts.file,
    }),
  }));
  for (const part of inParts(rows, rowsPerInsert)) {
    await tx.insertInto('tasks').values(part).execute();
  }
  for (const part of inParts(edges, rowsPerInsert)) {
    await tx
      .insertInto('task_dependencies')
      .values(part)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  for (const part of inParts(events, rowsPerInsert)) {
    await tx.insertInto('events').values(part).execute();
    sources.appended?.();
  }
}

/**
 * The record's origin. Commits that this repository does not have are kept in it for a later
 * export.
 */
function sourceOf(task: ImportedTask, facts: NewTaskFacts): string {
  const state = facts.isForeign ? facts.states.get(task.id) : undefined;
  const work = state === undefined ? {} : { work: workColumns(state) };
  return JSON.stringify({ file: facts.file, line: task.line, ...work });
}

/** Ready or blocked is derived from the blockers. Every other state is taken from the file. */
function statusOf(id: string, facts: NewTaskFacts): TaskStatus {
  const state = facts.states.get(id);
  const derived = facts.blocked.has(id) ? 'blocked' : 'ready';
  if (state === undefined || state.status === 'ready') return derived;
  if (state.status === 'blocked') return state.blockedReason === null ? derived : 'blocked';
  return state.status;
}

/** Consecutive numbers in file order. */
function placesByLine(tasks: readonly ImportedTask[], first: number): Map<string, number> {
  const byLine = tasks.toSorted((a, b) => a.line - b.line);
  return new Map(byLine.map((task, index) => [task.id, first + index]));
}

function columnsOf(task: ImportedTask) {
  return {
    title: task.title,
    description: task.description === '' ? null : task.description,
    epic_id: task.epicId,
    parent_id: task.parentId,
    sequence_number: task.sequence,
    type: task.type,
    priority: task.priority,
    labels: JSON.stringify(task.labels),
    acceptance_criteria: JSON.stringify(task.acceptanceCriteria),
  } satisfies Updateable<TaskTable>;
}

/** Writes the record's fields. Omitted fields keep their value. */
async function updateTask(
  tx: Tx,
  sources: StoreSources,
  task: ImportedTask,
  before: ExistingTask | undefined,
): Promise<void> {
  const set: Updateable<TaskTable> = {
    ...columnsOf(task),
    ...saidColumns(task),
    updated_at: Math.floor(sources.clock.now() / 1000),
  };
  await tx.updateTable('tasks').set(set).where('id', '=', task.id).execute();
  if (hasOtherEdges(task, before)) {
    await tx.deleteFrom('task_dependencies').where('task_id', '=', task.id).execute();
    await insertBlockers(tx, task.id, task.blockedBy);
  }
  if (task.epicId !== before?.epicId) {
    await tx
      .updateTable('tasks')
      .set({ epic_id: task.epicId })
      .where('id', 'in', await taskAndSubTaskIds(tx, task.id))
      .execute();
  }
  await appendEvent(tx, sources, {
    type: 'task.edited',
    taskId: task.id,
    epicId: task.epicId,
    data: { title: task.title, by: 'import', from_parent: before?.parentId ?? null },
  });
}

/** Whether its blockers or its parent have changed. */
function hasOtherEdges(task: ImportedTask, before: ExistingTask | undefined): boolean {
  if (before === undefined || before.parentId !== task.parentId) return true;
  const old = new Set(before.blockedBy);
  return old.size !== task.blockedBy.length || task.blockedBy.some((id) => !old.has(id));
}

/** Applies the effects of new edges to existing tasks. */
async function settleExisting(
  tx: Tx,
  sources: StoreSources,
  plan: ImportPlan,
  { project }: Pick<ImportTarget, 'project'>,
  nodes: readonly GraphNode[],
): Promise<void> {
  await rebuildChains(tx, nodes);
  const touched = new Set<string>();
  for (const task of plan.updatedTasks) {
    const before = project.tasks.get(task.id);
    if (!hasOtherEdges(task, before)) continue;
    if (before !== undefined && before.parentId !== null) touched.add(before.parentId);
    for (const id of await taskAndSubTaskIds(tx, task.id)) touched.add(id);
    for (const id of await withParents(tx, task.id)) touched.add(id);
  }
  const fresh = new Set(plan.tasks.map((task) => task.id));
  for (const task of plan.tasks) {
    if (task.parentId === null || fresh.has(task.parentId)) continue;
    for (const id of await withParents(tx, task.parentId)) touched.add(id);
  }
  await refreshReadiness(tx, sources, touched);
}
