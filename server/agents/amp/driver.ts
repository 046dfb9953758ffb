// Drives Amp through its execute mode: the prompt on standard input, JSON lines as output, one
// process per part, threads continued by id.

import { probeVersion } from '../kit/process/program-version.ts';
import { wholeTask } from '../kit/run/agent-run.ts';
import { readKeptSession } from '../kit/run/kept-session.ts';
import { programDriver } from '../kit/run/program-driver.ts';
import type { RunRecord } from '../kit/log/run-record.ts';
import type { AgentDriver, AgentOutcome, AgentSettings } from '../port.ts';
import { adoptAmp, startAmp, type AmpDeps, type AmpRun } from './run.ts';
import { threadInLeftovers } from './run-state.ts';

const noUpdate = { AMP_SKIP_UPDATE_CHECK: '1' };

export function createAmpDriver(settings: AgentSettings, deps: AmpDeps): AgentDriver {
  const name = settings.path ?? 'amp';
  return programDriver({
    kind: 'amp',
    capabilities: { resume: true, questions: false, hints: false, cost: false, adopt: true },
    program: name,
    missing: `Amp ("${name}") was not found or cannot be executed: install it (npm install -g @ampcode/cli), or set [agent] path (DROVER_AGENT_PATH).`,
    deps,
    probe: (program, env) => probeVersion(program, env, noUpdate),
    run: async (run, program) => await runThread(run, settings, program),
    adopt: adoptAmp,
  });
}

/** Continues its thread. If the thread no longer exists, starts a new one with the whole task. */
async function runThread(
  run: AmpRun,
  settings: AgentSettings,
  program: string,
): Promise<AgentOutcome> {
  const { request, record } = run;
  if (request.resume) {
    const threadId = readKeptSession('amp', request) ?? threadInLeftovers(record.files.stdout);
    if (threadId !== null) {
      const end = await startAmp(run, settings, { program, threadId, prompt: request.prompt });
      if (!end.isThreadGone || run.signal.aborted) return end.outcome;
    }
    noteForgotten(record);
  }
  const prompt = wholeTask(request);
  return (await startAmp(run, settings, { program, threadId: null, prompt })).outcome;
}

function noteForgotten(record: RunRecord): void {
  const text = 'The Amp thread to resume is missing. A new one starts with the whole task.';
  record.emit({ type: 'note', level: 'warning', text });
}
