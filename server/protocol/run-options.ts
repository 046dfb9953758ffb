// What a person wants of one run; it goes before what the settings say.

export interface RunOptions {
  readonly workers?: number;
  readonly epic?: string;
  readonly target?: string;
  /**
   * Real path of the folder that the command was called in. In a linked worktree of a person's, the
   * branch checked out there is the target where nothing else names one.
   */
  readonly called_in?: string;
  readonly gate?: string;
  /** Who takes over when an agent cannot do a task, as `codex,claude:opus`. */
  readonly fallback?: string;
  readonly land?: 'task' | 'epic' | 'review';
  /** Kind of the agent, for tasks that name none, and the model to ask it for. */
  readonly agent?: string;
  readonly model?: string;
  /** A plan first, for tasks that say nothing of it. */
  readonly plan?: boolean;
  /** US dollars: of a run of one epic for the epic, else for each task. */
  readonly budget_usd?: number;
  /** Environment of the caller that agents may need (filtered by the backend's allow-list). */
  readonly env?: Readonly<Record<string, string>>;
}
