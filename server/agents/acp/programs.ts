// The program that implements the Agent Client Protocol for each kind of agent, and how to start
// it.

import type { AgentSettings, AgentTools } from '../port.ts';
import type { AgentKind } from '../../core/plan/task.ts';

export type AcpKind = Extract<AgentKind, 'codex' | 'opencode' | 'gemini' | 'copilot' | 'acp'>;

export interface AcpProgram {
  readonly title: string;
  /** Name on PATH; null if only the settings can name it. */
  readonly program: string | null;
  readonly args: readonly string[];
  /** The error if the program is missing. */
  readonly install: string;
  /** The mode that allows edits inside the worktree without asking; null = its default mode. */
  readonly mode: string | null;
  /**
   * The mode without its own sandbox, for an agent whose sandbox cannot start inside Drover's. Null
   * if it has none.
   */
  readonly confinedMode: string | null;
  /**
   * Arguments that name a file with MCP servers, for an agent that does not accept them over the
   * protocol. Null if it does.
   */
  readonly toolArguments: ((configPath: string) => readonly string[]) | null;
  /** Variables that make it run as a single process that a signal reaches. */
  readonly env: Readonly<Record<string, string>>;
}

export const acpPrograms: { readonly [K in AcpKind]: AcpProgram } = {
  codex: {
    title: 'Codex',
    program: 'codex-acp',
    args: [],
    mode: null,
    // Running each command in its own sandbox needs further namespaces, which Drover's sandbox
    // forbids.
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
    // Without this variable, Gemini CLI restarts itself as a child process, which a signal to the
    // parent does not stop.
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
  },
  copilot: {
    title: 'Copilot CLI',
    program: 'copilot',
    args: ['--acp'],
    mode: null,
    confinedMode: null,
    // From a client, it only accepts servers that are reached over the network.
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
 * The user's arguments come last, because some agents choose their model or mode only by arguments.
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
  /** The mode that the user chose. */
  readonly wanted: string | null;
  readonly isLoaded: boolean;
  readonly isConfined: boolean;
  readonly isPlanning: boolean;
}

/** The mode to set; null to keep the session's current mode. */
export function modeToSet(kind: AcpKind, choice: ModeChoice): string | null {
  const { mode, confinedMode } = acpPrograms[kind];
  const offers = (id: string | null): id is string => id !== null && choice.offered.includes(id);
  const readsOnly = choice.wanted !== null && planningMode([choice.wanted]) !== null;
  // While planning, Drover's sandbox makes the worktree read-only. If the user chose to be asked
  // about each change, the agent also asks in the sandbox.
  const mayBeFree = choice.isPlanning || !readsOnly;
  if (choice.isConfined && mayBeFree && offers(confinedMode)) return confinedMode;
  if (choice.isPlanning) return planningMode(choice.offered);
  // A loaded session keeps its mode, but a read-only mode is enforced for planning.
  return choice.wanted ?? (!choice.isLoaded && offers(mode) ? mode : null);
}

/** Finds the read-only mode among the offered modes, by the names that agents use. */
function planningMode(offered: readonly string[]): string | null {
  return offered.find((mode) => /(^|[^a-z])(plan|read-?only)$/i.test(mode)) ?? null;
}
