// Which program speaks the Agent Client Protocol for each kind of agent, and how it is started.

import type { AgentSettings, AgentTools } from '../port.ts';
import type { AgentKind } from '../../core/plan/task.ts';

export type AcpKind = Extract<AgentKind, 'codex' | 'opencode' | 'gemini' | 'copilot' | 'acp'>;

export interface AcpProgram {
  readonly title: string;
  /** Name on PATH, or null if only the settings can name it. */
  readonly program: string | null;
  readonly args: readonly string[];
  /** The error if it is missing. */
  readonly install: string;
  /**
   * Its mode that allows edits inside the worktree without asking, or null for its default mode.
   */
  readonly mode: string | null;
  /**
   * Its mode without its own sandbox, for an agent whose sandbox cannot start inside Drover's. Null
   * if it has no such mode.
   */
  readonly confinedMode: string | null;
  /**
   * Arguments that name a file of MCP servers, for an agent that does not accept them over the
   * protocol. Null if it does.
   */
  readonly toolArguments: ((configPath: string) => readonly string[]) | null;
  /** Variables that make it behave as one process that a signal reaches. */
  readonly env: Readonly<Record<string, string>>;
}

export const acpPrograms: { readonly [K in AcpKind]: AcpProgram } = {
  codex: {
    title: 'Codex',
    program: 'codex-acp',
    args: [],
    mode: null,
    // Every command in its own sandbox needs further namespaces, which Drover's sandbox forbids.
    confinedMode: 'agent-full-access',
    toolArguments: null,
    install: 'npm install -g @agentclientprotocol/codex-acp',
    env: {},
  },
  opencode: {
    title: 'OpenCode',
    program: 'opencode',
    args: ['acp'],
    mode: null,
    confinedMode: null,
    toolArguments: null,
    install: 'npm install -g opencode-ai',
    env: {},
  },
  gemini: {
    title: 'Gemini CLI',
    program: 'gemini',
    args: ['--acp'],
    mode: 'autoEdit',
    confinedMode: null,
    toolArguments: null,
    install: 'npm install -g @google/gemini-cli',
    // Otherwise it restarts itself as a child, which a signal to the parent does not stop.
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
  },
  copilot: {
    title: 'Copilot CLI',
    program: 'copilot',
    args: ['--acp'],
    mode: null,
    confinedMode: null,
    // From a client it accepts only servers on the network.
    toolArguments: (configPath) => ['--additional-mcp-config', `@${configPath}`],
    install: 'npm install -g @github/copilot',
    env: {},
  },
  acp: {
    title: 'The ACP agent',
    program: null,
    args: [],
    mode: null,
    confinedMode: null,
    toolArguments: null,
    install:
      'set [agent] path (DROVER_AGENT_PATH) to a program that speaks ACP on its standard input and output',
    env: {},
  },
};

/**
 * The user's arguments come last: they choose an agent's own model or mode if it has no other way.
 */
export function acpArguments(
  kind: AcpKind,
  settings: AgentSettings,
  tools: AgentTools | undefined,
): readonly string[] {
  const { args, toolArguments } = acpPrograms[kind];
  const own = tools === undefined ? [] : (toolArguments?.(tools.configPath) ?? []);
  return [...args, ...own, ...settings.args];
}

export interface ModeChoice {
  /** Modes that the session offers. */
  readonly offered: readonly string[];
  /** The person's own choice. */
  readonly wanted: string | null;
  readonly isLoaded: boolean;
  readonly isConfined: boolean;
  readonly isPlanning: boolean;
}

/** The mode to set, or null if the session keeps its current mode. */
export function modeToSet(kind: AcpKind, choice: ModeChoice): string | null {
  const { mode, confinedMode } = acpPrograms[kind];
  const offers = (id: string | null): id is string => id !== null && choice.offered.includes(id);
  const readsOnly = choice.wanted !== null && planningMode([choice.wanted]) !== null;
  // Drover's sandbox makes the worktree read-only for a plan. A person who has chosen to be asked
  // about each change is asked in the sandbox too.
  const mayBeFree = choice.isPlanning || !readsOnly;
  if (choice.isConfined && mayBeFree && offers(confinedMode)) return confinedMode;
  if (choice.isPlanning) return planningMode(choice.offered);
  // A session that is loaded keeps the mode it has; that it only reads is made sure.
  return choice.wanted ?? (!choice.isLoaded && offers(mode) ? mode : null);
}

/** The mode among those offered in which it only reads, by the names that agents give it. */
function planningMode(offered: readonly string[]): string | null {
  return offered.find((mode) => /(^|[^a-z])(plan|read-?only)$/i.test(mode)) ?? null;
}
