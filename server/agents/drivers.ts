// Returns the driver for the agent kind in the settings.

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
  /** Drover's version, sent to agents that ask for the client. */
  readonly version: string;
  /** The project's root, to which program paths are relative. */
  readonly baseDir: string;
  /** True if the user trusts the repository, so that the agent may use its agent settings. */
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
