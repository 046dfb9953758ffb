// The agent as the workflows see it. Each way of driving has one driver; all send the same events
// (similar to ACP's, plus cost, retry and exit).

import type { Failure, Result } from '../core/failure.ts';
import type { AgentKind } from '../core/plan/task.ts';
import type { AgentEvent, Usage } from '../protocol/agent-events.ts';

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  costUsd: null,
};

/** How an agent's turns ended, decided by facts of its protocol and never by its text. */
export type AgentOutcome =
  | {
      readonly kind: 'done';
      readonly summary: string;
      readonly deniedTools: readonly string[];
      readonly blockedReason?: string;
    }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** The account reached a limit. `untilMs`: when it resets (Unix ms); null = unknown. */
  | { readonly kind: 'limited'; readonly untilMs: number | null; readonly message: string }
  /** Stopped by our signal. The session can be resumed. */
  | { readonly kind: 'stopped' };

export interface AgentProcess {
  readonly pid: number;
  /**
   * Start time as reported by the system (Linux: field 22 of /proc/<pid>/stat), so that a reused
   * pid is not mistaken for the agent.
   */
  readonly startTime: string;
}

/** Drover's MCP server for one part of an attempt, and how the agent starts it. */
export interface AgentTools {
  readonly command: string;
  readonly args: readonly string[];
  /** Contains the token, which must never be passed as an argument. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * A file with the same configuration in the format of most agents (`mcpServers`). Only this user
   * can read it.
   */
  readonly configPath: string;
}

/** How a program is started: full path, arguments, environment. */
export interface ProgramStart {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that it leaves in its job folder on a worker, by name, with their local paths. */
  readonly brings?: Readonly<Record<string, string>>;
}

export interface AgentRequest {
  /**
   * `<project>/<task id>/<attempt>/<part>`: marks the processes to kill (environment variable
   * DROVER_RUN).
   */
  readonly runId: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly cwd: string;
  readonly prompt: string;
  /** It must only plan and write nothing. The agent's own read-only mode is used if it has one. */
  readonly planning?: boolean;
  /** Used instead of `prompt` if the session to resume does not exist. Contains the whole task. */
  readonly promptIfForgotten?: string;
  /** Chosen by us before the first start (UUID). */
  readonly sessionId: string;
  /**
   * True if the session already exists (after a death, a limit, a pause or a hand-back): resume it
   * with `prompt` as the next message.
   */
  readonly resume: boolean;
  /**
   * Another task's conversation from which a new session starts, if the driver can (`forks`). That
   * conversation stays unchanged.
   */
  readonly forkOf?: string;
  /**
   * Append-only log of the agent's events (NDJSON of AgentEvent with `at`). Raw files of the driver
   * are beside it.
   */
  readonly logPath: string;
  /** Complete environment. The driver only adds variables that its agent needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly tools?: AgentTools;
  /** Files outside of `cwd` that its prompt refers to and that it may read. */
  readonly readableFiles?: readonly string[];
  /** Puts the agent's program into its sandbox. If absent, it runs with the user's permissions. */
  readonly confine?: (start: ProgramStart) => Promise<Result<ProgramStart>>;
  /** The confined agent's home folder, from which its files are read. */
  readonly confinedHome?: string;
  /** Secret values, which are replaced by `[hidden]` in everything stored. */
  readonly secrets: readonly string[];
  readonly maxOutputBytes: number;
  readonly timeoutMs: number | null;
  /** The place of its program. Absent = this machine. */
  readonly runsOn?: 'local' | 'remote';
  /** Time between SIGTERM and SIGKILL, if its program needs longer than the driver's default. */
  readonly endGraceMs?: number;
  /** The watchdog's limits for silence. */
  readonly stallWarnMs: number;
  readonly stallEndMs: number;
}

/** Passes messages between a running agent and the engine. */
export interface AgentHost {
  /**
   * Called as soon as the process exists, before any prompt is sent. The engine stores it to
   * recover from kill -9.
   */
  onProcess(process: AgentProcess): Promise<void>;
  onEvent(event: AgentEvent): void;
  /**
   * Running totals between two `usage` events, if the agent reports them: for budgets, not for the
   * log. `isBase`: the totals that this run starts from, sent once, first, by a resumed agent.
   */
  onUsageSoFar?(usage: Usage, isBase: boolean): void;
  /**
   * Stores a question and resolves with the chosen answer. Never rejects: a withdrawn question
   * resolves with null.
   */
  ask(
    question: Extract<AgentEvent, { type: 'question' }>,
    signal: AbortSignal,
  ): Promise<string | null>;
  /**
   * Calls back for each hint to the running turn that was not delivered yet. Returns a function
   * that unsubscribes.
   */
  onHint(listener: (hint: { readonly id: string; readonly text: string }) => void): () => void;
  hintDelivered(id: string): Promise<void>;
  /**
   * Calls back with notes for the log of the running part. Returns a function that unsubscribes.
   */
  onNote?(listener: (text: string) => void): () => void;
}

export interface AgentCapabilities {
  readonly resume: boolean;
  /** A new session can start from another conversation. Absent if it cannot. */
  readonly forks?: true;
  readonly questions: boolean;
  readonly hints: boolean;
  readonly cost: boolean;
  /** The next backend can follow an agent left by a dead backend to its end. */
  readonly adopt: boolean;
}

export interface AgentAccount {
  readonly isSignedIn: boolean;
  /** The remedy if no user is signed in. */
  readonly message: string;
}

export interface AgentDriver {
  readonly kind: AgentKind;
  readonly capabilities: AgentCapabilities;
  /**
   * Checks whether it is installed and usable in this environment, whose PATH counts. `message`
   * describes the found program or the remedy. `isBroken`: it was found but does not report its
   * version. A run may still try it if it is `ok`.
   */
  probe(env: Readonly<Record<string, string>>): Promise<{
    readonly ok: boolean;
    readonly version: string | null;
    readonly message: string;
    readonly isBroken?: true;
  }>;
  /**
   * Checks at no cost whether a user is signed in, with this environment. Returns null if unknown.
   * Absent if it cannot be checked.
   */
  account?(env: Readonly<Record<string, string>>): Promise<AgentAccount | null>;
  /**
   * The agent's interactive program as a list of arguments, which resumes a session (null = none
   * yet). Absent if the agent has none.
   */
  interactive?(
    sessionId: string | null,
    env: Readonly<Record<string, string>>,
  ): readonly string[] | null;
  /** Runs the agent to completion. Never rejects for the agent's actions. */
  run(request: AgentRequest, host: AgentHost, signal: AbortSignal): Promise<AgentOutcome>;
  /**
   * Follows an agent that an earlier backend started (the process is alive with this start time, or
   * has ended with its exit code on disk). Resolves with null if its outcome is unknown: its
   * remaining processes are then killed and `run` is called with resume.
   */
  adopt(
    request: AgentRequest,
    process: AgentProcess,
    host: AgentHost,
    signal: AbortSignal,
  ): Promise<AgentOutcome | null>;
}

export interface AgentSettings {
  readonly kind: AgentKind;
  /** The program (DROVER_AGENT_PATH or `[agent] path`); null = the kind's own name on PATH. */
  readonly path: string | null;
  readonly args: readonly string[];
  /** Additional variables from `[agent.env]`. */
  readonly env: Readonly<Record<string, string>>;
  readonly model: string | null;
  readonly permissionMode: string | null;
}

/** The result of killing a run's processes. */
export interface EndedTree {
  /** Number of processes that were still running and were killed. */
  readonly ended: number;
  /**
   * Number of processes that the kernel still counts; null if it does not group a run's processes.
   */
  readonly left: number | null;
}

/** Kills processes as whole trees, including those that left the process group. */
export interface ProcessTable {
  isAlive(process: AgentProcess): Promise<boolean>;
  /**
   * SIGTERM, grace time (0 = none, and no SIGTERM), then SIGKILL, for the process, its descendants,
   * everything in the run's control group and everything with `DROVER_RUN=<runId>`.
   */
  endTree(runId: string, process: AgentProcess | null, graceMs: number): Promise<EndedTree>;
  /**
   * Suspends the run's processes until `goOn` or `endTree`, so that they write and start nothing.
   * Returns false if that is impossible; they then keep running.
   */
  standStill(runId: string, process: AgentProcess): Promise<boolean>;
  goOn(runId: string, process: AgentProcess): Promise<void>;
  /**
   * Kills processes without a parent that are younger than the agent and still run below a folder.
   */
  endOrphansIn(path: string, agent: AgentProcess): Promise<void>;
}
