// The fields of a task that a client gives, by their names in requests, with the kind of each. The
// store decides which values are valid.

import * as z from 'zod/mini';
import type { GatedTask } from '../core/line/gate-words.ts';
import {
  type TaskRuleKinds,
  taskRules,
  type TaskRuleView as CoreTaskRuleView,
} from '../core/exchange/task-rules.ts';
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

const kinds = {
  text: optional(text),
  textOrNull: optional(textOrNull),
  integer: optional(integer()),
  flag: optional(flag),
};

type RuleFields = {
  readonly [Key in keyof TaskRuleKinds]: (typeof kinds)[TaskRuleKinds[Key]];
};

/** The fields that define how a task is done. */
const ruleFields = Object.fromEntries(
  taskRules.map(([name, { keys, given }]) => [keys[0] ?? name, kinds[given.kind]] as const),
) as unknown as RuleFields;

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
  ...ruleFields,
};

export type TaskFields = Readonly<ParamsOf<typeof taskFields>>;

/** The number of a new sub-task below its parent (`task-x.5`). Absent = the next free one. */
export const sequence = optional(integer(1, 1_000_000));

/** Views show the running attempt's agent, model and place, if an attempt is running. */
export type TaskRuleView = Omit<CoreTaskRuleView, 'agent' | 'model' | 'runs_on'>;

/** Other work that changes the same files before either has landed. */
export interface ForecastView {
  /** The other task; null = work that landed since the attempt started. */
  readonly other: string | null;
  /** `same_file`: git can merge both changes. `conflict`: it cannot. */
  readonly level: 'same_file' | 'conflict';
  readonly files: readonly string[];
  /** Unix seconds. */
  readonly since: number;
}

/** The gate that tests a task's work together with the work that lands before it. */
export interface GateView extends GatedTask {
  /** Titles of `tasks`. */
  readonly titles: readonly string[];
  /** Unix seconds. */
  readonly since: number;
}
