// An agent's view: its own task with related tasks, and a summary of the board.

import { Refusal } from '../../core/failure.ts';
import type { AgentBoard, AgentTask } from '../../protocol/agent-views.ts';
import {
  readBlockers,
  countsInScope,
  taskAndSubTaskIds,
  readNeighbors,
  type Reads,
  readSubTasks,
  taskById,
  type TaskRow,
  textList,
} from '../../store/port.ts';
import { readEdges } from '../../store/status/graph-rows.ts';
import { readAtOneMoment } from '../../store/rows/one-moment.ts';
import { attemptAtWork } from './agent-attempt.ts';
import type { AgentScope } from '../../workflows/kit/engine-ports.ts';

export async function taskForAgent(
  db: Reads,
  scope: AgentScope,
  wanted: string | undefined,
): Promise<AgentTask> {
  return readAtOneMoment(db, async (at) => {
    await attemptAtWork(at, scope);
    const id = wanted ?? scope.part;
    const family = await taskAndSubTaskIds(at, scope.taskId);
    const blockers = await readBlockers(at, family);
    const isAround = family.includes(id) || blockers.some((blocker) => blocker.id === id);
    const row = isAround ? await taskById(at, id) : null;
    if (row === null) {
      throw new Refusal(
        'not_yours',
        `${id.slice(0, 80)} is neither your task nor one that it waits for. The board lists the tasks.`,
      );
    }
    return viewOf(at, scope, row);
  });
}

const subTasksMax = 200;
const blockersMax = 100;
const resultCharactersMax = 2_000;

async function viewOf(db: Reads, scope: AgentScope, row: TaskRow): Promise<AgentTask> {
  const subTasks = (await readSubTasks(db, row.id)).slice(0, subTasksMax);
  const blockers = (await readBlockers(db, [row.id])).slice(0, blockersMax);
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
    blockers: blockers.map(({ id, title, status, landed_sha, verdict_reason: result }) => ({
      id,
      title,
      status,
      landed_sha,
      result: (result ?? '').slice(0, resultCharactersMax),
    })),
  };
}

const boardTasksMax = 200;

/** Tasks of the same epic come first, because they are most relevant. */
export async function boardForAgent(db: Reads, scope: AgentScope): Promise<AgentBoard> {
  return readAtOneMoment(db, async (at) => {
    const { task } = await attemptAtWork(at, scope);
    const counts = await countsInScope(at, { epicId: null, exceptEpics: [], tasks: null });
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const rows = await readNeighbors(at, task.epic_id, boardTasksMax);
    const ids = rows.map((row) => row.id);
    const edges = await readEdges(at, ids);
    return {
      counts: Object.fromEntries(counts),
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
