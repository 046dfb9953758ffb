// Drives any program: the prompt on stdin, exit code 0 as success, its output as the stream. It can
// be adopted.

import { basename } from 'node:path';
import { failure } from '../../core/failure.ts';
import { planCharactersMax } from '../../core/prompt/plan-prompt.ts';
import { cutStart } from '../../core/prompt/prompt-text.ts';
import { failureLines } from '../../core/prompt/failure-lines.ts';
import { readLogTail } from '../kit/log/event-log-reader.ts';
import type { AgentExit } from '../kit/process/spawn.ts';
import type { SilenceWatch } from '../kit/process/silence.ts';
import type { ProgramEnd } from '../kit/process/supervise.ts';
import type { AgentRun, ProgramDeps } from '../kit/run/agent-run.ts';
import { outcomeDetail, failed, timedOut } from '../kit/run/outcomes.ts';
import { programDriver } from '../kit/run/program-driver.ts';
import { adoptProgram, runProgram, type ProgramFollower } from '../kit/run/run-program.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import { watchStall } from '../kit/run/stall-watch.ts';
import type { AgentDriver, AgentOutcome, AgentRequest, AgentSettings } from '../port.ts';

const summaryCharsMax = 200;
const tailEvents = 400;
/** Maximum characters of output that a failure's message repeats. */
const saidCharsMax = 300;

export function createCommandDriver(settings: AgentSettings, deps: ProgramDeps): AgentDriver {
  const path = settings.path ?? '';
  const name = basename(path);
  return programDriver({
    kind: 'command',
    capabilities: { resume: false, questions: false, hints: false, cost: false, adopt: true },
    program: path === '' ? null : path,
    missing:
      path === ''
        ? 'The agent kind "command" needs a program: set [agent] path (or DROVER_AGENT_PATH).'
        : `The agent program "${path}" was not found or cannot be executed: check [agent] path (or DROVER_AGENT_PATH) and the file's permissions.`,
    deps,
    run: async (run, program) => await runCommand(name, program, settings.args, run),
    adopt: (run, process) => adoptProgram(run, process, () => new CommandFollower(name, run)),
  });
}

async function runCommand(
  name: string,
  program: string,
  args: readonly string[],
  run: AgentRun,
): Promise<AgentOutcome> {
  const { request, record } = run;
  const start = {
    program,
    args,
    env: { ...request.env, ...toolVariables(request.tools) },
    stdin: 'file',
    onLeftoverLine: (stream: OutputStream, text: string) =>
      record.emit({ type: 'output', stream, text }),
  } as const;
  const { outcome } = await runProgram(run, start, () => {
    record.emit({ type: 'started', agent: 'command', sessionId: null, resumed: request.resume });
    return new CommandFollower(name, run);
  });
  return outcome;
}

/** A program can use these to start Drover's MCP server. */
function toolVariables(tools: AgentRequest['tools']): Readonly<Record<string, string>> {
  if (tools === undefined) return {};
  return {
    ...tools.env,
    DROVER_MCP_COMMAND: tools.command,
    DROVER_MCP_ARGS: JSON.stringify(tools.args),
    DROVER_MCP_CONFIG: tools.configPath,
  };
}

/** The outcome only depends on the log, so that it is the same after any crash. */
class CommandFollower implements ProgramFollower {
  readonly #name: string;
  readonly #run: AgentRun;
  readonly #silence: SilenceWatch;

  constructor(name: string, run: AgentRun) {
    this.#name = name;
    this.#run = run;
    this.#silence = watchStall(run, {
      note: (seconds) => `${name} has printed nothing for ${seconds} s.`,
      onEnd: null, // A program may print nothing until its end; the wall time limits it
    });
  }

  takeLine(stream: OutputStream, text: string): void {
    this.#silence.touch();
    this.#run.record.emit({ type: 'output', stream, text });
  }

  stop(): void {
    this.#silence.stop();
  }

  get isExitTold(): boolean {
    return readLogTail(this.#run.request.logPath, 1).events.at(-1)?.type === 'exit';
  }

  outcome(end: ProgramEnd): AgentOutcome {
    const { request } = this.#run;
    const tail = tailOf(request.logPath);
    switch (end.why) {
      case 'stopped':
        return { kind: 'stopped' };
      case 'timeout':
        return timedOut(this.#name, request.timeoutMs, tail.detail);
      case 'exited': {
        if (end.exit.code === 0) {
          const summary = request.planning === true ? tail.plan : tail.summary;
          return { kind: 'done', summary, deniedTools: [] };
        }
        const said = (failureLines(tail.detail, 1)[0] ?? '').slice(0, saidCharsMax);
        const ending = said === '' ? '.' : `: ${said}`;
        const message = `${this.#name} ${describeExit(end.exit)}${ending}`;
        return failed(failure('agent_failed', message, tail.detail));
      }
    }
  }
}

function describeExit(exit: AgentExit): string {
  if (exit.code === null)
    return exit.signal === null ? 'was killed' : `was killed by ${exit.signal}`;
  // Shells report a death by signal n as exit code 128 + n.
  return exit.code > 128
    ? `ended with exit code ${exit.code} (signal ${exit.code - 128})`
    : `ended with exit code ${exit.code}`;
}

interface PrintedTail {
  readonly summary: string;
  readonly detail: string;
  /** As much of stdout as is read: for a planning program, its output is the plan. */
  readonly plan: string;
}

/** The last line of stdout as the summary, and the end of all output as evidence. */
function tailOf(logPath: string): PrintedTail {
  const printed = readLogTail(logPath, tailEvents).events.flatMap((event) =>
    event.type === 'output' ? [event] : [],
  );
  const lines = printed.filter((line) => line.text.trim() !== '');
  const summary = lines.findLast((line) => line.stream === 'stdout')?.text.trim() ?? '';
  const detail = lines.map((line) => line.text).join('\n');
  const plan = printed.flatMap((line) => (line.stream === 'stdout' ? [line.text] : [])).join('\n');
  return {
    summary: summary.slice(0, summaryCharsMax),
    detail: outcomeDetail(detail),
    plan: cutStart(plan, planCharactersMax),
  };
}
