// The values of columns that belong to the store. Those of tasks are in `core/plan/task.ts`.

import type { ColumnType } from 'kysely';
import type { byHandPhase, Phase } from '../../core/plan/task.ts';

/** A column that the database fills if an insert omits it. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>;

/** `committed`: a sub-task whose work is committed while its parent's attempt continues. */
export type TaskPhase = Phase | typeof byHandPhase | 'committed';

/** The kind of stop requested from a task's owner. `stop`: its run ends. */
export type StopKind = 'pause' | 'cancel' | 'stop';

export type AttemptState =
  | 'running'
  | 'waiting'
  | 'submitted'
  | 'succeeded'
  | 'failed'
  | 'interrupted';

export type EpicLandingState =
  | 'landing'
  | 'needs_review'
  | 'conflict'
  | 'gate_failed'
  | 'sent_back'
  /** The epic waits in a pull request. */
  | 'pull_request'
  /** Its pull request was closed, or needs a person to continue. */
  | 'returned'
  | 'landed';
