// Runs a tool of a user's language model through requests to the backend and returns text for the
// model. A refusal is thrown as a sentence with the remedy, and has changed nothing.

import { formatCost, stepText } from '../../core/format.ts';
import type { Answer, Params, RequestName } from '../api.ts';
import { canLand, listNeeds } from '../needs.ts';
import type { EpicView, QuestionView, StatusSnapshot, TaskView } from '../views.ts';
import { newTasks } from './add-tasks.ts';
import { InputFault, textIn, wantedText } from './input.ts';
import { boardTasksMax, type PersonToolName } from './tools.ts';

/** How the tools reach the backend, and the operations that differ by host. */
export interface PersonToolHost {
  request<N extends RequestName>(name: N, params: Params<N>): Promise<Answer<N>>;
  /** Starts a run with the user's environment; null = all open tasks. Returns a sentence. */
  startRun(epic: string | null): Promise<string>;
  readonly random: (bytes: number) => Uint8Array;
}

export async function runPersonTool(
  name: PersonToolName,
  input: unknown,
  host: PersonToolHost,
): Promise<string> {
  switch (name) {
    case 'drover_read_board':
      return await readBoard(input, host);
    case 'drover_show_task':
      return await showTask(input, host);
    case 'drover_explain_task': {
      const { reasons } = await host.request('why', { id: wantedText(input, 'id') });
      return reasons.join('\n');
    }
    case 'drover_add_tasks':
      return await addTasks(input, host);
    case 'drover_run_epic':
      return await runEpic(input, host);
    case 'drover_answer_question':
      return await answerQuestion(input, host);
  }
}

/** The epic that a model refers to. Does not guess if several epics have the title. */
export function epicNamed(
  name: string | null,
  board: Pick<StatusSnapshot, 'epics'>,
): EpicView | null {
  if (name === null || name.trim() === '') return null;
  const found = board.epics.filter(({ id, title }) => id === name || title === name);
  const [epic] = found;
  if (epic === undefined) {
    throw new InputFault(`Epic "${name}" does not exist. Call drover_read_board for the epics.`);
  }
  if (found.length > 1) {
    throw new InputFault(`Several epics have the title "${name}". Use the id of one of them.`);
  }
  return epic;
}

async function readBoard(input: unknown, host: PersonToolHost): Promise<string> {
  const board = await host.request('status', {});
  const epic = epicNamed(textIn(input, 'epic'), board);
  const isDone = ({ status }: TaskView): boolean =>
    status === 'completed' || status === 'cancelled';
  const meant = board.tasks
    .filter((task) => epic === null || task.epic_id === epic.id)
    .toSorted((a, b) => Number(isDone(a)) - Number(isDone(b)));
  const shown = meant.slice(0, boardTasksMax);
  const { run } = board;
  const lines = [
    run === null
      ? 'No run yet.'
      : `Run ${run.id}: ${run.active ? 'active' : 'ended'}, ${run.workers} workers, lands on ${run.target_branch} by ${run.land}.`,
    '',
    'Epics:',
    ...board.epics.map(
      ({ id, title, counts, landing_state: landing, status }) =>
        `- ${id} "${title}": ${counts.completed} of ${counts.total} tasks done${landing === null ? '' : `, ${landing}`}${status === 'closed' ? ', closed' : ''}`,
    ),
    '',
    `Tasks${epic === null ? '' : ` of "${epic.title}"`}:`,
    ...shown.map(taskLine),
    ...(meant.length > shown.length
      ? [`(${meant.length - shown.length} more, most of them finished; name an epic to see them.)`]
      : []),
    '',
    `Waiting for the person (${listNeeds(board).length}); open questions:`,
    ...board.questions.filter(({ state }) => state === 'open').map(questionLine),
  ];
  return lines.join('\n');
}

function taskLine(task: TaskView): string {
  const waits = task.waits_for.length === 0 ? '' : `, waits for ${task.waits_for.join(', ')}`;
  const epic = task.epic_id === null ? '' : `, in ${task.epic_id}`;
  const error =
    task.status === 'failed' && task.last_error !== null ? `, failed: ${task.last_error}` : '';
  return `- ${task.id} [${task.status}] ${task.title}${epic}${waits}${error}`;
}

function questionLine({ id, task_id: task, kind, text, choices }: QuestionView): string {
  const among = choices.length === 0 ? '' : ` Choices: ${choices.join(' | ')}`;
  return `- ${id} (${kind}, of ${task}): ${text}${among}`;
}

async function showTask(input: unknown, host: PersonToolHost): Promise<string> {
  const id = wantedText(input, 'id');
  const task = await host.request('task.show', { id });
  const attempts = await host.request('attempts', { id });
  const board = await host.request('status', {});
  const behind = board.tasks.filter(({ blocked_by: by }) => by.includes(id));
  const lines = [
    `${task.id} [${task.status}] ${task.title}`,
    ...(task.description === '' ? [] : ['', task.description]),
    ...(task.acceptance_criteria.length === 0
      ? []
      : ['', 'Acceptance criteria:', ...task.acceptance_criteria.map((text) => `- ${text}`)]),
    '',
    `Depends on: ${task.blocked_by.join(', ') || 'nothing'}. Others that depend on it: ${behind.map((each) => each.id).join(', ') || 'none'}.`,
    ...(task.last_error === null ? [] : [`Last error: ${task.last_error}`]),
    ...(task.landed_sha === null ? [] : [`Landed as ${task.landed_sha}.`]),
    ...attempts.map(
      ({ number, agent, model, state, error, cost }) =>
        `Attempt ${number}: ${stepText({ agent, model })}, ${state}, ${formatCost(cost)}${error === null ? '' : `, ${error}`}`,
    ),
  ];
  return lines.join('\n');
}

async function addTasks(input: unknown, host: PersonToolHost): Promise<string> {
  const board = await host.request('status', {});
  const { epic, tasks, jsonl } = newTasks(input, board, host.random);
  const { errors, warnings } = await host.request('import', {
    text: jsonl,
    bad_utf8_lines: [],
    file: 'drover_add_tasks',
    format: 'jsonl',
  });
  if (errors.length > 0) {
    const reasons = errors.map(({ message }) => message).join(' ');
    throw new InputFault(`Nothing was added: ${reasons}`);
  }
  return [
    `Added ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}${epic === null ? '' : ` to ${epic.id} "${epic.title}"`}:`,
    ...tasks.map(({ id, title }) => `- ${id} ${title}`),
    ...warnings.map(({ message }) => `Note: ${message}`),
    'Nothing runs yet.',
  ].join('\n');
}

async function runEpic(input: unknown, host: PersonToolHost): Promise<string> {
  const board = await host.request('status', {});
  const epic = epicNamed(textIn(input, 'epic'), board);
  const checked = await host.request('preflight', epic === null ? {} : { epic: epic.id });
  if (!checked.can_run) {
    const faults = checked.checks.filter(({ outcome }) => outcome === 'error');
    const words = faults.map(
      ({ message, remedy }) => `${message}${remedy === null ? '' : ` ${remedy}`}`,
    );
    throw new InputFault(`The run cannot start. ${words.join(' ')}`);
  }
  if (checked.tasks === 0 && (epic === null || !canLand(epic)))
    return 'Nothing is left to run there: no open task.';
  const said = await host.startRun(epic?.id ?? null);
  const warnings = checked.checks.filter(({ outcome }) => outcome === 'warning');
  return [said, ...warnings.map(({ message }) => `Warning: ${message}`)].join('\n');
}

/** The requested question, if it is open. */
export function questionNamed(
  id: string,
  { questions }: Pick<StatusSnapshot, 'questions'>,
): QuestionView {
  const question = questions.find((each) => each.id === id && each.state === 'open');
  if (question !== undefined) return question;
  throw new InputFault(`Question ${id} is not open. Call drover_read_board for open questions.`);
}

async function answerQuestion(input: unknown, host: PersonToolHost): Promise<string> {
  const id = wantedText(input, 'id');
  const choice = wantedText(input, 'answer');
  const board = await host.request('status', {});
  const { choices, task_id: task } = questionNamed(id, board);
  if (choices.length > 0 && !choices.includes(choice)) {
    throw new InputFault(`"answer" must be one of: ${choices.join(' | ')}.`);
  }
  await host.request('answer', { id, choice });
  return `Answered. The agent of ${task} continues.`;
}
