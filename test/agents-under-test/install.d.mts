/** Installs the pinned agent programs if they are not there, and gives their full paths. */
export function ensureAgents(): Promise<{ claude: string }>;
