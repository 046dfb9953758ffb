// Drives the demo agent, with which questions, hints, limits and resumed sessions work end to end
// without a model.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failure } from '../../core/failure.ts';
import type { AgentEvent } from '../../protocol/agent-events.ts';
import type { AgentChild } from '../kit/process/spawn.ts';
import type { ProgramEnd } from '../kit/process/supervise.ts';
import type { AgentRun, ProgramDeps } from '../kit/run/agent-run.ts';
import { failed } from '../kit/run/outcomes.ts';
import { programDriver } from '../kit/run/program-driver.ts';
import { runProgram, type ProgramFollower } from '../kit/run/run-program.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import type { AgentDriver, AgentOutcome } from '../port.ts';
import {
  decodeLine,
  demoStateVariable,
  encodeLine,
  type DemoResult,
  type FromDemo,
  type ToDemo,
} from './wire.ts';

type Question = Extract<AgentEvent, { type: 'question' }>;

const graceMsDefault = 2_000;

/** The bundled agent beside the bundled backend, or the sources of both. */
function demoProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const bundled = join(here, 'demo-agent.cjs');
  return existsSync(bundled) ? bundled : join(here, 'main.ts');
}

export function createDemoDriver(deps: ProgramDeps): AgentDriver {
  return programDriver({
    kind: 'demo',
    capabilities: { resume: true, questions: true, hints: true, cost: false, adopt: false },
    program: process.execPath,
    missing: `Node.js was not found at ${process.execPath}.`,
    deps: { graceMs: graceMsDefault, ...deps },
    probe: () => {
      const path = demoProgram();
      const ok = existsSync(path);
      const message = ok ? path : `The demo agent is missing at ${path}: build the project again.`;
      return Promise.resolve({ ok, version: process.versions.node, message });
    },
    // Its input was our pipe. Without a stop, it exits by itself and its session continues after
    // its last step.
    run: runDemo,
  });
}

async function runDemo(run: AgentRun, node: string): Promise<AgentOutcome> {
  const { request } = run;
  const follower = new DemoFollower(run);
  const start = {
    program: node,
    args: [demoProgram()],
    env: {
      ...request.env,
      // An editor's program runs as plain Node only with this variable.
      ...('electron' in process.versions ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
      [demoStateVariable]: join(dirname(request.logPath), `demo-${request.sessionId}.json`),
    },
    stdin: 'pipe',
    onLeftoverLine: (stream: OutputStream, line: string) => follower.takeLine(stream, line),
  } as const;
  const { outcome } = await runProgram(run, start, (child) => follower.of(child));
  return outcome;
}

class DemoFollower implements ProgramFollower {
  readonly #run: AgentRun;
  readonly #over = new AbortController();
  #child: AgentChild | null = null;
  #result: DemoResult | null = null;
  #offHint: (() => void) | null = null;

  constructor(run: AgentRun) {
    this.#run = run;
  }

  /** Binds the following lines to this process. */
  of(child: AgentChild): this {
    this.#child = child;
    this.#result = null;
    return this;
  }

  begin(): void {
    const { request, host, record } = this.#run;
    const { sessionId, resume, prompt } = request;
    record.emit({ type: 'started', agent: 'demo', sessionId, resumed: resume });
    this.#send({ type: 'prompt', text: prompt });
    this.#offHint = host.onHint((hint) => {
      record.emit({ type: 'hint', ...hint, state: 'sent' });
      this.#send({ type: 'hint', ...hint });
    });
  }

  takeLine(stream: OutputStream, line: string): void {
    const { record, host } = this.#run;
    const message = stream === 'stdout' ? decodeLine<FromDemo>(line) : null;
    if (message === null) record.emit({ type: 'output', stream, text: line });
    else if (message.type === 'result') this.#result = message;
    else record.emit(message);
    if (message?.type === 'question') void this.#ask(message);
    if (message?.type === 'hint') void host.hintDelivered(message.id);
  }

  stop(): void {
    this.#offHint?.();
    this.#over.abort();
  }

  outcome(end: ProgramEnd): AgentOutcome {
    return outcomeOf(end, this.#result);
  }

  #send(message: ToDemo): void {
    this.#child?.stdin?.write(encodeLine(message));
  }

  async #ask(question: Question): Promise<void> {
    const { host, record, signal } = this.#run;
    const { requestId } = question;
    const over = this.#over.signal;
    const choice = await host.ask(question, AbortSignal.any([over, signal]));
    if (over.aborted) return;
    if (choice === null) record.emit({ type: 'question_withdrawn', requestId });
    else record.emit({ type: 'answered', requestId, choice });
    // A stopped agent would treat it as an answer and would not ask again when resumed.
    if (signal.aborted) return;
    this.#send({ type: 'answer', requestId, choice });
  }
}

function outcomeOf(end: ProgramEnd, result: DemoResult | null): AgentOutcome {
  if (end.why === 'stopped') return { kind: 'stopped' };
  if (end.why === 'timeout') {
    const message = 'The demo agent was ended at the limit for one attempt (task_timeout).';
    return failed(failure('timeout', message));
  }
  if (result === null) {
    const message = `The demo agent ended without a result (exit code ${end.exit.code ?? 'none'}).`;
    return failed(failure('agent_failed', message));
  }
  switch (result.status) {
    case 'done': {
      const done = { kind: 'done', summary: result.summary, deniedTools: [] } as const;
      const { blockedReason } = result;
      return blockedReason === undefined ? done : { ...done, blockedReason };
    }
    case 'failed':
      return failed(failure('agent_failed', `The demo agent failed: ${result.message}.`));
    case 'limited':
      return { kind: 'limited', untilMs: result.untilMs, message: result.message };
  }
}
