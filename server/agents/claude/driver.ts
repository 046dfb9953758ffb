// Drives Claude Code over its control protocol, without the SDK: one process per part, and a
// session that outlives every process.

import { factsOfLog } from '../kit/log/log-facts.ts';
import type { RunRecord } from '../kit/log/run-record.ts';
import { findProgram } from '../kit/process/find-program.ts';
import { probeVersion } from '../kit/process/program-version.ts';
import type { AgentRun, ProgramDeps } from '../kit/run/agent-run.ts';
import { JsonInput } from '../kit/run/json-input.ts';
import { oneWayOnWorkers } from '../kit/run/one-way-run.ts';
import { programDriver } from '../kit/run/program-driver.ts';
import { runProgram } from '../kit/run/run-program.ts';
import type { AgentDriver, AgentOutcome, AgentRequest, AgentSettings } from '../port.ts';
import type { Usage } from '../../protocol/agent-events.ts';
import { claudeAccount } from './account.ts';
import { claudeArguments, claudeEnvironment, hasConversation } from './invocation.ts';
import { takeLeftoverLines } from './leftovers.ts';
import { claudeOneWay } from './one-way.ts';
import { ClaudeSession, type OwnEnd } from './session.ts';

export interface ClaudeDeps extends ProgramDeps {
  /** True if the user trusts the repository. Its Claude settings then apply, which may run code. */
  readonly trusted: boolean;
}

type ClaudeRun = AgentRun<ClaudeDeps>;

export const testedVersion = '2.1.329';

export function createClaudeDriver(settings: AgentSettings, deps: ClaudeDeps): AgentDriver {
  const name = settings.path ?? 'claude';
  const here = programDriver({
    kind: 'claude',
    capabilities: {
      resume: true,
      forks: true,
      questions: true,
      hints: true,
      cost: true,
      adopt: false,
    },
    program: name,
    missing: `Claude Code ("${name}") was not found or cannot be executed: install it (npm install -g @anthropic-ai/claude-code), or set [agent] path (DROVER_AGENT_PATH).`,
    deps,
    // Claude Code itself has no lock, and the last written branch would win.
    locksSession: true,
    probe: probeClaude,
    // Its input was our pipe, which is closed, so open questions have failed. Its session is
    // resumed instead, and that run adds the remaining output to the log.
    run: async (run, program) => await runSession(run, settings, program),
  });
  const both = oneWayOnWorkers(here, {
    program: name,
    deps,
    agent: (request) => claudeOneWay(settings, deps.trusted, request),
  });
  return {
    ...both,
    account: async (env) => {
      const program = findProgram(name, env, deps.baseDir);
      return program === null ? null : await claudeAccount(program, env, settings);
    },
    interactive: (sessionId, env) => {
      const program = findProgram(name, env, deps.baseDir) ?? name;
      return sessionId === null ? [program] : [program, '--resume', sessionId];
    },
  };
}

async function probeClaude(
  program: string,
  env: Readonly<Record<string, string>>,
): ReturnType<AgentDriver['probe']> {
  const found = await probeVersion(program, env);
  const isOld = found.version !== null && compareVersions(found.version, testedVersion) < 0;
  if (!isOld) return found;
  const message = `${program}; Drover is tested with ${testedVersion}, which is newer`;
  return { ...found, message };
}

export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (const index of [0, 1, 2]) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Starts or resumes a session. If the session turns out to exist, or not to exist, tries the other
 * way once.
 */
async function runSession(
  run: ClaudeRun,
  settings: AgentSettings,
  program: string,
): Promise<AgentOutcome> {
  const { request, record } = run;
  const exists = hasConversation(homeOf(request), request.sessionId);
  const resume = exists ?? request.resume;
  if (resume !== request.resume) noteOtherwise(record, resume);
  const fork = resume ? undefined : conversationToFork(run);
  const way: SessionWay = fork === undefined ? { resume } : { resume, forkOf: fork };
  const first = await runProcess(run, settings, program, way);
  if (!isOtherwise(first.follower, request, way) || run.signal.aborted) return first.outcome;
  if (fork === undefined) noteOtherwise(record, !resume);
  else noteLostFork(record);
  const other = fork === undefined ? !resume : false;
  return (await runProcess(run, settings, program, { resume: other })).outcome;
}

/** A new session, an existing one, or a new one that starts from another conversation. */
interface SessionWay {
  readonly resume: boolean;
  readonly forkOf?: string;
}

function conversationToFork({ request, record }: ClaudeRun): string | undefined {
  const { forkOf } = request;
  if (forkOf === undefined || hasConversation(homeOf(request), forkOf) !== false) return forkOf;
  noteLostFork(record);
  return undefined;
}

function noteLostFork(record: RunRecord): void {
  const text =
    'The conversation to continue is missing. A new one starts with its request and its report.';
  record.emit({ type: 'note', level: 'warning', text });
}

/** The folder with this run's conversations. */
function homeOf(request: AgentRequest): Readonly<Record<string, string>> {
  const home = request.confinedHome;
  return home === undefined ? request.env : { HOME: home };
}

function noteOtherwise(record: RunRecord, resume: boolean): void {
  const text = resume
    ? 'This conversation already exists, so it is resumed.'
    : 'The conversation to resume is missing. A new one starts with the same id.';
  record.emit({ type: 'note', level: 'warning', text });
}

function runProcess(
  run: ClaudeRun,
  settings: AgentSettings,
  program: string,
  way: SessionWay,
): ReturnType<typeof runProgram<OwnEnd, ClaudeSession>> {
  const { request, record, deps } = run;
  const usageBefore = (): Usage => factsOfLog(request.logPath).usage;
  const leftovers = takeLeftoverLines(record, request, usageBefore());
  const start = {
    program,
    args: claudeArguments(settings, {
      sessionId: request.sessionId,
      ...way,
      trusted: deps.trusted,
      planning: request.planning === true,
      ...(request.tools === undefined ? {} : { toolsConfig: request.tools.configPath }),
    }),
    env: claudeEnvironment(request.env, settings),
    stdin: 'pipe',
    onLeftoverLine: leftovers.takeLine,
  } as const;
  return runProgram(run, start, (child) => {
    const input = new JsonInput(child);
    const deliveredBefore = leftovers.deliveredMessages;
    return new ClaudeSession({
      run,
      input,
      resumed: way.resume || way.forkOf !== undefined,
      usageBefore: usageBefore(),
      deliveredBefore,
    });
  });
}

/**
 * Detected by facts, not by text: it exited immediately with an error, before any turn, and the
 * session exists although a new one was requested, or the reverse.
 */
function isOtherwise(
  session: ClaudeSession | null,
  request: AgentRequest,
  { resume, forkOf }: SessionWay,
): boolean {
  if (session === null || !session.hasEndedAtOnce) return false;
  const { result } = session.facts;
  if (resume || forkOf !== undefined) return result !== null && result['num_turns'] === 0;
  return result === null && hasConversation(homeOf(request), request.sessionId) === true;
}
