// Drives Codex on a worker by its exec mode, which needs no one to write to it. Here it is driven
// over ACP, like others.

import type { ProgramDeps } from '../kit/run/agent-run.ts';
import { oneWayOnWorkers } from '../kit/run/one-way-run.ts';
import type { AgentDriver, AgentSettings } from '../port.ts';
import { codexOneWay, codexProgram } from './one-way.ts';

/** @param here drives it over ACP */
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
