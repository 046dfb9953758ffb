// The parts that the workflows are made of: the ports they use and the settings they obey. Composed
// by hand in server/main.

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

/**
 * Runs commands of the project's own configuration through the shell, to the end of their whole
 * process tree.
 */
export interface Commands {
  run(request: CommandRequest, signal: AbortSignal): Promise<CommandOutcome>;
}

/** The few things workflows do to files outside of git. */
export interface WorkFiles {
  /**
   * Copies ignored files of the main checkout (relative paths) into a worktree; missing ones are
   * skipped.
   */
  copyIgnored(root: string, worktree: string, paths: readonly string[]): Promise<readonly string[]>;
  exists(path: string): Promise<boolean>;
  /** Whether the path is a file itself, no link to one. */
  isFile(path: string): Promise<boolean>;
  writeText(path: string, text: string): Promise<void>;
  /**
   * The first of these folders, or the one of temporary files, whose disk is full. Returns null if
   * each has space.
   */
  fullDisk(folders: readonly string[]): Promise<string | null>;
}

/** Whose agent it is: one part of one attempt. */
export interface AgentScope {
  /** The task that is scheduled; the part may be one of its sub-tasks. */
  readonly taskId: string;
  readonly part: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly runId: string;
  /** It reviews the work in this tree instead of doing any. */
  readonly review?: { readonly tree: Sha; readonly agent: string; readonly model: string | null };
}

/**
 * Tools of Drover's own for agents: each part of an attempt gets a token that is good for itself
 * alone.
 */
export interface AgentToolsDoor {
  /**
   * Answers the same while the part is running, also in the next backend. Returns null if the
   * settings disable it.
   */
  open(
    scope: AgentScope,
    logPath: string,
    /** The mark by which the agent's processes are found. */
    mark: string,
  ): Promise<{ readonly tools: AgentTools; readonly token: string } | null>;
  /** The part's agent has ended: its token is good for nothing any more. */
  close(logPath: string): Promise<void>;
}

/** Settings of one run, resolved (flag > environment > project > user > default). */
export interface WorkSettings {
  readonly agentKind: string;
  /** Who takes over when an agent cannot do a task. */
  readonly agents: AgentChoices;
  /** Number of candidates of each task without its own value, and who chooses among them. */
  readonly bestOf: number;
  readonly choose: ChooseRule;
  /** Tasks without their own value get a plan first, which a person approves. */
  readonly plansFirst: boolean;
  readonly workers: number;
  /** Branch to land on; null = the one that is checked out when the run starts. */
  readonly target: string | null;
  readonly land: LandMode | null;
  readonly forge: ForgeSettings;
  readonly gateCommand: string | null;
  readonly gateTimeoutMs: number;
  readonly gateKeeps: readonly string[];
  /** Most gates at once on a machine, or null for a number that follows from its cores. */
  readonly gateParallel: number | null;
  /** Labels of the machines of a fleet that may run gates. */
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
  /** Patterns of paths whose change waits for a review. */
  readonly protectedPaths: readonly string[];
  /** Names that cannot be checked out on every system are held. */
  readonly portableNames: boolean;
  /** Patterns of links that may lead out of the project. */
  readonly linksAllowed: readonly string[];
  readonly maxOutputBytes: number;
  readonly taskTimeoutMs: number;
  readonly guidelines: string;
  readonly taskContextCount: number;
  readonly taskContextMaxAgeMs: number;
  /** Maximum number of notes in a prompt; 0 = none. */
  readonly noteCount: number;
  readonly review: ReviewSettings;
  /** How long a note counts that no prompt contains; Infinity = forever. */
  readonly notesKeptMs: number;
  readonly maxDescriptionBytes: number;
  readonly budget: Budgets;
  readonly machine: HostLimits;
  /** The place of agents if neither task, label nor epic has its own value. */
  readonly runsOn: RunPlace;
  /** Tasks with one of these labels run on workers. */
  readonly remoteLabels: readonly string[];
  /** Attempts on workers at once. */
  readonly remoteMax: number;
  readonly onForecast: ForecastPolicy;
}

/** The branch that pull requests are merged into, as the forge has it now. */
export interface ForgeBranches {
  newestBase(branch: string): Promise<Result<Sha>>;
}

export interface WorkPlaces {
  /** Root of the main checkout. */
  readonly root: string;
  /** Folder of the pool, outside the checkout. */
  readonly worktrees: string;
  /** Folder of the attempts' logs (`.drover/logs`). */
  readonly logs: string;
  /** Folder of images that descriptions show (`.drover/attachments`). */
  readonly attachments: string;
  /** This project's mark on this machine: the prefix of its process marks. */
  readonly mark: string;
}

export interface EngineDeps {
  /** Names this machine's disk and processes in rows; '' = the project's only machine. */
  readonly machineId: string;
  /**
   * Which running work this process can continue; `leads`: whether it assigns work, which the
   * newest machines do.
   */
  readonly compatibility: { readonly number: number; readonly leads: () => boolean };
  /** Whether this machine runs gates and lands work now. */
  readonly lands: () => boolean;
  /** This machine of a fleet does not start landings on the line for some minutes. */
  readonly standBack: (line: string) => void;
  /** Whether a machine without a heartbeat is dead, as far as this one can tell now. */
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
  /** Resolves when the log can be read on every machine of a fleet. */
  readonly storeOutput: (logPath: string) => Promise<void>;
  readonly places: WorkPlaces;
  readonly settings: () => WorkSettings;
  /** The flags of a run that was started on another machine of the fleet count here as well. */
  readonly useRun: (run: { readonly flags: string }) => Promise<void>;
  /** Database problems that pass: not a workflow's bug. */
  readonly isPassing: (error: unknown) => boolean;
  /** `model`: null or absent = as it is set for that agent. */
  readonly driverFor: (kind: string, model?: string | null) => AgentDriver;
  /**
   * Complete environment of an attempt's agent (filtered), before the task's own variables. `of`
   * is null before the attempt exists.
   */
  readonly agentEnvironment: (
    kind: string,
    of: { readonly runId: string; readonly taskId: string; readonly attempt: number } | null,
  ) => Readonly<Record<string, string>>;
  /** Environment of the project's own commands. */
  readonly commandEnvironment: (of: 'gate' | 'setup') => Readonly<Record<string, string>>;
  /** Values never to be stored; replaced by `[hidden]`. */
  readonly secrets: () => readonly string[];
  readonly mask: (text: string) => string;
  /** The host's free resources; null = unknown, and nothing is held for it. */
  readonly host: () => HostFacts | null;
  /** The disk space of this machine's worktrees (bytes). */
  readonly worktreeBytes: () => Promise<number>;
  /** `pid:start` of this process, for people. */
  readonly owner: string;
  /** Called right after the named step is stored (crash tests). */
  readonly crashPoint: (step: string) => void;
  /** Between 0 and 1 (excluded), for jitter. */
  readonly chance: () => number;
  /** The last word on something the program did not expect. */
  readonly report: (error: unknown, where: string) => void;
}

/** An attempt, named by its epoch: a stop of an earlier attempt of the task means nothing to it. */
export type AttemptOfTask = Pick<Claim, 'taskId' | 'epoch'>;

/** The facts with which an attempt's end is written. */
export type AttemptInRun = Pick<Claim, 'taskId' | 'epoch' | 'attempt' | 'runId'>;

/** An attempt whose workflow has started, before it has a worktree. */
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

/** Signals between workflows: a person's stop, a new hint, a relevant change. */
export class Switchboard {
  /**
   * One execution at a time of each task, and of each of its attempts. One that has lost its claim
   * may run on until it notices: the next one must not share its worktree with it.
   */
  readonly turns = new KeyedMutex();
  readonly #stops = new Set<StopListener>();
  readonly #hintListeners = new Map<string, Set<() => void>>();
  readonly #answerListeners = new Map<string, (answer: string | null) => void>();
  readonly #noteListeners = new Map<string, Set<(text: string) => void>>();
  readonly #wakes = new Set<() => void>();
  #works = 0;

  /** Work without a row: the backend does not exit during it. */
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

  /** An attempt or a landing has a step running in this process. */
  get isBusy(): boolean {
    return this.#stops.size > 0;
  }

  /**
   * The signal aborts when a person wants one of these attempts stopped while `body` runs. It does
   * not report an earlier stop: read the row for that once the body has started.
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

  /** `epoch` null: whichever attempt of the task has a step running. */
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

  /** Returns false if no agent of the task is being followed, so that nothing stores it. */
  note(taskId: string, text: string): boolean {
    const listeners = this.#noteListeners.get(taskId) ?? new Set();
    for (const listener of listeners) listener(text);
    return listeners.size > 0;
  }

  /** Attempts with a step running here that could be stopped. */
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
  /** When this process took up the work (Unix ms). */
  readonly launchedAtMs: number;
  /**
   * For the end of a use of this machine's folders: it is written also when the claim on the work
   * is lost to another machine, which knows nothing of them.
   */
  readonly foldersOfMachine: Store['transaction'];
  /**
   * Work that started before this time belongs to an earlier backend (Unix ms): later than the
   * launch if the clock was set back in between.
   */
  earlierUntilMs: number;
}

/** The parts of the engine that a function uses, so that its signature shows them. */
export type Uses<Name extends keyof Engine> = Pick<Engine, Name>;
