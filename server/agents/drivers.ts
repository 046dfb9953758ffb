// The driver for the kind of agent that the settings name.

import { Refusal } from '../core/failure.ts';
import { createAcpDriver } from './acp/driver.ts';
import { createClaudeDriver } from './claude/driver.ts';
import { createCommandDriver } from './command.ts';
import { createDemoDriver } from './demo/driver.ts';
import { createDroverCodeDriver } from './drover-code/driver.ts';
import type { AgentDriver, AgentKind, AgentSettings, ProcessTable } from './port.ts';
import type { SpawnElsewhere } from './spawn.ts';

export interface DriverDeps {
  readonly processTable: ProcessTable;
  /** Drover's own, said to agents that ask who calls. */
  readonly version: string;
  /** The project's root: relative program paths start here. */
  readonly baseDir: string;
  /** True where a person trusts the repository: the agent may use the repository's own agent settings. */
  readonly trusted?: boolean;
  /** Where agents are started that read their input from a file. */
  readonly elsewhere?: SpawnElsewhere;
}

/** Throws a Refusal (`agent_missing`) for a kind that this version does not drive. */
export function createDriver(settings: AgentSettings, deps: DriverDeps): AgentDriver {
  switch (settings.kind) {
    case 'command':
      return createCommandDriver(settings, deps);
    case 'demo':
      return createDemoDriver(deps);
    case 'claude':
      return createClaudeDriver(settings, { trusted: false, ...deps });
    case 'codex':
    case 'opencode':
    case 'gemini':
    case 'copilot':
    case 'acp':
      return createAcpDriver(settings.kind, settings, deps);
    case 'drover-code':
      return createDroverCodeDriver(settings, deps);
    case 'amp':
      throw notDriven(settings.kind);
  }
}

function notDriven(kind: AgentKind): Refusal {
  return new Refusal(
    'agent_missing',
    `This version of Drover does not drive the agent kind "${kind}" yet: use "claude", "demo", or "command" with a program of your own (DROVER_AGENT_TYPE or [agent] kind).`,
  );
}

export { agentEnvironment, secretValues } from './environment.ts';
