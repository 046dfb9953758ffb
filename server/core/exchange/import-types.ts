// The types of an import: its result, and every possible error.

import type { TaskType } from '../plan/task.ts';
import type { RunPlace } from '../settings/remote-settings.ts';
import type { TaskRules } from './task-rules.ts';

/**
 * In the order of the checks (`version` is for session files only); `differs` comes last and is
 * solved by updating or renaming.
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

/** If a file has more, the rest is not read: it is not a file to import. */
export const importProblemsMax = 10_000;

export interface ImportProblem {
  readonly line: number;
  readonly id: string | null;
  readonly kind: ImportProblemKind;
  /** The fault and the expected value, without line and id. */
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
 * The fields that make two tasks equal. In a record null means "not given", which equals
 * everything.
 */
export interface TaskContent extends TaskRules {
  readonly id: string;
  readonly title: string;
  /** Has the acceptance criteria at its end. */
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
  /** Place among the sub-tasks of the parent, from 1; 0 without a parent. */
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
  /** Lines that are not UTF-8, found by who read the file. */
  readonly badUtf8Lines?: readonly number[];
  /**
   * For Beads: issues that are held until a time need the current time. Without it nothing is held.
   */
  readonly holds?: HoldFacts;
}

export interface ImportPlan {
  /** New records that are good, parents before their sub-tasks, else in file order. */
  readonly epics: readonly ImportedEpic[];
  readonly tasks: readonly ImportedTask[];
  /** Records to write over existing ones (`update` only). */
  readonly updatedEpics: readonly ImportedEpic[];
  readonly updatedTasks: readonly ImportedTask[];
  /** Ids that exist with equal content. */
  readonly unchanged: { readonly epics: readonly string[]; readonly tasks: readonly string[] };
  /** Ids that exist with other content, in line order; with `refuse` each is a problem too. */
  readonly differs: readonly string[];
  /** New ids of records that were renamed. */
  readonly renamed: ReadonlyMap<string, string>;
  /**
   * At most one per record, in line order. One problem means that nothing is written, unless the
   * person chose otherwise.
   */
  readonly problems: readonly ImportProblem[];
  readonly warnings: readonly ImportWarning[];
}

export interface HoldFacts {
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Unix milliseconds of an RFC 3339 text; null if it is not a time. */
  readonly timeOf: (text: string) => number | null;
}
