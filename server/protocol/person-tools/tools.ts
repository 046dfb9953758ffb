// The tools by which a user's language model plans and decides: names, descriptions and parameters.
// VS Code's manifest contains the same ones (a test compares them), and other hosts can offer them
// too.

export const personToolNames = [
  'drover_read_board',
  'drover_show_task',
  'drover_explain_task',
  'drover_add_tasks',
  'drover_run_epic',
  'drover_answer_question',
] as const;
export type PersonToolName = (typeof personToolNames)[number];

export interface PersonTool {
  readonly title: string;
  /** For people. */
  readonly description: string;
  /** For the model: the tool's effect, its limits, and how to react to a refusal. */
  readonly modelDescription: string;
  /** JSON schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** False if it changes something, so that the user must confirm it. */
  readonly isReadOnly: boolean;
}

export const tasksAtOnceMax = 100;
export const boardTasksMax = 200;

const epicField = {
  type: 'string',
  description: 'Id or exact title of an epic. Without it: the whole project.',
} as const;
const taskField = { type: 'string', description: 'Id of a task, as drover_read_board lists it.' };
const texts = { type: 'array', items: { type: 'string' } } as const;

function objectOf(
  properties: Readonly<Record<string, object>>,
  required?: readonly string[],
): Readonly<Record<string, unknown>> {
  const needed = required === undefined ? {} : { required };
  return { type: 'object', additionalProperties: false, ...needed, properties };
}

export const personTools: { readonly [N in PersonToolName]: PersonTool } = {
  drover_read_board: {
    title: 'Read the board',
    description: 'Epics, tasks with their states and dependencies, open questions, the last run',
    modelDescription: `Reads the Drover board of this workspace: the last run, the epics, the tasks (id, state, title, what each waits for) and the open questions with their ids. At most ${boardTasksMax} tasks, unfinished ones first; name an epic to see the rest. Changes nothing.`,
    inputSchema: objectOf({ epic: epicField }),
    isReadOnly: true,
  },
  drover_show_task: {
    title: 'Show a task',
    description: 'One task with its description, criteria, dependencies and attempts',
    modelDescription:
      'Shows one Drover task in full: description, acceptance criteria, dependencies both ways, attempts with agent, outcome, error and cost, and the commit that landed. Changes nothing.',
    inputSchema: objectOf({ id: taskField }, ['id']),
    isReadOnly: true,
  },
  drover_explain_task: {
    title: 'Explain why a task is not running',
    description: 'Why a task is waiting, failed or not running',
    modelDescription:
      "Explains why a Drover task is not running or has not landed, based on the engine's state. Use it instead of guessing. Changes nothing.",
    inputSchema: objectOf({ id: taskField }, ['id']),
    isReadOnly: true,
  },
  drover_add_tasks: {
    title: 'Add tasks',
    description: 'Adds tasks with dependencies to an epic, all of them or none',
    modelDescription: `Adds 1 to ${tasksAtOnceMax} tasks to the Drover board, all of them or none. Each task is worked on by another agent in its own worktree, which sees only the description and what its blockers have landed: include everything that it needs to know, and acceptance criteria that can be checked. Tasks without a dependency between them run in parallel, so let tasks that change the same files depend on each other. "key" names a task inside this call; "blockedBy" takes such keys or ids of tasks on the board. "epic" is the id or title of an epic; one with a new title is created. Nothing runs until drover_run_epic or the person starts it.`,
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['tasks'],
      properties: {
        epic: {
          type: 'string',
          description: 'Id or title of the epic. A title that no epic has creates the epic.',
        },
        tasks: {
          type: 'array',
          minItems: 1,
          maxItems: tasksAtOnceMax,
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['title', 'description'],
            properties: {
              key: { type: 'string', description: 'Name of this task inside the call.' },
              title: { type: 'string', description: 'What is to be done, in one line.' },
              description: { type: 'string', description: 'Everything that the agent must know.' },
              acceptanceCriteria: {
                ...texts,
                description: 'How to tell that it is done, one sentence each.',
              },
              blockedBy: {
                ...texts,
                description: 'Keys of this call or ids of tasks that must land first.',
              },
              priority: { type: 'string', enum: ['critical', 'high', 'normal', 'low'] },
            },
          },
        },
      },
    },
    isReadOnly: false,
  },
  drover_run_epic: {
    title: 'Run an epic',
    description: 'Starts agents on the tasks of an epic, or on all open tasks',
    modelDescription:
      'Starts a run: agents work on the open tasks of an epic in parallel, each in its own worktree; tested work lands on the target branch of the local repository and nothing is pushed. Checks first, and refuses with the remedy if a run cannot start. Returns once the run has started; use drover_read_board to follow it.',
    inputSchema: objectOf({ epic: epicField }),
    isReadOnly: false,
  },
  drover_answer_question: {
    title: 'Answer a question',
    description: "Answers an agent's question",
    modelDescription:
      'Answers an open question of a working agent by its id (drover_read_board lists them). "answer" must be one of its choices if it has any. A permission lets the agent do something: answer it only as the person told you.',
    inputSchema: objectOf(
      {
        id: { type: 'string', description: 'Id of the question.' },
        answer: { type: 'string', description: 'One of its choices, or text if it has none.' },
      },
      ['id', 'answer'],
    ),
    isReadOnly: false,
  },
};
