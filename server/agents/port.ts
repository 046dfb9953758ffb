// The agent as the workflows see it. One driver per way of driving; all send the same events
// (shaped like ACP's, plus cost, retry, exit).

import type { Failure, Result } from '../core/failure.ts';
import type { AgentKind } from '../core/plan/task.ts';
import type { AgentEvent, Usage } from '../protocol/agent-events.ts';

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  costUsd: null,
};

/** How an agent's turns ended, decided by facts of its protocol, never by its text. */
export type AgentOutcome =
  | {
      readonly kind: 'done';
      readonly summary: string;
      readonly deniedTools: readonly string[];
      readonly blockedReason?: string;
    }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** The account reached a limit; `untilMs` is when it resets (Unix ms), null = unknown. */
  | { readonly kind: 'limited'; readonly untilMs: number | null; readonly message: string }
  /** Ended because our signal asked for it. The session can be resumed. */
  | { readonly kind: 'stopped' };

export interface AgentProcess {
  readonly pid: number;
  /**
   * Start time as reported by the system (Linux: field 22 of /proc/<pid>/stat), so that a reused
   * pid is not taken for the agent.
   */
  readonly startTime: string;
}

/** Drover's own MCP server for one part of an attempt: how the agent starts it. */
export interface AgentTools {
  readonly command: string;
  readonly args: readonly string[];
  /** Holds the token: never put into arguments. */
  readonly env: Readonly<Record<string, string>>;
  /** The same as a file that most agents read (`mcpServers`), for this user's eyes alone. */
  readonly configPath: string;
}

/** How a program is started: full path, arguments, environment. */
export interface ProgramStart {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * Files that it leaves in its job's folder when it runs on a worker, by name, and the place of
   * each here.
   */
  readonly brings?: Readonly<Record<string, string>>;
}

export interface AgentRequest {
  /**
   * `<project>/<task id>/<attempt>/<part>`: names the process for the tree killer (env marker
   * DROVER_RUN).
   */
  readonly runId: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly cwd: string;
  readonly prompt: string;
  /** It must plan and write nothing: the agent's own read-only mode is used if it has one. */
  readonly planning?: boolean;
  /**
   * Used instead of `prompt` if the session to resume does not exist: it contains the whole task.
   */
  readonly promptIfForgotten?: string;
  /** Chosen by us before the first start (UUID). */
  readonly sessionId: string;
  /**
   * True when the session exists already (a death, a limit, a pause, a hand-back): resume it with
   * `prompt` as the next message.
   */
  readonly resume: boolean;
  /**
   * The conversation of another task that a new session starts from, if the driver can (`forks`):
   * it stays as it is.
   */
  readonly forkOf?: string;
  /**
   * Append-only log of the agent's events (NDJSON of AgentEvent with `at`), and beside it raw files
   * of the driver's own.
   */
  readonly logPath: string;
  /** Complete environment; the driver adds only variables that its agent needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly tools?: AgentTools;
  /** Files outside of `cwd` that its prompt tells it to read, and that it may read. */
  readonly readableFiles?: readonly string[];
  /** Puts the agent's program into its sandbox. If absent, it runs with the user's powers. */
  readonly confine?: (start: ProgramStart) => Promise<Result<ProgramStart>>;
  /** The home of the confined agent, in which its files are read from here. */
  readonly confinedHome?: string;
  /** Texts (secret values) replaced by `[hidden]` in everything stored. */
  readonly secrets: readonly string[];
  readonly maxOutputBytes: number;
  readonly timeoutMs: number | null;
  /** The place of its program. Absent for this machine. */
  readonly runsOn?: 'local' | 'remote';
  /** Between SIGTERM and SIGKILL, if its program needs longer than the driver gives. */
  readonly endGraceMs?: number;
  /** Silence limits of the watchdog. */
  readonly stallWarnMs: number;
  readonly stallEndMs: number;
}

/** Messages from a running agent to the engine and back. */
export interface AgentHost {
  /**
   * Called as soon as the process exists, before any prompt is sent: the engine stores it (kill -9
   * recovery).
   */
  onProcess(process: AgentProcess): Promise<void>;
  onEvent(event: AgentEvent): void;
  /**
   * The running totals between two `usage` events, if the agent reports them: for budgets, not for
   * the log. `isBase`: the totals that this run starts from, sent once and first by a resumed
   * agent.
   */
  onUsageSoFar?(usage: Usage, isBase: boolean): void;
  /**
   * Stores a question and resolves with the chosen answer; rejects never: a withdrawn question
   * resolves null.
   */
  ask(
    question: Extract<AgentEvent, { type: 'question' }>,
    signal: AbortSignal,
  ): Promise<string | null>;
  /**
   * Hints for the running turn: calls back for each hint that was not delivered yet; returns
   * unsubscribe.
   */
  onHint(listener: (hint: { readonly id: string; readonly text: string }) => void): () => void;
  hintDelivered(id: string): Promise<void>;
  /** Listens for notes for the log of the running part; returns unsubscribe. */
  onNote?(listener: (text: string) => void): () => void;
}

export interface AgentCapabilities {
  readonly resume: boolean;
  /** A new session can start from the conversation of another one. Absent if it cannot. */
  readonly forks?: true;
  readonly questions: boolean;
  readonly hints: boolean;
  readonly cost: boolean;
  /** An agent left by a dead backend can be followed to its end by the next backend. */
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
   * describes the found program, or the remedy. `isBroken`: it was found, but does not report its
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
   * The agent's own program for a person, as a list of arguments, resuming a session (null: none
   * yet). Absent if an agent has no such program.
   */
  interactive?(
    sessionId: string | null,
    env: Readonly<Record<string, string>>,
  ): readonly string[] | null;
  /** Runs the agent to the end of its work. Never rejects for the agent's actions. */
  run(request: AgentRequest, host: AgentHost, signal: AbortSignal): Promise<AgentOutcome>;
  /**
   * Follows an agent that an earlier backend started (process alive with this start time, or
   * already ended with its exit code on disk). Resolves null if its outcome is unknown: then its
   * remaining processes are killed and `run` is called with resume.
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
  /** The program (DROVER_AGENT_PATH or `[agent] path`), or null for the kind's own name on PATH. */
  readonly path: string | null;
  readonly args: readonly string[];
  /** Extra variables from `[agent.env]`. */
  readonly env: Readonly<Record<string, string>>;
  readonly model: string | null;
  readonly permissionMode: string | null;
}

/** The result of ending a run's processes. */
export interface EndedTree {
  /** How many were still running and had to be killed. */
  readonly ended: number;
  /** How many the kernel still counts; null if it does not group the processes of a run. */
  readonly left: number | null;
}

/** Ends processes as whole trees, including those that left the process group. */
export interface ProcessTable {
  isAlive(process: AgentProcess): Promise<boolean>;
  /**
   * SIGTERM, grace (0: none, and no SIGTERM), then SIGKILL for the process, its descendants,
   * everything in the run's control group and everything that carries `DROVER_RUN=<runId>`.
   */
  endTree(runId: string, process: AgentProcess | null, graceMs: number): Promise<EndedTree>;
  /**
   * Stops the run's processes without ending them, until `goOn` or `endTree`: they write nothing
   * and start nothing. False if that is impossible; then they run on.
   */
  standStill(runId: string, process: AgentProcess): Promise<boolean>;
  goOn(runId: string, process: AgentProcess): Promise<void>;
  /** Ends processes without a parent, younger than the agent, that still work below a folder. */
  endOrphansIn(path: string, agent: AgentProcess): Promise<void>;
}
