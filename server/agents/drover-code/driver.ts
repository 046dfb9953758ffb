// Drives Drover Code: usually headless, or over its IDE bridge if the safe probe shows that it uses
// pipes.

import { failure } from '../../core/failure.ts';
import type { RunRecord } from '../kit/log/run-record.ts';
import { wholeTask, type AgentRun } from '../kit/run/agent-run.ts';
import { failed, finalFailure } from '../kit/run/outcomes.ts';
import { programDriver } from '../kit/run/program-driver.ts';
import type { AgentDriver, AgentOutcome, AgentRequest, AgentSettings } from '../port.ts';
import { runBridge } from './bridge-run.ts';
import { askForConsent } from './checkout-trust.ts';
import {
  adoptHeadless,
  runHeadless,
  type DroverCodeDeps,
  type DroverCodeRun,
} from './headless-run.ts';
import { promptText } from './invocation.ts';
import { binaryKind } from './safe-probe.ts';
import { findSqlforge, sqlforgeGuidance } from './sqlforge.ts';
import { placeShim, takeRefused } from './sqlforge-shim.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

const programName = 'drover-code';

export function createDroverCodeDriver(settings: AgentSettings, deps: DroverCodeDeps): AgentDriver {
  const name = settings.path ?? programName;
  const ownRun = (run: AgentRun<DroverCodeDeps>): DroverCodeRun => {
    return { ...run, settings, prompt: run.record.mask(wholePrompt(run.request)) };
  };
  return programDriver({
    kind: 'drover-code',
    capabilities: { resume: false, questions: false, hints: false, cost: false, adopt: true },
    program: name,
    missing: `Drover Code ("${name}") was not found or cannot be executed: install it, or set [agent] path (DROVER_AGENT_PATH).`,
    deps,
    probe: async (program, env) => {
      const kind = await binaryKind(program, env['PATH'] ?? '', deps.processTable);
      const way = kind === 'bridge' ? 'driven over its bridge' : 'driven headless';
      return { ok: true, version: null, message: `${program} (${way})` };
    },
    run: async (run, program) => {
      if (wholeTask(run.request).trim() === '') return emptyPrompt();
      const own = ownRun(run);
      if (run.request.resume) noteForgotten(run.record);
      return (await askForConsent(own)) ?? (await runGuarded(own, program));
    },
    adopt: async (run, agent) => {
      try {
        return await adoptHeadless(ownRun(run), agent);
      } finally {
        tellRefused(run);
      }
    },
  });
}

/**
 * In a SQLForge project nothing may be applied: the prompt forbids it and the shim enforces it. The
 * shim is a shell script, so without a shell only the prompt applies.
 */
async function runGuarded(run: DroverCodeRun, program: string): Promise<AgentOutcome> {
  const { request, deps } = run;
  if (findSqlforge(request.cwd) === null || !thisPlatform.hasShell) {
    return await runEitherWay(run, program);
  }
  if (request.runsOn === 'remote') {
    const text = 'On a worker, only the prompt keeps the agent from applying SQLForge changes.';
    run.record.emit({ type: 'note', level: 'warning', text });
    return await runHeadless(run, program);
  }
  const env = placeShim(request.logPath, request.env, deps.baseDir);
  try {
    return await runEitherWay({ ...run, request: { ...request, env } }, program);
  } finally {
    tellRefused(run);
  }
}

function tellRefused({ request, record }: AgentRun): void {
  for (const words of takeRefused(request.logPath)) {
    const text = `Refused, as only a person may do it: ${record.mask(words)}`;
    record.emit({ type: 'note', level: 'warning', text });
  }
}

async function runEitherWay(run: DroverCodeRun, program: string): Promise<AgentOutcome> {
  const { env, runsOn } = run.request;
  // A bridge needs input while it runs.
  if (runsOn === 'remote') return await runHeadless(run, program);
  const kind = await binaryKind(program, env['PATH'] ?? '', run.deps.processTable);
  if (run.signal.aborted) return { kind: 'stopped' };
  return kind === 'bridge' ? await runBridge(run, program) : await runHeadless(run, program);
}

function wholePrompt(request: AgentRequest): string {
  const guidance = sqlforgeGuidance(request.cwd);
  const task = promptText(wholeTask(request));
  return guidance === null ? task : `${task}\n\n${guidance}\n`;
}

function noteForgotten(record: RunRecord): void {
  const text =
    'Drover Code does not keep conversations across processes. The earlier conversation is lost; a new one starts with the whole task.';
  record.emit({ type: 'note', level: 'warning', text });
}

function emptyPrompt(): AgentOutcome {
  const message = 'The prompt is empty: Drover Code would do nothing and report success.';
  return failed(finalFailure(failure('agent_failed', message)));
}
