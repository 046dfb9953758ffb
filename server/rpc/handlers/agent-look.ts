// What an agent may see: its own task with what is around it, and the board in short.

import { Refusal } from '../../core/failure.ts';
import type { AgentBoard, AgentTask } from '../../protocol/agent-requests.ts';
import { familyOf, type TaskRow } from '../../store/port.ts';
import { type Db, readAtOneMoment, textList } from '../../store/rows/read.ts';
import type { AgentScope } from '../../workflows/engine.ts';
import { attemptAtWork } from './agent-attempt.ts';

const boardTasksMax = 200;
const subTasksMax = 200;
const blockersMax = 100;
const resultCharactersMax = 2_000;

export async function taskForAgent(
  db: Db,
  scope: AgentScope,
  wanted: string | undefined,
): Promise<AgentTask> {
  return readAtOneMoment(db, async (at) => {
    await attemptAtWork(at, scope);
    const id = wanted ?? scope.part;
    const family = await familyOf(at, scope.taskId);
    const blockers = await at
      .selectFrom('task_dependencies')
      .select('blocked_by')
      .where('task_id', 'in', family)
      .execute();
    const isAround = family.includes(id) || blockers.some((edge) => edge.blocked_by === id);
    const row = isAround ? await rowOf(at, id) : undefined;
    if (row === undefined) {
      throw new Refusal(
        'not_yours',
        `${id.slice(0, 80)} is neither your task nor one that it waits for. The board lists the tasks.`,
      );
    }
    return viewOf(at, scope, row);
  });
}

async function rowOf(db: Db, id: string): Promise<TaskRow | undefined> {
  return db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst();
}

async function viewOf(db: Db, scope: AgentScope, row: TaskRow): Promise<AgentTask> {
  const subTasks = await db
    .selectFrom('tasks')
    .select(['id', 'title', 'status'])
    .where('parent_id', '=', row.id)
    .orderBy('sequence_number')
    .limit(subTasksMax)
    .execute();
  const blockers = await db
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select(['b.id', 'b.title', 'b.status', 'b.verdict_reason', 'b.landed_sha'])
    .where('d.task_id', '=', row.id)
    .orderBy('b.id')
    .limit(blockersMax)
    .execute();
  return {
    id: row.id,
    title: row.title,
    description: row.description ?? '',
    type: row.type,
    status: row.status,
    epic: row.epic_id,
    parent: row.parent_id,
    acceptance_criteria: textList(row.acceptance_criteria),
    attempt: scope.attempt,
    sub_tasks: subTasks,
    blockers: blockers.map(({ verdict_reason: result, ...blocker }) => ({
      ...blocker,
      result: (result ?? '').slice(0, resultCharactersMax),
    })),
  };
}

/** The tasks of the same epic first: those are the neighbours. */
export async function boardForAgent(db: Db, scope: AgentScope): Promise<AgentBoard> {
  return readAtOneMoment(db, async (at) => {
    const { task } = await attemptAtWork(at, scope);
    const counted = await at
      .selectFrom('tasks')
      .select((eb) => ['status', eb.fn.countAll<number>().as('count')])
      .groupBy('status')
      .execute();
    const total = counted.reduce((sum, row) => sum + row.count, 0);
    const rows = await at
      .selectFrom('tasks')
      .select(['id', 'title', 'status', 'epic_id', 'parent_id'])
      .orderBy((eb) => eb('epic_id', 'is not distinct from', task.epic_id), 'desc')
      .orderBy('position')
      .limit(boardTasksMax)
      .execute();
    const ids = rows.map((row) => row.id);
    const edges = await at
      .selectFrom('task_dependencies')
      .selectAll()
      .where('task_id', 'in', ids)
      .orderBy('blocked_by')
      .execute();
    return {
      counts: Object.fromEntries(counted.map((row) => [row.status, row.count])),
      tasks: rows.map(({ epic_id: epic, parent_id: parent, ...row }) => ({
        ...row,
        epic,
        parent,
        blocked_by: edges.filter((edge) => edge.task_id === row.id).map((edge) => edge.blocked_by),
      })),
      left_out: total - rows.length,
    };
  });
}
