// Drives Codex: over ACP here, and on a worker by its exec mode, which needs nobody to write to it.

import { createAcpDriver, type AcpDeps } from '../acp/driver.ts';
import { findProgramFor } from '../kit/process/find-program.ts';
import { adoptOneWay, runOneWay, type OneWayDeps } from '../kit/run/one-way-run.ts';
import type { AgentDriver, AgentSettings } from '../port.ts';
import { codexOneWay, codexProgram } from './one-way.ts';

export function createCodexDriver(
  settings: AgentSettings,
  deps: AcpDeps & OneWayDeps,
): AgentDriver {
  const here = createAcpDriver('codex', settings, deps);
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
