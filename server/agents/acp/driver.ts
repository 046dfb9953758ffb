// Drives agents that support the Agent Client Protocol: Codex, OpenCode, Gemini CLI, Copilot CLI,
// or one that the user names.

import type { AgentRun, ProgramDeps } from '../kit/run/agent-run.ts';
import { JsonInput } from '../kit/run/json-input.ts';
import { probeVersion } from '../kit/process/program-version.ts';
import { programDriver } from '../kit/run/program-driver.ts';
import { runProgram } from '../kit/run/run-program.ts';
import type { AgentDriver, AgentOutcome, AgentSettings } from '../port.ts';
import { acpArguments, acpPrograms, type AcpKind } from './programs.ts';

export interface AcpDeps extends ProgramDeps {
  /** Drover's version, sent in the handshake. */
  readonly version: string;
}

export function createAcpDriver(
  kind: AcpKind,
  settings: AgentSettings,
  deps: AcpDeps,
): AgentDriver {
  const { title, program, install } = acpPrograms[kind];
  const name = settings.path ?? program;
  return programDriver({
    kind,
    capabilities: { resume: true, questions: true, hints: false, cost: true, adopt: false },
    program: name,
    missing:
      name === null
        ? `The agent kind "${kind}" needs a program: ${install}.`
        : `${title} ("${name}") was not found or cannot be executed: ${install}, or set [agent] path (DROVER_AGENT_PATH).`,
    deps,
    locksSession: true,
    ...(kind === 'acp' ? {} : { probe: (found, env) => probeAcp(kind, settings, found, env) }),
    // Its input is our pipe. If that was closed, a new process loads the session.
    run: (run, found) => runAcp(run, kind, settings, found),
  });
}

/** A program named in the settings may be a wrapper that does not know the flag. */
async function probeAcp(
  kind: AcpKind,
  settings: AgentSettings,
  program: string,
  env: Readonly<Record<string, string>>,
): ReturnType<AgentDriver['probe']> {
  const found = await probeVersion(program, env, acpPrograms[kind].env);
  return settings.path === null ? found : { ...found, ok: true };
}

async function runAcp(
  run: AgentRun<AcpDeps>,
  kind: AcpKind,
  settings: AgentSettings,
  program: string,
): Promise<AgentOutcome> {
  // Loaded on demand, because the protocol's library is only needed for such agents.
  const { AcpSession } = await import('./session.ts');
  const { request, deps } = run;
  const start = {
    program,
    args: acpArguments(kind, settings, request.tools),
    env: { ...acpPrograms[kind].env, ...request.env },
    stdin: 'pipe',
    // Output that went to a dead backend is also in the session, which is loaded.
    onLeftoverLine: () => undefined,
  } as const;
  const { version } = deps;
  const { outcome } = await runProgram(
    run,
    start,
    (child) =>
      new AcpSession({ run, kind, settings, program, version, input: new JsonInput(child) }),
  );
  return outcome;
}
