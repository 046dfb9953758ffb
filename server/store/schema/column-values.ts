// The values of columns that belong to the store; those of tasks are in `core/plan/task.ts`.

import type { ColumnType } from 'kysely';
import type { byHandPhase, Phase } from '../../core/plan/task.ts';

/** A column that the database fills if an insert omits it. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>;

/** `committed`: a sub-task whose work is committed, while its parent's attempt continues. */
export type TaskPhase = Phase | typeof byHandPhase | 'committed';

/** The kind of stop requested from the owner of a task; `stop`: its run ends. */
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
  /** It waits in a pull request. */
  | 'pull_request'
  /** Its pull request was closed, or cannot be continued without a person. */
  | 'returned'
  | 'landed';
