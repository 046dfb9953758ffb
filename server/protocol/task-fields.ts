// The fields of a task that a client gives, as they are named on the wire.

export interface TaskFields {
  readonly title?: string;
  readonly description?: string;
  readonly epic?: string | null;
  readonly parent?: string | null;
  /** The number of a new sub-task below its parent (`task-x.5`); the next free one when absent. */
  readonly sequence?: number;
  /** An integer, or one of critical, high, normal, low. */
  readonly priority?: number | string;
  readonly blocked_by?: readonly string[];
  readonly add_blockers?: readonly string[];
  readonly remove_blockers?: readonly string[];
  readonly type?: string;
  readonly labels?: readonly string[];
  readonly accept?: readonly string[];
  readonly agent?: string | null;
  /**
   * Who takes over from it, as `codex,claude:opus`; `none` = nobody, null or empty = as the
   * settings say.
   */
  readonly fallback?: string | null;
  /** Candidates side by side, one of which lands. */
  readonly best_of?: number;
  /** Who chooses: first-green, smallest-change or person; null or empty = as the settings say. */
  readonly choose?: string | null;
  readonly gate?: string | null;
  readonly test_mode?: string;
  readonly test_scope?: string;
  readonly max_attempts?: number;
  /** A plan first, which a person approves; absent: as the settings say. */
  readonly plan?: boolean;
  /** Where its agent runs: local or remote; null or empty = as its epic or the settings say. */
  readonly runs_on?: string | null;
}

/** What a view tells of the fields that say how a task is done. */
export interface TaskRuleView {
  /** Who takes over from the agent, as `claude:opus`; null = as the settings say. */
  readonly fallback: readonly string[] | null;
  /** Candidates that are made of it side by side, and who chooses; null = as the settings say. */
  readonly best_of: number | null;
  readonly choose: string | null;
  readonly gate: string | null;
  readonly test_mode: string;
  readonly test_scope: string;
  /** Whether an agent plans it first; null: as the settings say. */
  readonly plan: boolean | null;
}

/** What a parameter is: a handler may rely on it. */
export type FieldShape =
  | 'text'
  | 'number'
  | 'flag'
  | 'texts'
  | 'numbers'
  | 'texts by name'
  | 'text or null'
  | 'number or text';

/** The shape of each on the wire; what its value may be is the store's rule. */
export const taskFieldShapes = {
  description: 'text?',
  epic: 'text or null?',
  parent: 'text or null?',
  sequence: 'number?',
  priority: 'number or text?',
  blocked_by: 'texts?',
  add_blockers: 'texts?',
  remove_blockers: 'texts?',
  type: 'text?',
  labels: 'texts?',
  accept: 'texts?',
  agent: 'text or null?',
  fallback: 'text or null?',
  best_of: 'number?',
  choose: 'text or null?',
  gate: 'text or null?',
  test_mode: 'text?',
  test_scope: 'text?',
  max_attempts: 'number?',
  plan: 'flag?',
  runs_on: 'text or null?',
} as const satisfies {
  readonly [Name in Exclude<keyof TaskFields, 'title'>]-?: `${FieldShape}?`;
};
