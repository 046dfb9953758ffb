// The basic shape of every request's parameters: junk is refused before a handler sees it, unknown
// keys are dropped.

import type { AgentParams, AgentRequestName } from '../../protocol/agent-requests.ts';
import type { Params, RequestName } from '../../protocol/api.ts';
import { type FieldShape, taskFieldShapes } from '../../protocol/task-fields.ts';

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/**
 * A shape for each key, required ones as `text`, optional ones as `text?`: the compiler asks for
 * every one of them.
 */
type ShapeOf<T> = {
  readonly [K in keyof T]-?: K extends OptionalKeys<T> ? `${FieldShape}?` : FieldShape;
};

type Shapes = {
  readonly [N in RequestName]: string extends keyof Params<N>
    ? Readonly<Record<string, never>>
    : ShapeOf<Params<N>>;
};

const oneId = { id: 'text' } as const;

const shapes: Shapes = {
  hello: { token: 'text', client: 'text', version: 'text', protocol: 'number' },
  status: { epic: 'text?' },
  'epic.add': { title: 'text', description: 'text?', runs_on: 'text or null?' },
  'epic.list': {},
  'epic.show': oneId,
  'epic.edit': { id: 'text', title: 'text?', description: 'text?', runs_on: 'text or null?' },
  'epic.close': oneId,
  'task.add': { ...taskFieldShapes, title: 'text', template: 'text?', set: 'texts by name?' },
  'task.edit': { ...taskFieldShapes, id: 'text', title: 'text?' },
  'task.show': oneId,
  import: {
    text: 'text',
    bad_utf8_lines: 'numbers',
    file: 'text',
    format: 'text',
    dry_run: 'flag?',
    update: 'flag?',
    rename: 'flag?',
    skip_invalid: 'flag?',
    base: 'text?',
  },
  export: { format: 'text', present: 'text?', leave: 'texts?' },
  why: oneId,
  'log.read': {
    id: 'text',
    attempt: 'number?',
    offset: 'number?',
    before: 'number?',
    limit: 'number?',
    newest: 'flag?',
    wait_ms: 'number?',
  },
  'log.prompt': { id: 'text', attempt: 'number?' },
  report: oneId,
  'trace.export': oneId,
  metrics: {},
  'past.status': { seq: 'number?', at_ms: 'number?', epic: 'text?' },
  'past.why': { seq: 'number?', at_ms: 'number?', id: 'text' },
  'events.read': { after: 'number?', type: 'text?', task: 'text?', limit: 'number?' },
  subscribe: { after: 'number?', board: 'flag?' },
  diff: { id: 'text', snapshot: 'number?' },
  questions: {},
  'machines.list': { all: 'flag?' },
  'webhooks.list': { endpoint: 'text?', state: 'text?', limit: 'number?' },
  'webhooks.test': { endpoint: 'text?' },
  'webhooks.retry': { ids: 'texts?' },
  prune: { dry_run: 'flag?' },
  'run.start': {
    workers: 'number?',
    epic: 'text?',
    target: 'text?',
    called_in: 'text?',
    gate: 'text?',
    fallback: 'text?',
    land: 'text?',
    agent: 'text?',
    model: 'text?',
    plan: 'flag?',
    budget_usd: 'number?',
    env: 'texts by name?',
  },
  'run.resume': { env: 'texts by name?' },
  'run.stop': { run: 'text?' },
  'task.pause': oneId,
  'task.unpause': { id: 'text', hint: 'text?' },
  'task.cancel': { id: 'text', reason: 'text?' },
  'task.retry': { id: 'text', force: 'flag?' },
  'task.restore': { id: 'text', snapshot: 'number?' },
  snapshots: { id: 'text' },
  'task.hint': { id: 'text', text: 'text' },
  'task.resolve': { id: 'text', note: 'text' },
  'task.send_back': { id: 'text', text: 'text' },
  approve: { id: 'text', seen: 'text?', plan: 'text?' },
  answer: { id: 'text', choice: 'text' },
  undo: { id: 'text', dry_run: 'flag?', by: 'text?' },
  reset: {
    ids: 'texts?',
    completed: 'flag?',
    failed: 'flag?',
    claimed: 'flag?',
    in_progress: 'flag?',
  },
  'worktree.list': {},
  'worktree.prune': { dry_run: 'flag?', force: 'flag?' },
  shutdown: { force: 'flag?' },
  'board.changes': { after: 'number' },
  'runs.list': { search: 'text?', limit: 'number?' },
  attempts: oneId,
  'task.move': {
    ids: 'texts',
    epic: 'text or null?',
    parent: 'text or null?',
    before: 'text or null?',
  },
  'epic.move': { id: 'text', before: 'text or null' },
  'task.remove': { ids: 'texts' },
  'epic.remove': oneId,
  'plan.restore': { ids: 'texts' },
  preflight: {
    epic: 'text?',
    workers: 'number?',
    target: 'text?',
    gate: 'text?',
    land: 'text?',
    agent: 'text?',
    model: 'text?',
    plan: 'flag?',
    budget_usd: 'number?',
  },
  'task.take_over': oneId,
  'task.give_back': { id: 'text', note: 'text?' },
  'step.log': { id: 'text', attempt: 'number', step: 'text' },
  change: oneId,
  'file.read': { sha: 'text', path: 'text' },
  'spec.plan': { documents: 'texts by name', model: 'text?' },
  'spec.cancel': {},
  'backend.leave': { force: 'flag?' },
};

/** What an agent may ask about its own attempt, after a greeting with that attempt's token. */
const agentShapes: {
  readonly [N in AgentRequestName]: string extends keyof AgentParams<N>
    ? Readonly<Record<string, never>>
    : ShapeOf<AgentParams<N>>;
} = {
  'agent.task': { id: 'text?' },
  'agent.board': {},
  'agent.add': {
    kind: 'text',
    title: 'text',
    description: 'text?',
    accept: 'texts?',
    blocked_by: 'texts?',
  },
  'agent.block': { by: 'text', reason: 'text?' },
  'agent.ask': { text: 'text', choices: 'texts?', wait_ms: 'number?' },
  'agent.progress': { text: 'text' },
};

export function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(shapes, name);
}

export function isAgentRequestName(name: string): name is AgentRequestName {
  return Object.hasOwn(agentShapes, name);
}

export type Shaped<Value> =
  | { readonly ok: true; readonly params: Value }
  | { readonly ok: false; readonly message: string };

export function shapeParams<N extends RequestName>(name: N, raw: unknown): Shaped<Params<N>> {
  return shapeBy<Params<N>>(name, shapes[name], raw);
}

export function shapeAgentParams<N extends AgentRequestName>(
  name: N,
  raw: unknown,
): Shaped<AgentParams<N>> {
  return shapeBy<AgentParams<N>>(name, agentShapes[name], raw);
}

function shapeBy<Value>(
  name: string,
  shape: Readonly<Record<string, string>>,
  raw: unknown,
): Shaped<Value> {
  const input = raw ?? {};
  if (typeof input !== 'object' || Array.isArray(input)) {
    return { ok: false, message: `The parameters of ${name} must be an object.` };
  }
  const params: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(shape)) {
    const value: unknown = Object.hasOwn(input, key)
      ? (input as Record<string, unknown>)[key]
      : undefined;
    const optional = field.endsWith('?');
    if (value === undefined) {
      if (optional) continue;
      return { ok: false, message: `${name} needs the parameter ${key}.` };
    }
    const wanted = (optional ? field.slice(0, -1) : field) as FieldShape;
    if (!fits(wanted, value)) {
      return { ok: false, message: `The parameter ${key} of ${name} must be: ${wanted}.` };
    }
    params[key] = value;
  }
  return { ok: true, params: params as Value };
}

function fits(shape: FieldShape, value: unknown): boolean {
  switch (shape) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return isNumber(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'numbers':
      return Array.isArray(value) && value.every(isNumber);
    case 'texts by name':
      return (
        typeof value === 'object' &&
        value !== null &&
        !Array.isArray(value) &&
        Object.values(value).every((item) => typeof item === 'string')
      );
    case 'text or null':
      return value === null || typeof value === 'string';
    case 'number or text':
      return typeof value === 'string' || isNumber(value);
  }
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}
