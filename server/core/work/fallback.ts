// Decides which agent takes over if one cannot do a task: the list of steps, its text form, and
// when the next step starts.

import { err, ok, type FailureKind, type Result } from '../failure.ts';
import { stepText } from '../format.ts';
import { agentKinds, type AgentKind } from '../plan/task.ts';

/** An agent with the model to request; null = the model configured for the agent. */
export interface AgentStep {
  readonly agent: AgentKind;
  readonly model: string | null;
}

/** The fallback agents in the settings. */
export interface AgentChoices {
  /** Used for tasks and agents without a list of their own. */
  readonly fallback: readonly AgentStep[];
  readonly fallbackOf: { readonly [K in AgentKind]?: readonly AgentStep[] };
  /** The model for an agent whose step names none. */
  readonly modelOf: { readonly [K in AgentKind]?: string };
  /** How many attempts of a step may fail before the next one takes over. */
  readonly after: number;
  /** Longest wait for an account's limit before another agent takes over; null = always wait. */
  readonly limitWaitMs: number | null;
}

export const fallbackStepsMax = 8;
const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,199}$/;

/** Agents that Drover can ask for a model. The others choose theirs by their own arguments. */
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
 * Reads a string (`codex, claude:opus`), a list of strings or a list of tables. The error describes
 * the problem.
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

/** Parses steps as stored in a column. Unreadable steps are ignored. */
export function storedSteps(text: string | null): readonly AgentStep[] | null {
  if (text === null) return null;
  const read = readSteps(text);
  return read.ok ? read.value : [];
}

/** The agents of a task in order: its first agent, then those that take over. */
export function agentChain(
  choices: AgentChoices,
  agentKind: string,
  task: {
    readonly agent: string | null;
    /** The model for the task's own agent, used only if that agent supports choosing one. */
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
    // The project's list may contain the agent that the task already starts with.
    if (!chain.some((known) => stepText(known) === stepText(step))) chain.push(step);
  }
  return chain;
}

/**
 * After how many consecutive failures of this kind the next agent takes over. Null if another agent
 * could not do better.
 */
export function failuresBeforeNext(kind: string, after: number): number | null {
  switch (kind as FailureKind) {
    // This agent cannot run now, so a retry does not help.
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
    // The agent that wrote the code gets the first chance to fix it, because its conversation knows
    // the work.
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

/** Failure kinds that prevent an agent from doing any task until a person fixes the cause. */
export const unusableKinds: readonly string[] = ['agent_missing', 'agent_auth', 'agent_billing'];

/**
 * Whether the agent had no chance to work. Passing the task on then uses no attempt and needs no
 * delay.
 */
export function usesNoAttempt(kind: string): boolean {
  return unusableKinds.includes(kind) || kind === 'account_limit';
}

export interface EndedAttempt {
  /** Index in the chain of the agent that made it. */
  readonly step: number;
  readonly failureKind: string | null;
}

/**
 * Index in the chain of the agent for the next attempt. `ended` lists earlier attempts, oldest
 * first.
 */
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
