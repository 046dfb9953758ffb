// Drives the demo agent: questions, hints, limits and resumed sessions work end to end without a
// model.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failure } from '../../core/failure.ts';
import type { AgentDriver, AgentHost, AgentOutcome, AgentRequest, ProcessTable } from '../port.ts';
import type { AgentEvent } from '../../protocol/agent-events.ts';
import { removeRawFiles } from '../kit/log/run-files.ts';
import { openRunRecord, type RunRecord } from '../kit/log/run-record.ts';
import type { AgentChild } from '../kit/process/spawn.ts';
import { followSpool, type OutputStream } from '../kit/run/spool.ts';
import { startProgram } from '../kit/run/start-program.ts';
import { superviseProgram, type ProgramEnd } from '../kit/process/supervise.ts';
import {
  decodeLine,
  demoStateVariable,
  encodeLine,
  type DemoResult,
  type FromDemo,
  type ToDemo,
} from './wire.ts';

export interface DemoDeps {
  readonly processTable: ProcessTable;
  readonly graceMs?: number;
}

type Question = Extract<AgentEvent, { type: 'question' }>;

const graceMsDefault = 2_000;

/** The bundled agent beside the bundled backend, or the source of both. */
function demoProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const bundled = join(here, 'demo-agent.cjs');
  return existsSync(bundled) ? bundled : join(here, 'main.ts');
}

export function createDemoDriver(deps: DemoDeps): AgentDriver {
  return {
    kind: 'demo',
    capabilities: { resume: true, questions: true, hints: true, cost: false, adopt: false },
    probe: () => {
      const path = demoProgram();
      const ok = existsSync(path);
      const message = ok ? path : `The demo agent is missing at ${path}: build the project again.`;
      return Promise.resolve({ ok, version: process.versions.node, message });
    },
    run: async (request, host, signal) => {
      if (signal.aborted) return { kind: 'stopped' };
      const record = await openRunRecord(request, host);
      try {
        return await runDemo({ request, host, signal, record, deps });
      } finally {
        await record.close();
      }
    },
    // Its input was our pipe: it ends by itself, and its session goes on behind its last step.
    adopt: () => Promise.resolve(null),
  };
}

interface DemoRun {
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly signal: AbortSignal;
  readonly record: RunRecord;
  readonly deps: DemoDeps;
}

async function runDemo(run: DemoRun): Promise<AgentOutcome> {
  const { request, host, record, deps } = run;
  let send: (message: ToDemo) => void = () => undefined;
  let result: DemoResult | null = null;
  const ended = new AbortController();

  const onLine = (stream: OutputStream, line: string): void => {
    const message = stream === 'stdout' ? decodeLine<FromDemo>(line) : null;
    if (message === null) record.emit({ type: 'output', stream, text: line });
    else if (message.type === 'result') result = message;
    else record.emit(message);
    if (message?.type === 'question') void ask(run, message, ended.signal, send);
    if (message?.type === 'hint') void host.hintDelivered(message.id);
  };

  const started = await startProgram({
    request,
    host,
    record,
    processTable: deps.processTable,
    program: process.execPath,
    args: [demoProgram()],
    env: {
      ...request.env,
      // An editor's program is plain Node only when it is told to be.
      ...('electron' in process.versions ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
      [demoStateVariable]: join(dirname(request.logPath), `demo-${request.sessionId}.json`),
    },
    stdin: 'pipe',
    onLeftoverLine: onLine,
  });
  if (!started.ok) return { kind: 'failed', failure: started.error };
  const child = started.value;
  send = (message) => child.stdin?.write(encodeLine(message));
  const { sessionId } = request;
  record.emit({ type: 'started', agent: 'demo', sessionId, resumed: request.resume });
  result = null;
  send({ type: 'prompt', text: request.prompt });
  const unsubscribe = host.onHint((hint) => {
    record.emit({ type: 'hint', ...hint, state: 'sent' });
    send({ type: 'hint', ...hint });
  });
  try {
    const end = await followChild(run, child, onLine);
    return outcomeOf(end, result, run);
  } finally {
    unsubscribe();
    ended.abort();
  }
}

async function followChild(
  run: DemoRun,
  child: AgentChild,
  onLine: (stream: OutputStream, line: string) => void,
): Promise<ProgramEnd> {
  const { request, record, deps } = run;
  const spool = followSpool({
    runId: request.runId,
    process: child.process,
    files: record.files,
    log: record.log,
    onLine,
  });
  try {
    child.release();
    const end = await superviseProgram({
      request,
      ...child,
      processTable: deps.processTable,
      signal: run.signal,
      startedAt: Date.now(),
      graceMs: deps.graceMs ?? graceMsDefault,
      onWarning: (text) => record.emit({ type: 'note', level: 'warning', text }),
    });
    await spool.finish();
    record.emit({ type: 'exit', ...end.exit });
    return end;
  } finally {
    spool.stop();
    removeRawFiles(record.files);
  }
}

async function ask(
  run: DemoRun,
  question: Question,
  signal: AbortSignal,
  send: (message: ToDemo) => void,
): Promise<void> {
  const { requestId } = question;
  const choice = await run.host.ask(question, signal);
  if (signal.aborted) return;
  if (choice === null) run.record.emit({ type: 'question_withdrawn', requestId });
  else run.record.emit({ type: 'answered', requestId, choice });
  send({ type: 'answer', requestId, choice });
}

function outcomeOf(end: ProgramEnd, result: DemoResult | null, run: DemoRun): AgentOutcome {
  if (end.why === 'stopped') return { kind: 'stopped' };
  if (end.why === 'timeout') {
    const message = 'The demo agent was ended at the limit for one attempt (task_timeout).';
    return { kind: 'failed', failure: failure('timeout', message) };
  }
  if (result === null) {
    const message = `The demo agent ended without a result (exit code ${end.exit.code ?? 'none'}).`;
    return { kind: 'failed', failure: failure('agent_failed', message) };
  }
  const { mask } = run.record;
  switch (result.status) {
    case 'done': {
      const done = { kind: 'done', summary: mask(result.summary), deniedTools: [] } as const;
      return result.blockedReason === undefined
        ? done
        : { ...done, blockedReason: mask(result.blockedReason) };
    }
    case 'failed': {
      const message = `The demo agent failed: ${mask(result.message)}.`;
      return { kind: 'failed', failure: failure('agent_failed', message) };
    }
    case 'limited':
      return { kind: 'limited', untilMs: result.untilMs, message: result.message };
  }
}
