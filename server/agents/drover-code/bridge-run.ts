// One run of Drover Code over its IDE bridge: handshake, one execution, end. It uses our pipes, so
// it cannot be adopted.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { failure, ok, type Failure, type Result } from '../../core/failure.ts';
import { graceMsDefault } from '../kit/run/agent-run.ts';
import { failed, finalFailure, outcomeSummary, timedOut } from '../kit/run/outcomes.ts';
import { withLine } from '../kit/wire/text-tail.ts';
import { maskOutcome } from '../kit/log/outcome-mask.ts';
import type { AgentOutcome, AgentProcess } from '../port.ts';
import { runMarker, startTimeOfNewChild } from '../kit/process/process-list.ts';
import { startInGroup } from '../kit/process/run-group.ts';
import type { AgentExit } from '../kit/process/spawn.ts';
import { exitEvent, superviseProgram, type ProgramEnd } from '../kit/process/supervise.ts';
import { BridgeClient, type BridgeError, type BridgeTiming } from './bridge-client.ts';
import type { DroverCodeRun } from './headless-run.ts';
import { bridgeEnvironment, headlessFiles } from './invocation.ts';
import { keyFailure } from './outcome.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

type OwnEnd = 'finished' | 'broken';
type Answer = Result<string, BridgeError>;

const stderrCharsMax = 4_096;
const closeMs = 5_000;
const streamedCharsMax = 32 * 1024 * 1024;

interface Bridge {
  readonly child: ChildProcessWithoutNullStreams;
  readonly client: BridgeClient;
  readonly ownEnd: PromiseWithResolvers<OwnEnd>;
  stderrTail: string;
  streamed: string;
}

export async function runBridge(
  run: DroverCodeRun,
  program: string,
  timing: Partial<BridgeTiming> = {},
): Promise<AgentOutcome> {
  const { request, record, settings, deps } = run;
  // Lets `adopt` know that this run cannot be followed.
  rmSync(headlessFiles(request.logPath).base, { force: true });
  const env = {
    DROVER_TASK_ID: request.taskId,
    DROVER_ATTEMPT: String(request.attempt),
    ...bridgeEnvironment(request.env, settings),
  };
  const start = { program, args: settings.args, env };
  const confined = (await request.confine?.(start)) ?? ok(start);
  if (!confined.ok) return failed(confined.error);
  const { program: starter, args } = startInGroup(request.runId, confined.value);
  const child = spawn(starter, [...args], {
    cwd: request.cwd,
    env: { ...confined.value.env, [runMarker]: request.runId },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: thisPlatform.hasProcessGroups,
  });
  const exited = exitOf(child);
  if (child.pid === undefined) {
    const message = `Drover Code ("${program}") could not be started in ${request.cwd}.`;
    return failed(failure('agent_failed', record.mask(message)));
  }
  const started: AgentProcess = { pid: child.pid, startTime: startTimeOfNewChild(child.pid) };
  const bridge = connect(run, child, timing);
  try {
    // It does nothing before a request and ends when our pipe closes, so it is stored before its
    // first work.
    await run.host.onProcess(started);
  } catch (error) {
    await deps.processTable.endTree(request.runId, started, 0);
    throw error;
  }
  record.emit({ type: 'started', agent: 'drover-code', sessionId: null, resumed: false });
  const answering = converse(bridge, run.prompt);
  const supervising = superviseProgram<OwnEnd>({
    runId: request.runId,
    timeoutMs: request.timeoutMs,
    process: started,
    exited,
    processTable: deps.processTable,
    signal: run.signal,
    startedAt: Date.now(),
    graceMs: deps.graceMs ?? graceMsDefault,
    onWarning: (text) => record.emit({ type: 'note', level: 'warning', text }),
    ownEnd: bridge.ownEnd.promise,
    askToEnd: (why) => {
      if (why !== 'finished') return 0;
      child.stdin.end();
      return closeMs;
    },
  });
  const end = await supervising;
  child.stdin.destroy();
  bridge.client.close(closedBy(end, bridge.stderrTail));
  const answer = await answering;
  record.emit(exitEvent(end));
  return maskOutcome(bridgeOutcome(run, bridge, end, answer), record.mask);
}

/** How long the output is read after the exit. */
const outputGraceMs = 2_000;

function exitOf(child: ChildProcessWithoutNullStreams): Promise<AgentExit> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    // A process that it left behind may hold the output open.
    child.once('exit', (code, signal) => {
      setTimeout(() => resolve({ code, signal }), outputGraceMs).unref();
    });
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

function connect(
  run: DroverCodeRun,
  child: ChildProcessWithoutNullStreams,
  timing: Partial<BridgeTiming>,
): Bridge {
  const { record } = run;
  const ownEnd = Promise.withResolvers<OwnEnd>();
  child.stdin.on('error', () => undefined);
  const client = new BridgeClient({
    write: (frame) => child.stdin.write(frame),
    drained: async () => {
      const gone = once(child, 'close');
      await Promise.race([once(child.stdin, 'drain'), gone]).catch(() => undefined);
    },
    onText: (text) => {
      bridge.streamed = `${bridge.streamed}${text}`.slice(0, streamedCharsMax);
      record.emit({ type: 'text', text });
    },
    onLog: (text) => record.emit({ type: 'output', stream: 'stdout', text }),
    onBroken: () => ownEnd.resolve('broken'),
    timing,
  });
  const bridge: Bridge = { child, client, ownEnd, stderrTail: '', streamed: '' };
  child.stdout.on('data', (chunk: Buffer) => client.take(chunk));
  createInterface({ input: child.stderr }).on('line', (text) => {
    bridge.stderrTail = withLine(bridge.stderrTail, text, stderrCharsMax);
    record.emit({ type: 'output', stream: 'stderr', text });
  });
  return bridge;
}

async function converse(bridge: Bridge, prompt: string): Promise<Answer> {
  const greeted = await bridge.client.initialize();
  if (!greeted.ok) return greeted;
  const answer = await bridge.client.execute(prompt);
  bridge.ownEnd.resolve('finished');
  return answer;
}

function closedBy(end: ProgramEnd<OwnEnd>, stderrTail: string): BridgeError {
  return end.why === 'stopped'
    ? { kind: 'cancelled', message: 'The run was stopped; the conversation is lost.' }
    : { kind: 'process-exited', message: `Drover Code exited before it answered.\n${stderrTail}` };
}

function bridgeOutcome(
  run: DroverCodeRun,
  bridge: Bridge,
  end: ProgramEnd<OwnEnd>,
  answer: Answer,
): AgentOutcome {
  if (end.why === 'stopped') return { kind: 'stopped' };
  if (end.why === 'timeout') return timedOut('Drover Code', run.request.timeoutMs);
  if (!answer.ok) return failed(bridgeFailure(answer.error, end, bridge));
  const text = notYetShown(answer.value, bridge.streamed);
  if (text !== '') run.record.emit({ type: 'text', text });
  return { kind: 'done', summary: outcomeSummary(answer.value, run.request), deniedTools: [] };
}

/**
 * The stream may have gaps but the answer is complete, so the answer is emitted too if they differ.
 */
function notYetShown(answer: string, streamed: string): string {
  if (streamed === '') return answer;
  return answer.startsWith(streamed) ? answer.slice(streamed.length) : `\n${answer}`;
}

function bridgeFailure(error: BridgeError, end: ProgramEnd<OwnEnd>, bridge: Bridge): Failure {
  if (end.exit.code === 2 && bridge.stderrTail.includes('set ANTHROPIC_API_KEY')) {
    return keyFailure('no key is set');
  }
  const message = `Drover Code: ${error.message}`;
  switch (error.kind) {
    case 'timeout':
      return failure('agent_stalled', message, bridge.stderrTail);
    case 'rpc':
    case 'process-exited':
    case 'cancelled':
    case 'busy':
      return failure('agent_failed', message, bridge.stderrTail);
    case 'frame-too-large':
    case 'incompatible':
    case 'empty-prompt':
      return finalFailure(failure('agent_failed', message, bridge.stderrTail));
  }
}
