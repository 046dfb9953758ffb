// Requests that only panels make: they need a backend and are no part of the command's contract.

import type {
  AttemptView,
  BoardChanges,
  ChangeView,
  PreflightView,
  TakeOverView,
} from './panel-views.ts';
import type { RunList } from '../core/history/run-list.ts';
import type { RunOptions } from './run-options.ts';
import type { SpecPlanView } from './spec-plan.ts';
import type { TaskView } from './views.ts';

export interface PanelRequests {
  readonly 'board.changes': { params: { after: number }; result: BoardChanges };
  /**
   * The runs of the project, newest first; `search`: words that a run's tasks, errors or epic must
   * hold.
   */
  readonly 'runs.list': { params: { search?: string; limit?: number }; result: RunList };
  /** Attempts of a task, oldest first. */
  readonly attempts: { params: { id: string }; result: readonly AttemptView[] };
  /**
   * Moves tasks, all or none: into an epic (null: out of any), below a parent (null: out of it;
   * absent: as it is), and in front of another task (`before`; null or absent: to the end). Their
   * order among themselves is as given.
   */
  readonly 'task.move': {
    params: {
      ids: readonly string[];
      epic?: string | null;
      parent?: string | null;
      before?: string | null;
    };
    result: readonly TaskView[];
  };
  /** Moves an epic in front of another one (null: to the end). */
  readonly 'epic.move': { params: { id: string; before: string | null }; result: { id: string } };
  /** Removes tasks that were never begun and that nothing depends on. All or none. */
  readonly 'task.remove': {
    params: { ids: readonly string[] };
    result: { removed: readonly string[] };
  };
  /** Removes an epic that holds no task. */
  readonly 'epic.remove': { params: { id: string }; result: { removed: string } };
  /**
   * Takes removals back, under the same ids; the backend remembers the last hundred of its own
   * life.
   */
  readonly 'plan.restore': {
    params: { ids: readonly string[] };
    result: { restored: readonly string[] };
  };
  readonly preflight: {
    /** What the person wants for this run: as `run.start` takes it. */
    params: Omit<RunOptions, 'env' | 'fallback' | 'called_in'>;
    result: PreflightView;
  };
  /** Ends the agent, keeps everything, and pauses the task for a person to go on by hand. */
  readonly 'task.take_over': { params: { id: string }; result: TakeOverView };
  /**
   * The person is done: the agent goes on in the same worktree and session, told of what was said.
   */
  readonly 'task.give_back': { params: { id: string; note?: string }; result: TaskView };
  /**
   * What the gate or the setup command of a task has printed last; refused where no log is kept.
   */
  readonly 'step.log': {
    params: { id: string; attempt: number; step: 'setup' | 'gate' };
    /** `is_cut`: only the end of it. */
    result: { path: string; text: string; is_cut: boolean };
  };
  readonly change: { params: { id: string }; result: ChangeView };
  /** A file's text at a commit; null when it does not exist there or is no text. */
  readonly 'file.read': {
    params: { sha: string; path: string };
    result: { text: string | null; binary: boolean; size: number };
  };
  /**
   * Makes a plan of design texts (by name) and writes nothing; `import` takes its `jsonl`. One at a
   * time.
   */
  readonly 'spec.plan': {
    params: { documents: Readonly<Record<string, string>>; model?: string };
    result: SpecPlanView;
  };
  /** Ends the planning that is at work; it is then refused. */
  readonly 'spec.cancel': { params: Record<string, never>; result: { cancelled: boolean } };
  /**
   * `shutdown` under another name: a language client keeps that word for the end of its own
   * connection.
   */
  readonly 'backend.leave': {
    params: { force?: boolean };
    result: { leaving: boolean; reason: string };
  };
}
