// Drives Codex on a worker by its exec mode, which needs no one to write to it. Here it is driven
// over ACP, like others.

import { findProgramFor } from '../kit/process/find-program.ts';
import { adoptOneWay, runOneWay, type OneWayDeps } from '../kit/run/one-way-run.ts';
import type { AgentDriver, AgentSettings } from '../port.ts';
import { codexOneWay, codexProgram } from './one-way.ts';

export interface CodexDeps extends OneWayDeps {
  readonly baseDir: string;
}

/** @param here drives it over ACP */
export function createCodexDriver(
  settings: AgentSettings,
  deps: CodexDeps,
  here: AgentDriver,
): AgentDriver {
  return {
    ...here,
    run: async (request, host, signal) => {
      if (request.runsOn !== 'remote') return await here.run(request, host, signal);
      const name = codexProgram(settings);
      const program = findProgramFor(request, name, deps.baseDir) ?? name;
      return await runOneWay(codexOneWay(settings, request), program, deps, request, host, signal);
    },
    adopt: async (request, process, host, signal) => {
      if (request.runsOn !== 'remote') return await here.adopt(request, process, host, signal);
      const agent = codexOneWay(settings, request);
      return await adoptOneWay(agent, process, deps, request, host, signal);
    },
  };
}
