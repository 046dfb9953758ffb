// Drives Drover Code: headless as a rule, over its IDE bridge where the safe probe shows that pipes
// reach it.

import { failure } from '../../core/failure.ts';
import { findProgram, findProgramFor } from '../kit/process/find-program.ts';
import type { AgentDriver, AgentHost, AgentOutcome, AgentRequest, AgentSettings } from '../port.ts';
import { openRunRecord, type RunRecord } from '../kit/log/run-record.ts';
import { runBridge } from './bridge-run.ts';
import { askForConsent } from './checkout-trust.ts';
import {
  adoptHeadless,
  emptyPrompt,
  runHeadless,
  type DroverCodeDeps,
  type DroverCodeRun,
} from './headless-run.ts';
import { promptText } from './invocation.ts';
import { binaryKind } from './safe-probe.ts';
import { findSqlforge, sqlforgeGuidance } from './sqlforge.ts';
import { placeShim, takeRefused } from './sqlforge-shim.ts';

const programName = 'drover-code';

export function createDroverCodeDriver(settings: AgentSettings, deps: DroverCodeDeps): AgentDriver {
  const name = settings.path ?? programName;
  const missing = `Drover Code ("${name}") was not found or cannot be executed: install it, or set [agent] path (DROVER_AGENT_PATH).`;
  const runOf = (
    request: AgentRequest,
    host: AgentHost,
    signal: AbortSignal,
    record: RunRecord,
  ): DroverCodeRun => ({
    request,
    host,
    signal,
    record,
    settings,
    deps,
    prompt: record.mask(wholePrompt(request)),
  });
  return {
    kind: 'drover-code',
    capabilities: { resume: false, questions: false, hints: false, cost: false, adopt: true },
    probe: async () => {
      const program = findProgram(name, process.env, deps.baseDir);
      if (program === null) return { ok: false, version: null, message: missing };
      const kind = await binaryKind(program, process.env['PATH'] ?? '', deps.processTable);
      const way = kind === 'bridge' ? 'driven over its bridge' : 'driven headless';
      return { ok: true, version: null, message: `${program} (${way})` };
    },
    run: async (request, host, signal) => {
      if (signal.aborted) return { kind: 'stopped' };
      const program = findProgramFor(request, name, deps.baseDir);
      if (program === null) return { kind: 'failed', failure: failure('agent_missing', missing) };
      if (wholeTask(request).trim() === '') return emptyPrompt();
      const record = await openRunRecord(request, host);
      try {
        const run = runOf(request, host, signal, record);
        if (request.resume) noteForgotten(record);
        return (await askForConsent(run)) ?? (await runGuarded(run, program));
      } finally {
        await record.close();
      }
    },
    adopt: async (request, agent, host, signal) => {
      const record = await openRunRecord(request, host);
      const run = runOf(request, host, signal, record);
      try {
        return await adoptHeadless(agent, run);
      } finally {
        tellRefused(run);
        await record.close();
      }
    },
  };
}

/**
 * In a SQLForge project nothing is applied: the words in the prompt ask for it, the shim sees to
 * it. It is a shell script: on Windows the words have to do.
 */
async function runGuarded(run: DroverCodeRun, program: string): Promise<AgentOutcome> {
  const { request, deps } = run;
  if (findSqlforge(request.cwd) === null || process.platform === 'win32') {
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

function tellRefused({ request, record }: DroverCodeRun): void {
  for (const words of takeRefused(request.logPath)) {
    const text = `Refused, as only a person may do it: ${record.mask(words)}`;
    record.emit({ type: 'note', level: 'warning', text });
  }
}

async function runEitherWay(run: DroverCodeRun, program: string): Promise<AgentOutcome> {
  const { env, runsOn } = run.request;
  // A bridge is written to while it runs.
  if (runsOn === 'remote') return await runHeadless(run, program);
  const kind = await binaryKind(program, env['PATH'] ?? '', run.deps.processTable);
  if (run.signal.aborted) return { kind: 'stopped' };
  return kind === 'bridge' ? await runBridge(run, program) : await runHeadless(run, program);
}

/** A process remembers nothing of the one before it. */
function wholeTask(request: AgentRequest): string {
  return request.resume ? (request.promptIfForgotten ?? request.prompt) : request.prompt;
}

function wholePrompt(request: AgentRequest): string {
  const guidance = sqlforgeGuidance(request.cwd);
  const task = promptText(wholeTask(request));
  return guidance === null ? task : `${task}\n\n${guidance}\n`;
}

function noteForgotten(record: RunRecord): void {
  const text =
    'Drover Code does not keep conversations across processes. The earlier one is lost; a new one starts with the whole task.';
  record.emit({ type: 'note', level: 'warning', text });
}
