export type AgentName = 'claude' | 'codex' | 'copilot' | 'gemini' | 'opencode';

/** Installs the pinned agent programs if they are not there, and gives their full paths. */
export function ensureAgents(): Promise<Readonly<Record<AgentName, string>>>;

/** The machine's own npm and its Node: the project's Node has no npm. */
export function machinesNpm(): { readonly node: string; readonly npm: string };

/** The variables that npm needs to reach its registry. */
export function npmEnvironment(node: string): Record<string, string>;
