// The tools of `drover mcp`, which define the rights of the user's assistant. Approving, undoing
// and setting a gate are left to the user, because they control which programs run on the machine
// and what lands.

import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import { newId } from '../../core/ids.ts';
import type { Client, Params } from '../../protocol/api.ts';
import { boardShapes } from '../../protocol/requests/board.ts';
import { epicShapes } from '../../protocol/requests/epics.ts';
import { anyText, integer, optional } from '../../protocol/requests/fields.ts';
import { reviewShapes } from '../../protocol/requests/reviews.ts';
import { runShapes } from '../../protocol/requests/runs.ts';
import { taskShapes } from '../../protocol/requests/tasks.ts';
import { taskFields } from '../../protocol/task-fields.ts';
import { reportMarkdown } from '../render/report.ts';
import { runIsOver, summarizeStatus } from './status.ts';

export const instructions =
  "Drover runs coding agents in parallel on the tasks of this git repository, each in its own worktree, and lands what passes the gate. Plan with add_plan, add_epic and add_task (blocked_by orders tasks), start with run, check progress with status, why, log and report, and answer agents' questions with answer. Approving and undoing are for the person at the terminal.";

/** Calls `body` with a client: in this process, or of a backend, which is started if none runs. */
export type Ask = <T>(need: 'data' | 'engine', body: (client: Client) => Promise<T>) => Promise<T>;

export interface ToolHost {
  readonly ask: Ask;
  /** Turns the repository into a project if it is not one. */
  readonly ensureProject: () => Promise<void>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly nowMs: () => number;
}

const readOnly = { readOnlyHint: true, openWorldHint: false } as const;
const adding = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;
const running = { readOnlyHint: false, destructiveHint: false, openWorldHint: true } as const;

const id = taskShapes['task.show'].id.check(z.describe('Id of a task, as status shows it.'));
const { description, accept, blocked_by, labels, type } = taskFields;
const taskShape = {
  title: taskShapes['task.add'].title,
  description,
  accept,
  blocked_by,
  priority: optional(
    z
      .union([z.int(), z.enum(['critical', 'high', 'normal', 'low'])])
      .check(z.describe('Higher starts first.')),
  ),
  labels,
  type,
} as const;

/** The request's own parameter, with the description that a model needs here. */
function optionalText(description: string): z.ZodMiniExactOptional<z.ZodMiniString> {
  return optional(anyText.check(z.describe(description)));
}

export function defineTools(server: McpServer, host: ToolHost): void {
  definePlanning(server, host);
  defineChanging(server, host);
  defineRunning(server, host);
  defineLooking(server, host);
  defineHistory(server, host);
}

function definePlanning(server: McpServer, { ask, ensureProject }: ToolHost): void {
  const { title, description: about } = epicShapes['epic.add'];
  const epic = { title, description: about };
  server.registerTool(
    'add_epic',
    { description: 'Adds an epic: a group of tasks.', inputSchema: epic, annotations: adding },
    (given) =>
      answer(async () => {
        await ensureProject();
        return await ask('data', (client) => client.call('epic.add', present(given)));
      }),
  );
  server.registerTool(
    'add_task',
    {
      description: 'Adds one task. It starts with the next run, or at once while a run is active.',
      inputSchema: {
        ...taskShape,
        epic: optionalText('Id of its epic.'),
        parent: optionalText('Id of the parent task, if this is a sub-task.'),
      },
      annotations: adding,
    },
    (given) =>
      answer(async () => {
        await ensureProject();
        const task = await ask('data', (client) => client.call('task.add', present(given)));
        return { id: task.id, status: task.status, warnings: task.warnings };
      }),
  );
  server.registerTool(
    'add_plan',
    {
      description:
        'Adds epics and tasks with their dependencies, all or none. `key` names a record inside this plan; epic and blocked_by accept keys, or existing ids. The answer contains the id of each key.',
      inputSchema: {
        epics: optional(z.array(z.object({ key: anyText, ...epic }))),
        tasks: z.array(z.object({ key: anyText, ...taskShape, epic: optional(anyText) })),
      },
      annotations: adding,
    },
    (given) =>
      answer(async () => {
        await ensureProject();
        return await ask('data', (client) => addPlan(client, given));
      }),
  );
}

interface GivenPlan {
  readonly epics?:
    | readonly { key: string; title: string; description?: string | undefined }[]
    | undefined;
  readonly tasks: readonly (Readonly<Record<string, unknown>> & {
    readonly key: string;
    readonly epic?: string | undefined;
    readonly blocked_by?: readonly string[] | undefined;
    readonly accept?: readonly string[] | undefined;
  })[];
}

/**
 * One import, with the same checks of references and loops, and the same single transaction, as
 * every plan.
 */
async function addPlan(client: Client, { epics = [], tasks }: GivenPlan): Promise<unknown> {
  const ids = new Map<string, string>();
  for (const { key } of epics) name(ids, key, 'epic');
  for (const { key } of tasks) name(ids, key, 'task');
  const idOf = (key: string): string => ids.get(key) ?? key;
  const records = [
    ...epics.map(({ key, ...rest }) => ({ ...rest, id: idOf(key), type: 'epic' })),
    ...tasks.map(({ key, epic, blocked_by: blockers, accept, type, ...rest }) => ({
      ...rest,
      id: idOf(key),
      type: 'story',
      ...(type === undefined ? {} : { task_type: type }),
      ...(epic === undefined ? {} : { epic_id: idOf(epic) }),
      ...(accept === undefined ? {} : { acceptance_criteria: accept }),
      ...(blockers === undefined ? {} : { blocked_by: blockers.map(idOf) }),
    })),
  ];
  const result = await client.call('import', {
    text: records.map((record) => JSON.stringify(record)).join('\n'),
    bad_utf8_lines: [],
    file: 'the plan',
    format: 'jsonl',
  });
  if (result.errors.length > 0) {
    const keyOf = new Map([...ids].map(([key, made]) => [made, key]));
    const faults = result.errors.map(({ id: made, message }) => {
      return `${keyOf.get(made ?? '') ?? made ?? 'the plan'}: ${message}`;
    });
    throw new Error(`Nothing was added. ${faults.join(' ')}`);
  }
  const warnings = result.warnings.map(({ message }) => message);
  return { imported: result.imported, ids: Object.fromEntries(ids), warnings };
}

function name(ids: Map<string, string>, key: string, kind: 'epic' | 'task'): void {
  if (ids.has(key))
    throw new Error(`The key "${key}" is used twice in the plan. Nothing was added.`);
  ids.set(key, newId(kind, crypto.getRandomValues(new Uint8Array(8))));
}

function defineChanging(server: McpServer, { ask }: ToolHost): void {
  server.registerTool(
    'edit_task',
    {
      description: 'Changes fields of a task that is not running. Omitted fields stay unchanged.',
      inputSchema: {
        id,
        ...taskShape,
        title: taskFields.title,
        epic: optionalText('Id of its epic.'),
      },
      annotations: adding,
    },
    (given) =>
      answer(() =>
        ask('data', async (client) => {
          const task = await client.call('task.edit', present(given) as Params<'task.edit'>);
          return { id: task.id, status: task.status, warnings: task.warnings };
        }),
      ),
  );
  server.registerTool(
    'answer',
    {
      description:
        'Answers an open question of an agent. Ask the person first unless the answer is already known from this conversation.',
      inputSchema: {
        question: anyText.check(z.describe('Id of the question, as status shows it.')),
        choice: reviewShapes.answer.choice.check(
          z.describe('One of its choices, or the text of the answer.'),
        ),
      },
      annotations: adding,
    },
    ({ question, choice }) =>
      answer(() =>
        ask('engine', (client) => shortTask(client.call('answer', { id: question, choice }))),
      ),
  );
  server.registerTool(
    'hint',
    {
      description: 'Gives the agent of a task a hint, now or with its next attempt.',
      inputSchema: { id, text: taskShapes['task.hint'].text },
      annotations: adding,
    },
    (given) => answer(() => ask('engine', (client) => shortTask(client.call('task.hint', given)))),
  );
}

function defineRunning(server: McpServer, { ask, sleep, nowMs }: ToolHost): void {
  server.registerTool(
    'run',
    {
      description:
        'Starts a run in the background: agents work on all ready tasks, or on those of one epic. It continues when this server ends. Use wait or status to follow it.',
      inputSchema: {
        epic: optionalText('Only this epic; it lands as one merge at the end.'),
        workers: optional(
          integer(1).check(z.describe('Maximum number of agents that run at the same time.')),
        ),
        target: optionalText('Branch to land on (default: the checked-out branch).'),
      },
      annotations: running,
    },
    (given) =>
      answer(() =>
        ask('engine', async (client) => {
          const { run, message, warnings } = await client.call('run.start', present(given));
          return {
            run: run.id,
            target: run.target_branch,
            workers: run.workers,
            message,
            warnings,
          };
        }),
      ),
  );
  server.registerTool(
    'stop_run',
    {
      description: 'Stops the active run. Tasks keep their work, and the next run resumes them.',
      annotations: running,
    },
    () => answer(() => ask('engine', (client) => client.call('run.stop', {}))),
  );
  for (const [tool, request, description] of steering) {
    server.registerTool(tool, { description, inputSchema: { id }, annotations: running }, (given) =>
      answer(() => ask('engine', (client) => shortTask(client.call(request, given)))),
    );
  }
  server.registerTool(
    'wait',
    {
      description:
        'Waits until the run has ended or a question is open, at most 45 s; then returns the status.',
      inputSchema: boardShapes.status,
      annotations: readOnly,
    },
    (given) =>
      answer(async () => {
        for (const endMs = nowMs() + waitMaxMs; ; await sleep(lookEveryMs)) {
          const status = await ask('data', (client) => client.call('status', present(given)));
          if (runIsOver(status) || nowMs() >= endMs) return summarizeStatus(status);
        }
      }),
  );
}

const waitMaxMs = 45_000;
const lookEveryMs = 1_000;

const steering = [
  ['pause_task', 'task.pause', 'Stops the agent of a task and keeps its work.'],
  ['resume_task', 'task.unpause', 'Makes a paused task ready again.'],
  ['retry_task', 'task.retry', 'Retries a failed or canceled task.'],
  ['cancel_task', 'task.cancel', 'Cancels a task; its work is kept on a branch.'],
] as const;

function defineLooking(server: McpServer, { ask }: ToolHost): void {
  server.registerTool(
    'status',
    {
      description:
        'Returns progress, the run, epics, tasks with their states and blockers, open questions, and stuck tasks.',
      inputSchema: { epic: optionalText('Only this epic.') },
      annotations: readOnly,
    },
    (given) =>
      answer(() =>
        ask('data', async (client) => summarizeStatus(await client.call('status', present(given)))),
      ),
  );
  server.registerTool(
    'show',
    {
      description: 'Returns one task with all its fields.',
      inputSchema: { id },
      annotations: readOnly,
    },
    (given) => answer(() => ask('data', (client) => client.call('task.show', given))),
  );
  server.registerTool(
    'why',
    {
      description: 'Explains in sentences why a task is not running.',
      inputSchema: { id },
      annotations: readOnly,
    },
    (given) => answer(() => ask('data', (client) => client.call('why', given))),
  );
}

function defineHistory(server: McpServer, { ask }: ToolHost): void {
  server.registerTool(
    'log',
    {
      description: "Returns the last log entries of a task's agent.",
      inputSchema: {
        id,
        attempt: optional(integer(1)),
        limit: optional(integer(1, 500).check(z.describe('Entries (default 50).'))),
      },
      annotations: readOnly,
    },
    ({ limit, ...given }) =>
      answer(() =>
        ask('data', async (client) => {
          const request = { ...present(given), newest: true, limit: limit ?? 50 };
          const { task_id, attempt, events, ended } = await client.call('log.read', request);
          return { task_id, attempt, ended, events };
        }),
      ),
  );
  server.registerTool(
    'diff',
    {
      description: 'Returns the changes of a task or an epic compared with its base, as a patch.',
      inputSchema: { id: reviewShapes.diff.id.check(z.describe('Id of a task or an epic.')) },
      annotations: readOnly,
    },
    (given) => answer(() => ask('data', async (client) => (await client.call('diff', given)).text)),
  );
  server.registerTool(
    'report',
    {
      description: 'Reports how a run or an epic spent its time and money, as Markdown.',
      inputSchema: { id: runShapes.report.id.check(z.describe('Id of a run or an epic.')) },
      annotations: readOnly,
    },
    (given) =>
      answer(() =>
        ask('data', async (client) => reportMarkdown(await client.call('report', given))),
      ),
  );
}

async function shortTask(asked: Promise<{ id: string; status: string }>): Promise<unknown> {
  const { id: task, status } = await asked;
  return { id: task, status };
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Omits absent values. */
function present<T extends object>(given: T): Present<T> {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<T>;
}

const answerCharactersMax = 200_000;

/** A refusal is a result that the assistant reads, not a protocol error. */
async function answer(request: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    const value = await request();
    const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
    const cut = `${whole.slice(0, answerCharactersMax)}\n… cut after ${answerCharactersMax} characters`;
    const text = whole.length > answerCharactersMax ? cut : whole;
    return { content: [{ type: 'text', text }] };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { content: [{ type: 'text', text }], isError: true };
  }
}
