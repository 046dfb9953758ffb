// The ports and settings that the workflows use. Composed by hand in server/main.

import type { AgentDriver, AgentTools, ProcessTable } from '../../agents/port.ts';
import type { ForecastPolicy } from '../../core/forecast/decide.ts';
import type { ReviewSettings } from '../../core/settings/review-settings.ts';
import type { ForgeSettings } from '../../core/settings/forge-settings.ts';
import type { LandMode } from '../../core/plan/task.ts';
import type { ChooseRule } from '../../core/plan/best-of.ts';
import type { CommandOutcome, CommandRequest } from '../../core/work/command.ts';
import type { Budgets } from '../../core/work/budget.ts';
import type { AgentChoices } from '../../core/work/fallback.ts';
import type { HostFacts, HostLimits } from '../../core/work/host-limits.ts';
import { KeyedMutex } from '../../core/work/semaphore.ts';
import type { RunPlace } from '../../core/settings/remote-settings.ts';
import type { Clock, Durable, DurableRun } from '../../durable/port.ts';
import type { Result } from '../../core/failure.ts';
import type { GitRepository } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import type { Claim, RunRow, Store, Tx } from '../../store/port.ts';

/** Runs the project's commands through the shell, until their whole process tree has ended. */
export interface Commands {
  run(request: CommandRequest, signal: AbortSignal): Promise<CommandOutcome>;
}

/** File operations of workflows outside of git. */
export interface WorkFiles {
  /**
   * Copies ignored files of the main checkout (relative paths) into a worktree. Skips missing
   * files.
   */
  copyIgnored(root: string, worktree: string, paths: readonly string[]): Promise<readonly string[]>;
  exists(path: string): Promise<boolean>;
  /** Whether the path is a regular file and not a link. */
  isFile(path: string): Promise<boolean>;
  writeText(path: string, text: string): Promise<void>;
  /**
   * The first of these folders, or the temporary folder, whose disk is full. Returns null if all
   * have space.
   */
  fullDisk(folders: readonly string[]): Promise<string | null>;
}

/** Identifies the agent of one part of one attempt. */
export interface AgentScope {
  /** The scheduled task. The part may be one of its sub-tasks. */
  readonly taskId: string;
  readonly part: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly runId: string;
  /** Set for an agent that reviews the work in this tree instead of working on the task. */
  readonly review?: { readonly tree: Sha; readonly agent: string; readonly model: string | null };
}

/** Gives agents access to Drover's tools. Each part of an attempt gets its own token. */
export interface AgentToolsDoor {
  /**
   * Returns the same access while the part is running, even in the next backend. Returns null if
   * the settings disable the tools.
   */
  open(
    scope: AgentScope,
    logPath: string,
    /** The mark by which Drover finds the agent's processes. */
    mark: string,
  ): Promise<{ readonly tools: AgentTools; readonly token: string } | null>;
  /** Revokes the token of an agent that has ended. */
  close(logPath: string): Promise<void>;
}

/** Settings of one run, resolved (flag > environment > project > user > default). */
export interface WorkSettings {
  readonly agentKind: string;
  /** Which agent takes over if one cannot do a task. */
  readonly agents: AgentChoices;
  /** Default number of candidates per task, and who chooses among them. */
  readonly bestOf: number;
  readonly choose: ChooseRule;
  /** Whether tasks without their own value need a plan that a person approves first. */
  readonly plansFirst: boolean;
  readonly workers: number;
  /** Branch to land on; null = the branch that is checked out when the run starts. */
  readonly target: string | null;
  readonly land: LandMode | null;
  readonly forge: ForgeSettings;
  readonly gateCommand: string | null;
  readonly gateTimeoutMs: number;
  readonly gateKeeps: readonly string[];
  /** Maximum number of parallel gates on a machine; null = depends on its cores. */
  readonly gateParallel: number | null;
  /** Labels of the machines in a fleet that may run gates. */
  readonly gateNeeds: readonly string[];
  readonly setupCommand: string | null;
  readonly setupTimeoutMs: number;
  readonly setupInputs: readonly string[];
  readonly copyIgnored: readonly string[];
  readonly keepIgnored: boolean;
  readonly sparse: readonly string[] | null;
  readonly portsPerTask: number;
  readonly runHooks: boolean;
  readonly follow: 'fast-forward' | 'never';
  readonly maxCommitFileSize: number;
  /** Path patterns whose changes wait for a review. */
  readonly protectedPaths: readonly string[];
  /** Whether to hold names that cannot be checked out on every system. */
  readonly portableNames: boolean;
  /** Patterns of links that may point outside of the project. */
  readonly linksAllowed: readonly string[];
  readonly maxOutputBytes: number;
  readonly taskTimeoutMs: number;
  readonly guidelines: string;
  readonly taskContextCount: number;
  readonly taskContextMaxAgeMs: number;
  /** Maximum number of notes in a prompt; 0 = none. */
  readonly noteCount: number;
  readonly review: ReviewSettings;
  /** How long a note stays valid without being used in a prompt; Infinity = forever. */
  readonly notesKeptMs: number;
  readonly maxDescriptionBytes: number;
  readonly budget: Budgets;
  readonly machine: HostLimits;
  /** The place of agents if neither task, label nor epic sets one. */
  readonly runsOn: RunPlace;
  /** Tasks with one of these labels run on workers. */
  readonly remoteLabels: readonly string[];
  /** Maximum number of simultaneous attempts on workers. */
  readonly remoteMax: number;
  readonly onForecast: ForecastPolicy;
}

/** The branch that pull requests are merged into, as it currently is on the forge. */
export interface ForgeBranches {
  newestBase(branch: string): Promise<Result<Sha>>;
}

export interface WorkPlaces {
  /** Root of the main checkout. */
  readonly root: string;
  /** Folder of the pool, outside of the checkout. */
  readonly worktrees: string;
  /** Folder of the attempts' logs (`.drover/logs`). */
  readonly logs: string;
  /** Folder of the images in descriptions (`.drover/attachments`). */
  readonly attachments: string;
  /** This project's mark on this machine. It is the prefix of its process marks. */
  readonly mark: string;
}

export interface EngineDeps {
  /** Identifies this machine's disk and processes in rows; '' = the project's only machine. */
  readonly machineId: string;
  /**
   * Which running work this process can continue. `leads`: whether it assigns work, which only
   * machines with the highest number do.
   */
  readonly compatibility: { readonly number: number; readonly leads: () => boolean };
  /** Whether this machine runs gates and lands work now. */
  readonly lands: () => boolean;
  /** Stops this machine of a fleet from starting landings on the line for some minutes. */
  readonly standBack: (line: string) => void;
  /** Whether this machine can currently tell that a machine without a heartbeat is dead. */
  readonly knowsDead: () => boolean;
  readonly store: Store;
  readonly durable: Durable<Tx>;
  readonly git: GitRepository;
  readonly forge: ForgeBranches;
  readonly clock: Clock;
  readonly processes: ProcessTable;
  readonly commands: Commands;
  readonly agentTools: AgentToolsDoor;
  readonly files: WorkFiles;
  /** Resolves when every machine of a fleet can read the log. */
  readonly storeOutput: (logPath: string) => Promise<void>;
  readonly places: WorkPlaces;
  readonly settings: () => WorkSettings;
  /** Applies the flags of a run that was started on another machine of the fleet. */
  readonly useRun: (run: { readonly flags: string }) => Promise<void>;
  /** Whether the error is a temporary database problem and not a bug in a workflow. */
  readonly isPassing: (error: unknown) => boolean;
  /** `model`: null or absent = the model configured for the agent. */
  readonly driverFor: (kind: string, model?: string | null) => AgentDriver;
  /**
   * The complete filtered environment of an attempt's agent, before the task's own variables are
   * added. `of` is null before the attempt exists.
   */
  readonly agentEnvironment: (
    kind: string,
    of: { readonly runId: string; readonly taskId: string; readonly attempt: number } | null,
  ) => Readonly<Record<string, string>>;
  /** The environment of the project's commands. */
  readonly commandEnvironment: (of: 'gate' | 'setup') => Readonly<Record<string, string>>;
  /** Values that must never be stored; they are replaced by `[hidden]`. */
  readonly secrets: () => readonly string[];
  readonly mask: (text: string) => string;
  /** The host's free resources; null = unknown, in which case they limit nothing. */
  readonly host: () => HostFacts | null;
  /** Disk space used by this machine's worktrees (bytes). */
  readonly worktreeBytes: () => Promise<number>;
  /** `pid:start` of this process, for display. */
  readonly owner: string;
  /** Called right after the named step is stored. Used by crash tests. */
  readonly crashPoint: (step: string) => void;
  /** A random number in [0, 1), for jitter. */
  readonly chance: () => number;
  /** Reports an unexpected error that no caller handles. */
  readonly report: (error: unknown, where: string) => void;
}

/** An attempt identified by its epoch, so that a stop of an earlier attempt does not affect it. */
export type AttemptOfTask = Pick<Claim, 'taskId' | 'epoch'>;

/** The facts needed to record an attempt's end. */
export type AttemptInRun = Pick<Claim, 'taskId' | 'epoch' | 'attempt' | 'runId'>;

/** An attempt whose workflow has started, but which has no worktree yet. */
export interface StartedAttempt {
  readonly engine: Engine;
  readonly run: DurableRun<Tx>;
  readonly claim: Claim;
  readonly runRow: RunRow;
  readonly signal: AbortSignal;
}

interface StopListener extends AttemptOfTask {
  readonly controller: AbortController;
}

/** Passes signals between workflows: a person's stop, a new hint, a relevant change. */
export class Switchboard {
  /**
   * Serializes executions of each task and of each of its attempts. An execution that lost its
   * claim may run until it notices, and the next one must not share its worktree.
   */
  readonly turns = new KeyedMutex();
  readonly #stops = new Set<StopListener>();
  readonly #hintListeners = new Map<string, Set<() => void>>();
  readonly #answerListeners = new Map<string, (answer: string | null) => void>();
  readonly #noteListeners = new Map<string, Set<(text: string) => void>>();
  readonly #wakes = new Set<() => void>();
  #works = 0;

  /** Prevents the backend from exiting during work that has no row. */
  async whileWorking<T>(body: () => Promise<T>): Promise<T> {
    this.#works += 1;
    try {
      return await body();
    } finally {
      this.#works -= 1;
    }
  }

  get isWorking(): boolean {
    return this.#works > 0;
  }

  /** True if an attempt or a landing is running a step in this process. */
  get isBusy(): boolean {
    return this.#stops.size > 0;
  }

  /**
   * The signal aborts if a person stops one of these attempts while `body` runs. Earlier stops are
   * not reported, so the body must read the row first.
   */
  async untilStopped<T>(
    attempts: readonly AttemptOfTask[],
    body: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const listeners = attempts.map(({ taskId, epoch }) => ({ taskId, epoch, controller }));
    for (const listener of listeners) this.#stops.add(listener);
    try {
      return await body(controller.signal);
    } finally {
      for (const listener of listeners) this.#stops.delete(listener);
    }
  }

  /** `epoch` null = any attempt of the task that is running a step. */
  stop(taskId: string, epoch: number | null): void {
    for (const listener of this.#stops) {
      if (listener.taskId !== taskId || (epoch ?? listener.epoch) !== listener.epoch) continue;
      listener.controller.abort(new Error('stopped by a person'));
    }
  }

  onHint(taskId: string, listener: () => void): () => void {
    const listeners = this.#hintListeners.get(taskId) ?? new Set();
    this.#hintListeners.set(taskId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#hintListeners.delete(taskId);
    };
  }

  hintAdded(taskId: string): void {
    for (const listener of this.#hintListeners.get(taskId) ?? []) listener();
  }

  onAnswer(questionId: string, listener: (answer: string | null) => void): () => void {
    this.#answerListeners.set(questionId, listener);
    return () => this.#answerListeners.delete(questionId);
  }

  answered(questionId: string, answer: string | null): void {
    this.#answerListeners.get(questionId)?.(answer);
  }

  onNote(taskId: string, listener: (text: string) => void): () => void {
    const listeners = this.#noteListeners.get(taskId) ?? new Set();
    this.#noteListeners.set(taskId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#noteListeners.delete(taskId);
    };
  }

  /**
   * Returns false if no agent of the task is being followed, in which case the text is not stored.
   */
  note(taskId: string, text: string): boolean {
    const listeners = this.#noteListeners.get(taskId) ?? new Set();
    for (const listener of listeners) listener(text);
    return listeners.size > 0;
  }

  /** Attempts with a running step that can be stopped. */
  stoppable(): readonly AttemptOfTask[] {
    return [...this.#stops].filter(({ controller }) => !controller.signal.aborted);
  }

  questionsOpen(): readonly string[] {
    return [...this.#answerListeners.keys()];
  }

  tasksWithHints(): readonly string[] {
    return [...this.#hintListeners.keys()];
  }

  onWake(listener: () => void): () => void {
    this.#wakes.add(listener);
    return () => this.#wakes.delete(listener);
  }

  wake(): void {
    for (const listener of this.#wakes) listener();
  }
}

export interface Engine extends EngineDeps {
  readonly switchboard: Switchboard;
  /** When this process started working (Unix ms). */
  readonly launchedAtMs: number;
  /**
   * For the end of using this machine's folders. It is recorded even if another machine took over
   * the work, because that machine does not know these folders.
   */
  readonly foldersOfMachine: Store['transaction'];
  /**
   * Work that started before this time belongs to an earlier backend (Unix ms). This is later than
   * the launch if the clock was set back in between.
   */
  earlierUntilMs: number;
}

/** The parts of the engine that a function uses, so that its signature shows them. */
export type Uses<Name extends keyof Engine> = Pick<Engine, Name>;
