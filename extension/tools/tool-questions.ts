// The confirmation before a language model's tool changes something: the exact rows, by title.
// Pure.

import { randomBytes } from 'node:crypto';
import { formatCount } from '../../server/core/format.ts';
import { newTasks } from '../../server/protocol/person-tools/add-tasks.ts';
import { epicNamed, questionNamed } from '../../server/protocol/person-tools/carry-out.ts';
import { textIn, wantedText } from '../../server/protocol/person-tools/input.ts';
import type { PersonToolName } from '../../server/protocol/person-tools/tools.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { plainText } from '../notices/plain-text.ts';

const titleChars = 120;
const rowsMax = 20;

export interface Confirmation {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Returns null if the tool will refuse, because that needs no confirmation. */
export function confirmation(
  name: PersonToolName,
  input: unknown,
  board: StatusSnapshot,
): Confirmation | null {
  try {
    switch (name) {
      case 'drover_add_tasks':
        return addQuestion(input, board);
      case 'drover_run_epic':
        return runQuestion(input, board);
      case 'drover_answer_question':
        return answerQuestion(input, board);
      case 'drover_read_board':
      case 'drover_show_task':
      case 'drover_explain_task':
        return null;
    }
  } catch {
    return null;
  }
}

function addQuestion(input: unknown, board: StatusSnapshot): Confirmation {
  const { epic, tasks } = newTasks(input, board, randomBytes);
  const titles = new Map([...board.tasks, ...tasks].map(({ id, title }) => [id, title]));
  const where =
    epic === null ? '' : ` to ${epic.isNew ? 'the new epic ' : ''}“${short(epic.title)}”`;
  const rows = tasks.slice(0, rowsMax).map(({ title, blockedBy }) => {
    const after = blockedBy.map((id) => short(titles.get(id) ?? id)).join(', ');
    return `• ${short(title)}${after === '' ? '' : ` (after: ${after})`}`;
  });
  const rest = tasks.length - rows.length;
  return {
    title: `Add ${formatCount(tasks.length, 'task')}${where}?`,
    lines: [...rows, ...(rest > 0 ? [`and ${rest} more`] : []), 'Nothing runs until you start it.'],
  };
}

function runQuestion(input: unknown, board: StatusSnapshot): Confirmation {
  const epic = epicNamed(textIn(input, 'epic'), board);
  const branch = board.target?.branch ?? 'the target branch';
  return {
    title: epic === null ? 'Run all open tasks?' : `Run the epic “${short(epic.title)}”?`,
    lines: [
      `Agents start on its open tasks. Tested work lands on ${short(branch)} of this repository; nothing is pushed.`,
    ],
  };
}

function answerQuestion(input: unknown, board: StatusSnapshot): Confirmation {
  const question = questionNamed(wantedText(input, 'id'), board);
  const task = board.tasks.find(({ id }) => id === question.task_id)?.title ?? question.task_id;
  return {
    title: `Answer “${short(wantedText(input, 'answer'))}”?`,
    lines: [`${short(task)} asks: ${plainText(question.text, 600)}`],
  };
}

function short(text: string): string {
  return plainText(text, titleChars);
}
