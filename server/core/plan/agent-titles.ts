// Display names of the kinds of agents.

import { agentKinds, type AgentKind } from './task.ts';

export const agentTitles: { readonly [K in AgentKind]: string } = {
  claude: 'Claude Code',
  codex: 'Codex',
  opencode: 'OpenCode',
  gemini: 'Gemini CLI',
  copilot: 'GitHub Copilot CLI',
  acp: 'Another agent that supports ACP',
  'drover-code': 'Drover Code',
  amp: 'Amp',
  command: 'Your own command',
  demo: 'Demo agent',
};

/** Returns the name unchanged if the kind of agent is unknown. */
export function agentTitle(name: string): string {
  const kind = agentKinds.find((each) => each === name);
  switch (kind) {
    case undefined:
      return name;
    case 'acp':
    case 'command':
      return 'The agent';
    default:
      return agentTitles[kind];
  }
}
