export type AgentName = 'claude' | 'codex' | 'copilot' | 'gemini' | 'opencode';

/** Installs the pinned agent programs if they are not there, and gives their full paths. */
export function ensureAgents(): Promise<Readonly<Record<AgentName, string>>>;
