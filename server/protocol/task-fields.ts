// The fields of a task that a client gives, as they are named on the wire, and what each is. What
// its value may be is the store's rule.

import * as z from 'zod/mini';
import {
  flag,
  integer,
  optional,
  type ParamsOf,
  text,
  textOrNull,
  texts,
} from './requests/fields.ts';

const described = z.describe;

export const title = text.check(described('What to do, in one line.'));

export const taskFields = {
  title: optional(title),
  description: optional(
    text.check(described('Everything the agent needs to know. It does not see your conversation.')),
  ),
  epic: optional(textOrNull),
  parent: optional(textOrNull),
  /** An integer, or one of critical, high, normal, low. */
  priority: optional(z.union([z.number(), text], { error: 'a number or a string' })),
  blocked_by: optional(texts.check(described('Tasks that must land before this one starts.'))),
  add_blockers: optional(texts),
  remove_blockers: optional(texts),
  type: optional(text.check(described('feature, bug, test, docs, refactor, research …'))),
  labels: optional(texts),
  accept: optional(
    texts.check(described('Acceptance criteria: how a reader checks that it is done.')),
  ),
  agent: optional(textOrNull),
  /**
   * Who takes over from it, as `codex,claude:opus`; `none` = no other agent, null or empty = as the
   * settings say.
   */
  fallback: optional(textOrNull),
  /** Candidates side by side, one of which lands. */
  best_of: optional(integer()),
  /** Who chooses: first-green, smallest-change or person; null or empty = as the settings say. */
  choose: optional(textOrNull),
  gate: optional(textOrNull),
  test_mode: optional(text),
  test_scope: optional(text),
  max_attempts: optional(integer()),
  /** A plan first, which a person approves; absent: as the settings say. */
  plan: optional(flag),
  /** Where its agent runs: local or remote; null or empty = as its epic or the settings say. */
  runs_on: optional(textOrNull),
};

export type TaskFields = Readonly<ParamsOf<typeof taskFields>>;

/** The number of a new sub-task below its parent (`task-x.5`); the next free one when absent. */
export const sequence = optional(integer(1, 1_000_000));

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
