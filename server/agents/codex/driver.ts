// Drives Codex on a worker through its exec mode, which needs no input while it runs. On this
// machine it is driven over ACP, like other agents.

import type { ProgramDeps } from '../kit/run/agent-run.ts';
import { oneWayOnWorkers } from '../kit/run/one-way-run.ts';
import type { AgentDriver, AgentSettings } from '../port.ts';
import { codexOneWay, codexProgram } from './one-way.ts';

/** @param here the driver that uses ACP on this machine */
export function createCodexDriver(
  settings: AgentSettings,
  deps: ProgramDeps,
  here: AgentDriver,
): AgentDriver {
  return oneWayOnWorkers(here, {
    program: codexProgram(settings),
    deps,
    agent: (request) => codexOneWay(settings, request),
  });
}
