// The tools that an agent sees: their names, descriptions, and the backend request behind each one.

import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { AgentParams, AgentRequestName, AgentResult } from '../protocol/agent-requests.ts';
import { agentShapes } from '../protocol/requests/agents.ts';

export const instructions =
  'Drover assigned your task to you. These tools read the task and the board, add tasks, report a blocker, ask the person, report progress and leave notes for other agents. Drover applies its own rules: a refusal explains why, and changes nothing.';

export type Ask = <N extends AgentRequestName>(
  name: N,
  params: AgentParams<N>,
) => Promise<AgentResult<N>>;

const readOnly = { readOnlyHint: true, openWorldHint: false } as const;
const adding = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

const { title, description, accept, blocked_by } = agentShapes['agent.add'];
const { by, reason } = agentShapes['agent.block'];
const { text, choices } = agentShapes['agent.ask'];

/** The server checks types. Limits and rules are checked only by the backend. */
export function defineTools(server: McpServer, ask: Ask): void {
  defineReading(server, ask);
  definePlanning(server, ask);
  defineWords(server, ask);
}

/** The only tool of an agent that reviews, by which it submits its verdict. */
export function defineReviewTools(server: McpServer, ask: Ask): void {
  const { verdict, findings, criteria } = agentShapes['agent.review'];
  server.registerTool(
    'submit_review',
    {
      description:
        'Gives your verdict on the change: "block" if a finding is blocking or an acceptance criterion is not met, otherwise "pass". Judge each criterion, in the order of the task. A refusal names the missing parts; then call the tool again.',
      inputSchema: { verdict, findings, criteria },
      annotations: adding,
    },
    (given) => answer(() => ask('agent.review', given)),
  );
}

function defineReading(server: McpServer, ask: Ask): void {
  server.registerTool(
    'read_task',
    {
      description:
        'Returns your task with its acceptance criteria, its sub-tasks, and the results of the tasks that it waited for. With an id, returns one of these tasks.',
      inputSchema: agentShapes['agent.task'],
      annotations: readOnly,
    },
    ({ id }) => answer(() => ask('agent.task', id === undefined ? {} : { id })),
  );
  server.registerTool(
    'read_board',
    {
      description:
        "Returns a summary of all tasks, your own epic's tasks first: id, title, state, blockers.",
      annotations: readOnly,
    },
    () => answer(() => ask('agent.board', {})),
  );
}

function definePlanning(server: McpServer, ask: Ask): void {
  server.registerTool(
    'add_subtask',
    {
      description:
        'Adds a sub-task to your task. Sub-tasks run one after the other in this worktree after you end your turn, and land together with your task.',
      inputSchema: { title, description, accept },
      annotations: adding,
    },
    (given) => answer(() => ask('agent.add', { kind: 'sub_task', ...present(given) })),
  );
  server.registerTool(
    'add_followup',
    {
      description:
        'Adds a separate task that waits for yours, and for other tasks that you name. Use it for work that you discover and that is not part of your task.',
      inputSchema: {
        title,
        description,
        accept,
        blocked_by,
      },
      annotations: adding,
    },
    (given) => answer(() => ask('agent.add', { kind: 'follow_up', ...present(given) })),
  );
  server.registerTool(
    'declare_blocker',
    {
      description:
        'Reports that your task cannot continue until another task is done. Your work is kept. End your turn; you continue when the other task has landed.',
      inputSchema: { task: by, reason },
      annotations: adding,
    },
    ({ task, ...given }) => answer(() => ask('agent.block', present({ by: task, ...given }))),
  );
}

function defineWords(server: McpServer, ask: Ask): void {
  server.registerTool(
    'ask_person',
    {
      description:
        'Asks the person and waits up to 45 s for an answer. While the state is "open", the question is unanswered: ask the same question again to keep waiting, or do something else in the meantime.',
      inputSchema: { question: text, choices },
      annotations: adding,
    },
    ({ question, ...given }) =>
      answer(() => ask('agent.ask', present({ text: question, ...given }))),
  );
  server.registerTool(
    'report_progress',
    {
      description:
        'Adds a note to the log of your attempt: what you have done, and what you will do next.',
      inputSchema: { note: agentShapes['agent.progress'].text },
      annotations: adding,
    },
    ({ note }) => answer(() => ask('agent.progress', { text: note })),
  );
  const { text: fact, at } = agentShapes['agent.remember'];
  server.registerTool(
    'remember',
    {
      description:
        'Leaves a short note for the agents of other tasks in your epic: a fact that took you time to find and that they will need, such as a hidden constraint or the location of something. Do not report your progress or repeat what the task or the code already says. The note is removed when the cited line changes.',
      inputSchema: { note: fact, at },
      annotations: adding,
    },
    ({ note, ...given }) => answer(() => ask('agent.remember', present({ text: note, ...given }))),
  );
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Omits absent values. */
function present<T extends object>(given: T): Present<T> {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<T>;
}

/** A refusal is a result that the agent reads, not a protocol error. */
async function answer(request: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    return { content: [{ type: 'text', text: JSON.stringify(await request(), null, 1) }] };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { content: [{ type: 'text', text }], isError: true };
  }
}
