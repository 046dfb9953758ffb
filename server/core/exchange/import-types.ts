// The result of an import and all its possible errors.

import type { TaskType } from '../plan/task.ts';
import type { RunPlace } from '../settings/remote-settings.ts';
import type { TaskRules } from './task-rules.ts';

/**
 * In the order of the checks. `version` is only for session files. `differs` comes last; the user
 * resolves it by updating or renaming.
 */
export const importProblemKinds = [
  'json',
  'object',
  'version',
  'id',
  'id-unsafe',
  'id-twice',
  'type',
  'title',
  'text',
  'priority',
  'field',
  'reference',
  'reference-kind',
  'reference-refused',
  'depth',
  'loop',
  'differs',
] as const;
export type ImportProblemKind = (typeof importProblemKinds)[number];

/** A file with more problems is not a file to import, so its rest is not read. */
export const importProblemsMax = 10_000;

export interface ImportProblem {
  readonly line: number;
  readonly id: string | null;
  readonly kind: ImportProblemKind;
  /** The fault and the expected value, without the line and the id. */
  readonly message: string;
}

export interface ImportWarning {
  readonly line: number;
  readonly id: string | null;
  readonly key: string | null;
  readonly message: string;
}

export interface EpicContent {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Absent if not given. */
  readonly runsOn?: RunPlace | null;
}

/**
 * The fields that decide whether two tasks are equal. In a record null means "not given", which
 * equals any value.
 */
export interface TaskContent extends TaskRules {
  readonly id: string;
  readonly title: string;
  /** Includes the acceptance criteria at the end. */
  readonly description: string;
  readonly acceptanceCriteria: readonly string[];
  readonly epicId: string | null;
  readonly parentId: string | null;
  readonly type: TaskType;
  readonly priority: number;
  readonly labels: readonly string[];
  readonly blockedBy: readonly string[];
}

export interface ImportedEpic extends EpicContent {
  readonly line: number;
}

export interface ImportedTask extends TaskContent {
  readonly line: number;
  /** Position among the parent's sub-tasks, from 1; 0 without a parent. */
  readonly sequence: number;
}

export interface ExistingTask extends TaskContent {
  readonly sequence: number;
}

/** The tasks and epics that the project already has. */
export interface ExistingProject {
  readonly tasks: ReadonlyMap<string, ExistingTask>;
  readonly epics: ReadonlyMap<string, EpicContent>;
}

export const emptyProject: ExistingProject = { tasks: new Map(), epics: new Map() };

export interface ImportOptions {
  /** How to handle an existing id with other content. */
  readonly onDiffers?: 'refuse' | 'update' | 'rename';
  /** Lines that are not valid UTF-8, as found by the reader of the file. */
  readonly badUtf8Lines?: readonly number[];
  /**
   * For Beads: the current time, to hold issues that are deferred until a time. If absent, no issue
   * is held.
   */
  readonly holds?: HoldFacts;
}

export interface ImportPlan {
  /** Valid new records: parents before their sub-tasks, otherwise in file order. */
  readonly epics: readonly ImportedEpic[];
  readonly tasks: readonly ImportedTask[];
  /** Records that replace existing ones (`update` only). */
  readonly updatedEpics: readonly ImportedEpic[];
  readonly updatedTasks: readonly ImportedTask[];
  /** Ids that exist with the same content. */
  readonly unchanged: { readonly epics: readonly string[]; readonly tasks: readonly string[] };
  /**
   * Ids that exist with different content, in line order. With `refuse`, each is also a problem.
   */
  readonly differs: readonly string[];
  /** Maps renamed records to their new ids. */
  readonly renamed: ReadonlyMap<string, string>;
  /**
   * At most one per record, in line order. A single problem prevents all writes, unless the user
   * chose otherwise.
   */
  readonly problems: readonly ImportProblem[];
  readonly warnings: readonly ImportWarning[];
}

export interface HoldFacts {
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Parses an RFC 3339 time to Unix milliseconds; null if it is not a time. */
  readonly timeOf: (text: string) => number | null;
}
