// The driver for the kind of agent that the settings name.

import type { AwakeTime } from '../platform/awake-clock.ts';
import { createAcpDriver } from './acp/driver.ts';
import { createAmpDriver } from './amp/driver.ts';
import { createClaudeDriver } from './claude/driver.ts';
import { createCodexDriver } from './codex/driver.ts';
import { createCommandDriver } from './command/driver.ts';
import { createDemoDriver } from './demo/driver.ts';
import { createDroverCodeDriver } from './drover-code/driver.ts';
import type { AgentDriver, AgentSettings, ProcessTable } from './port.ts';

export interface DriverDeps {
  readonly processTable: ProcessTable;
  readonly awake?: AwakeTime;
  /** Drover's own version, sent to agents that ask for the client. */
  readonly version: string;
  /** The project's root: relative program paths start here. */
  readonly baseDir: string;
  /**
   * True if a person trusts the repository: the agent may use the repository's own agent settings.
   */
  readonly trusted?: boolean;
}

export function createDriver(settings: AgentSettings, deps: DriverDeps): AgentDriver {
  switch (settings.kind) {
    case 'command':
      return createCommandDriver(settings, deps);
    case 'demo':
      return createDemoDriver(deps);
    case 'claude':
      return createClaudeDriver(settings, { trusted: false, ...deps });
    case 'codex':
      return createCodexDriver(settings, deps, createAcpDriver('codex', settings, deps));
    case 'opencode':
    case 'gemini':
    case 'copilot':
    case 'acp':
      return createAcpDriver(settings.kind, settings, deps);
    case 'drover-code':
      return createDroverCodeDriver(settings, deps);
    case 'amp':
      return createAmpDriver(settings, deps);
  }
}
