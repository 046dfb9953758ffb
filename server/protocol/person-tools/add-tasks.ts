// Tasks that a user's language model adds: parsed, checked against the board, and converted to the
// lines of an import, which accepts all of them or none.

import { newId, randomBytesPerId } from '../../core/ids.ts';
import type { Task } from '../../core/plan/task.ts';
import type { StatusSnapshot } from '../views.ts';
import { InputFault, listIn, textIn, textsIn, wantedText } from './input.ts';
import { tasksAtOnceMax } from './tools.ts';

export interface NewTask extends Pick<
  Task,
  'id' | 'title' | 'description' | 'acceptanceCriteria' | 'blockedBy'
> {
  readonly priority: string | null;
}

export interface NewTasks {
  /** Null for a task without an epic. */
  readonly epic: { readonly id: string; readonly title: string; readonly isNew: boolean } | null;
  readonly tasks: readonly NewTask[];
  /** The input of an import. */
  readonly jsonl: string;
}

type PlannedBoard = Pick<StatusSnapshot, 'tasks' | 'epics'>;

/** Throws an `InputFault` that names the necessary change. */
export function newTasks(
  input: unknown,
  board: PlannedBoard,
  random: (bytes: number) => Uint8Array,
): NewTasks {
  const items = listIn(input, 'tasks');
  if (items.length === 0 || items.length > tasksAtOnceMax) {
    throw new InputFault(`"tasks" must hold 1 to ${tasksAtOnceMax} tasks.`);
  }
  const ids = keyedIds(items, board, random);
  const tasks = items.map((item, index): NewTask => {
    const place = `tasks[${index}]`;
    return {
      id: ids.own[index] ?? '',
      title: wantedText(item, 'title', place),
      description: wantedText(item, 'description', place),
      acceptanceCriteria: textsIn(item, 'acceptanceCriteria'),
      blockedBy: textsIn(item, 'blockedBy').map((name) => blockerOf(name, place, ids.byKey, board)),
      priority: textIn(item, 'priority'),
    };
  });
  const epic = epicOf(textIn(input, 'epic'), board, random);
  return { epic, tasks, jsonl: linesOf(epic, tasks) };
}

function keyedIds(
  items: readonly unknown[],
  board: PlannedBoard,
  random: (bytes: number) => Uint8Array,
): { readonly own: readonly string[]; readonly byKey: ReadonlyMap<string, string> } {
  const used = new Set(board.tasks.map(({ id }) => id));
  const byKey = new Map<string, string>();
  const own = items.map((item, index) => {
    let id = newId('task', random(randomBytesPerId));
    while (used.has(id)) id = newId('task', random(randomBytesPerId));
    used.add(id);
    const key = textIn(item, 'key');
    if (key === null) return id;
    if (byKey.has(key)) {
      throw new InputFault(
        `tasks[${index}] has the key "${key}" of an earlier task. Use each key once.`,
      );
    }
    byKey.set(key, id);
    return id;
  });
  return { own, byKey };
}

function blockerOf(
  name: string,
  place: string,
  byKey: ReadonlyMap<string, string>,
  board: PlannedBoard,
): string {
  const known = byKey.get(name) ?? board.tasks.find(({ id }) => id === name)?.id;
  if (known !== undefined) return known;
  throw new InputFault(
    `"blockedBy" of ${place} names "${name}", which is neither a key of this call nor the id of a task on the board. Call drover_read_board for the ids.`,
  );
}

function epicOf(
  name: string | null,
  board: PlannedBoard,
  random: (bytes: number) => Uint8Array,
): NewTasks['epic'] {
  if (name === null || name.trim() === '') return null;
  const known = board.epics.find(({ id, title }) => id === name || title === name);
  if (known !== undefined) {
    if (known.status === 'open') return { id: known.id, title: known.title, isNew: false };
    throw new InputFault(`The epic "${known.title}" is closed. Name another title to create one.`);
  }
  if (/^epic-[a-z2-7]{8}$/.test(name)) {
    throw new InputFault(`Epic ${name} does not exist. Call drover_read_board for the ids.`);
  }
  return { id: newId('epic', random(randomBytesPerId)), title: name.trim(), isNew: true };
}

function linesOf(epic: NewTasks['epic'], tasks: readonly NewTask[]): string {
  const records: object[] = tasks.map((task) => ({
    id: task.id,
    type: 'story',
    ...(epic === null ? {} : { epic_id: epic.id }),
    title: task.title,
    description: task.description,
    acceptance_criteria: task.acceptanceCriteria,
    ...(task.blockedBy.length === 0 ? {} : { blocked_by: task.blockedBy }),
    ...(task.priority === null ? {} : { priority: task.priority }),
  }));
  if (epic?.isNew === true) records.unshift({ id: epic.id, type: 'epic', title: epic.title });
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
