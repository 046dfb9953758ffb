// Settings for several agents: fallbacks, and the values of `[agents.<kind>]` (program, model).

import { isOneOf } from '../one-of.ts';
import { bestOfMax, chooseRules } from '../plan/best-of.ts';
import { readSteps, type AgentChoices, type AgentStep } from '../work/fallback.ts';
import { agentKinds, type AgentKind } from '../plan/task.ts';

/** The rows of the settings table that concern several agents. */
export const fallbackSettingTable = {
  'agent.fallback': {
    value: { type: 'steps' },
    fallback: [],
    env: 'DROVER_AGENT_FALLBACK',
    flag: '--fallback',
    inFile: true,
    doc: 'Agents to try, in order, when an agent cannot finish a task, for example ["claude:opus", "codex"].',
    readBy: 'workflows (choice of the agent)',
  },
  'agent.fallback_after': {
    value: { type: 'integer', min: 1, max: 10 },
    fallback: 1,
    inFile: true,
    doc: 'Number of failed attempts before the next fallback agent takes over (at least 2 if the gate failed).',
    readBy: 'workflows (choice of the agent)',
  },
  'agent.fallback_wait': {
    value: { type: 'duration', min: '0', max: '720h' },
    fallback: null,
    inFile: true,
    doc: `Longest time to wait for an account's usage limit before the fallback agent takes over ("0" = take over immediately). If unset, tasks wait.`,
    readBy: 'workflows (limits of accounts)',
  },
  best_of: {
    value: { type: 'integer', min: 1, max: bestOfMax },
    fallback: 1,
    inFile: true,
    doc: 'Number of candidates to produce in parallel for each task. One of them lands.',
    readBy: 'workflows (start of tasks)',
  },
  choose: {
    value: { type: 'choice', choices: chooseRules },
    fallback: 'first-green',
    inFile: true,
    doc: 'Which candidate lands: the first that passes the gate, the one that changes the fewest lines, or the one you choose.',
    readBy: 'workflows (choice among candidates)',
  },
  agents: {
    value: { type: 'agents' },
    fallback: {},
    inFile: true,
    doc: 'Settings of one agent: path, args, model, permission_mode, fallback.',
    readBy: 'agents (start), workflows (choice of the agent)',
  },
} as const;

export interface OneAgent {
  readonly path?: string;
  readonly args?: readonly string[];
  readonly model?: string;
  readonly permission_mode?: string;
  readonly fallback?: readonly AgentStep[];
}

export type AgentSettingsByKind = { readonly [K in AgentKind]?: OneAgent };

const fields = ['path', 'args', 'model', 'permission_mode', 'fallback'] as const;

export const agentSettingsExpected =
  'for each agent a path (text), args (list of strings), model (string), permission_mode (string) or fallback (agents in their order, as ["codex"])';

/** True for `agents.codex.path` and similar keys that a file may contain. */
export function isAgentSetting(path: readonly string[]): boolean {
  const [table, kind, field] = path;
  return (
    path.length === 3 && table === 'agents' && isOneOf(agentKinds, kind) && isOneOf(fields, field)
  );
}

/**
 * Converts flat names (`codex.path`) to one object per agent. Returns undefined if a value is
 * invalid.
 */
export function readAgentSettings(raw: unknown): AgentSettingsByKind | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
  const agents: { [K in AgentKind]?: OneAgent } = {};
  for (const [name, value] of Object.entries(raw)) {
    const [kind, field] = name.split('.') as [AgentKind, (typeof fields)[number]];
    if (!isAgentSetting(['agents', kind, field])) return undefined;
    const read = readField(field, value);
    if (read === undefined) return undefined;
    agents[kind] = { ...agents[kind], [field]: read };
  }
  return agents;
}

function readField(field: (typeof fields)[number], value: unknown): unknown {
  switch (field) {
    case 'path':
    case 'model':
    case 'permission_mode':
      return isText(value) && value !== '' ? value : undefined;
    case 'args':
      return Array.isArray(value) && value.length <= 1_000 && value.every(isText)
        ? value
        : undefined;
    case 'fallback': {
      const steps = readSteps(value);
      return steps.ok ? steps.value : undefined;
    }
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

export interface ChosenAgent {
  readonly kind: AgentKind;
  readonly model: string | null;
  readonly fallback: readonly AgentStep[];
  readonly fallbackAfter: number;
  readonly fallbackWaitMs: number | null;
}

/** Converts the settings to the agents that work and take over, in the engine's form. */
export function agentChoices(agent: ChosenAgent, byKind: AgentSettingsByKind): AgentChoices {
  const fallbackOf: { [K in AgentKind]?: readonly AgentStep[] } = {};
  const modelOf: { [K in AgentKind]?: string } = {};
  for (const kind of agentKinds) {
    const { fallback, model } = byKind[kind] ?? {};
    if (fallback !== undefined) fallbackOf[kind] = fallback;
    const own = (kind === agent.kind ? agent.model : null) ?? model;
    if (own !== undefined) modelOf[kind] = own;
  }
  const { fallback, fallbackAfter: after, fallbackWaitMs: limitWaitMs } = agent;
  return { fallback, fallbackOf, modelOf, after, limitWaitMs };
}
