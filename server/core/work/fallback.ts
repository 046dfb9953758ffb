// Who takes over when an agent cannot do a task: the list of steps, how it is written, and when the
// next one has its turn.

import { err, ok, type FailureKind, type Result } from '../failure.ts';
import { stepText } from '../format.ts';
import { agentKinds, type AgentKind } from '../plan/task.ts';

/** One agent of the list, with the model it is asked for; null = as it is set for that agent. */
export interface AgentStep {
  readonly agent: AgentKind;
  readonly model: string | null;
}

/** The fallback agents in the settings. */
export interface AgentChoices {
  /** For tasks and agents that name none of their own. */
  readonly fallback: readonly AgentStep[];
  readonly fallbackOf: { readonly [K in AgentKind]?: readonly AgentStep[] };
  /** The model for each agent whose step names none. */
  readonly modelOf: { readonly [K in AgentKind]?: string };
  /** How many attempts of one step may fail before the next one has its turn. */
  readonly after: number;
  /** A limit of an account that lasts longer than this is not waited for; null = every limit is. */
  readonly limitWaitMs: number | null;
}

export const fallbackStepsMax = 8;
const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,199}$/;

/** Agents that can be asked for a model: the others choose theirs by arguments of their own. */
const takesModel: ReadonlySet<AgentKind> = new Set(['claude', 'command']);

export function isModel(name: unknown): name is string {
  return typeof name === 'string' && modelPattern.test(name);
}

/** Whether Drover can ask this agent for a model. */
export function canChooseModel(agent: string): boolean {
  return (takesModel as ReadonlySet<string>).has(agent);
}

export const stepsExpected =
  'agents in their order, as "codex" or ["claude:opus", "codex"] (agent:model), or a list of { agent, model }';

/**
 * Reads a string (`codex, claude:opus`), a list of strings, or a list of tables; the error
 * describes the problem.
 */
export function readSteps(raw: unknown): Result<readonly AgentStep[], string> {
  const items: unknown =
    typeof raw === 'string' ? raw.split(',').filter((item) => item.trim() !== '') : raw;
  if (!Array.isArray(items)) return err('it is neither a string nor a list');
  if (items.length > fallbackStepsMax) {
    return err(`${items.length} agents are named, ${fallbackStepsMax} are allowed`);
  }
  const steps: AgentStep[] = [];
  for (const item of items as readonly unknown[]) {
    const step = readStep(item);
    if (!step.ok) return step;
    steps.push(step.value);
  }
  return ok(steps);
}

function readStep(item: unknown): Result<AgentStep, string> {
  if (typeof item === 'string') {
    const text = item.trim();
    const colon = text.indexOf(':');
    return colon === -1
      ? checkedStep(text, null)
      : checkedStep(text.slice(0, colon), text.slice(colon + 1));
  }
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return err('one of them is neither a string nor a table');
  }
  const { agent, model = null, ...others } = item as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return err(`"${shorten(unknown)}" is not part of a step`);
  if (typeof agent !== 'string') return err('a step without an agent');
  if (model !== null && typeof model !== 'string') return err('a model that is not a string');
  return checkedStep(agent, model);
}

function checkedStep(name: string, model: string | null): Result<AgentStep, string> {
  const agent = agentKinds.find((kind) => kind === name.trim());
  if (agent === undefined) {
    return err(
      `"${shorten(name)}" is not an agent that can take over; use one of ${agentKinds.join(', ')}`,
    );
  }
  if (model === null) return ok({ agent, model: null });
  const wanted = model.trim();
  if (!modelPattern.test(wanted)) return err(`"${shorten(model)}" is not the name of a model`);
  if (takesModel.has(agent)) return ok({ agent, model: wanted });
  return err(`${agent} cannot be given a model; set it in [agents.${agent}] args`);
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Steps as a column stores them; unreadable ones count as none. */
export function storedSteps(text: string | null): readonly AgentStep[] | null {
  if (text === null) return null;
  const read = readSteps(text);
  return read.ok ? read.value : [];
}

/** The agents of a task in their order: its first one, then who takes over. */
export function agentChain(
  choices: AgentChoices,
  agentKind: string,
  task: {
    readonly agent: string | null;
    /** For the task's own agent alone, and only if that one takes a model. */
    readonly model: string | null;
    readonly fallback: string | null;
  },
): readonly [AgentStep, ...AgentStep[]] {
  const agent = (task.agent ?? agentKind) as AgentKind;
  const others = storedSteps(task.fallback) ?? choices.fallbackOf[agent] ?? choices.fallback;
  const withModel = (step: AgentStep): AgentStep => ({
    ...step,
    model: step.model ?? choices.modelOf[step.agent] ?? null,
  });
  const first = withModel({ agent, model: takesModel.has(agent) ? task.model : null });
  const chain: [AgentStep, ...AgentStep[]] = [first];
  for (const step of others.map(withModel)) {
    // A list for all tasks may contain the agent that a task already starts with.
    if (!chain.some((known) => stepText(known) === stepText(step))) chain.push(step);
  }
  return chain;
}

/**
 * How many failures of a kind in a row with one agent pass the task on; null = another agent would
 * do no better.
 */
export function failuresBeforeNext(kind: string, after: number): number | null {
  switch (kind as FailureKind) {
    // This agent cannot work now: trying it again is of no use.
    case 'agent_missing':
    case 'agent_auth':
    case 'agent_billing':
    case 'agent_overloaded':
    case 'account_limit':
      return 1;
    case 'agent_failed':
    case 'agent_limit':
    case 'agent_stalled':
    case 'timeout':
    case 'no_changes':
      return after;
    // Who wrote it reads the red gate first, in the conversation that knows the work.
    case 'gate_failed':
      return Math.max(2, after);
    case 'budget_used':
    case 'setup_failed':
    case 'conflict':
    case 'line_held':
    case 'push_refused':
    case 'commit_failed':
    case 'git_failed':
    case 'disk_full':
    case 'worker_failed':
    case 'interrupted':
      return null;
    default:
      return null;
  }
}

/** Kinds with which an agent cannot do any task until a person has changed something. */
export const unusableKinds: readonly string[] = ['agent_missing', 'agent_auth', 'agent_billing'];

/**
 * Kinds with which an agent has not had its try: passing the task on uses no attempt, and nothing
 * is waited for.
 */
export function usesNoAttempt(kind: string): boolean {
  return unusableKinds.includes(kind) || kind === 'account_limit';
}

export interface EndedAttempt {
  /** Place in the chain of the agent that had it. */
  readonly step: number;
  readonly failureKind: string | null;
}

/** Place in the chain of who is to have the next attempt, after these (oldest first). */
export function nextStepIndex(
  ended: readonly EndedAttempt[],
  chainLength: number,
  after: number,
): number {
  const last = ended.at(-1);
  if (last === undefined) return 0;
  const end = chainLength - 1;
  const here = Math.min(last.step, end);
  const needed = failuresBeforeNext(last.failureKind ?? '', after);
  if (needed === null) return here;
  let inARow = 0;
  for (const attempt of ended.toReversed()) {
    if (attempt.step !== last.step) break;
    if (failuresBeforeNext(attempt.failureKind ?? '', after) !== null) inARow += 1;
  }
  return inARow >= needed ? Math.min(here + 1, end) : here;
}
