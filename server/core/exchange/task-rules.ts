// The rules for doing a task: its agent, gate, attempts and so on. One entry per field describes
// its form in requests, in records, in its column and in JSONL. Requests, the command line, views,
// imports and exports are all derived from these entries.

import {
  blankToNull,
  toNumber,
  numberOrNull,
  toText,
  textOrNull,
  toKnownWord,
} from './session-values.ts';
import { bestOfMax, type ChooseRule, chooseRules, isBestOfMany } from '../plan/best-of.ts';
import { agentKinds, type TestMode, testModes, type TestScope, testScopes } from '../plan/task.ts';
import { stepText } from '../format.ts';
import { type RunPlace, runPlaces } from '../settings/remote-settings.ts';
import { isModel, readSteps, stepsExpected, storedSteps } from '../work/fallback.ts';
import {
  givenCount,
  givenFallback,
  givenFlag,
  givenModel,
  type GivenKind,
  type GivenKinds,
  type GivenRule,
  givenTextOrNull,
  givenWord,
  givenWordOrNull,
} from './given-rules.ts';
import { describeValue, type SaidRecord, textSaid, wordSaid } from './shown-values.ts';

/** In a record, null means "not given". */
export interface TaskRules {
  readonly agent: string | null;
  readonly bestOf: number | null;
  readonly choose: ChooseRule | null;
  /** As stored in the column; an empty string means no fallback. */
  readonly fallback: string | null;
  readonly gate: string | null;
  readonly testMode: TestMode | null;
  readonly testScope: TestScope | null;
  readonly maxAttempts: number | null;
  /** The model for the task's own agent. Absent if not given. */
  readonly model?: string | null;
  /** Absent if not given. */
  readonly plan?: boolean | null;
  /** Absent if not given. */
  readonly runsOn?: RunPlace | null;
  /** The task whose conversation this one continues. Absent if not given. */
  readonly continues?: string | null;
}

/** The rules as columns of a task. */
export interface TaskRuleColumns {
  readonly agent: string | null;
  /** The model to request from its agent; null = use the settings. */
  readonly model: string | null;
  /** Number of parallel candidates; null = use the settings. */
  readonly best_of: number | null;
  /** Who chooses among the candidates; null = use the settings. */
  readonly choose: ChooseRule | null;
  /** Fallback agents, as `codex,claude:opus`; null = use the settings, '' = no fallback. */
  readonly fallback: string | null;
  readonly test_command: string | null;
  readonly test_mode: TestMode;
  readonly test_scope: TestScope;
  readonly max_attempts: number;
  /** 1 if a person must approve the plan before work starts, 0 if not, null = use the settings. */
  readonly plan: number | null;
  readonly runs_on: RunPlace | null;
  /** The task whose conversation its agent continues. */
  readonly continues: string | null;
}

export type ColumnValue = string | number | null;

interface TaskRule<Value> {
  /** The keys of a record that may contain the value. JSONL uses the first. */
  readonly keys: readonly string[];
  readonly column: keyof TaskRuleColumns;
  readonly given: GivenRule<GivenKind>;
  /** The column's value if the rule is not given. */
  readonly unsaid?: string;
  /** Called in the order of the table; only the first error is reported. */
  read(said: SaidRecord): Value | null;
  ofColumn(value: ColumnValue): Value | null;
  toColumn?(value: Value): ColumnValue;
  /** The value in JSONL, if it differs from the value in a record. */
  written?(value: Value): unknown;
  /** The value in a view of the task, if it differs from the column. */
  viewed?(value: Value): unknown;
  /** The value of a candidate's column. Absent to copy the task's value. */
  readonly ofCandidate?: ColumnValue;
  readonly session: SessionRule<Value>;
}

/** The value in a session file, by the name of the column. */
interface SessionRule<Value> {
  /**
   * Its position among the keys that older tools know. Absent if they have no key for it; it is
   * then stored under Drover's own key.
   */
  readonly older?: number;
  /** If true, it is also written when it was not given. */
  readonly isAlways?: boolean;
  /** Ignores unknown values. */
  read(value: unknown): Value | null;
  written?(value: Value): unknown;
}

type TaskRuleTable = {
  readonly [Name in keyof TaskRules]-?: TaskRule<NonNullable<TaskRules[Name]>>;
};

const attemptsMax = 10;

const taskRuleTable = {
  agent: {
    keys: ['agent'],
    column: 'agent',
    given: givenWordOrNull(agentKinds, 'The agent'),
    read: (said) => wordSaid(said, 'agent', agentKinds),
    ofColumn: textOrNull,
    session: { isAlways: true, read: (value) => toKnownWord(agentKinds, value) },
  },
  model: {
    keys: ['model'],
    column: 'model',
    given: givenModel,
    read: (said) => {
      const model = blankToNull(textSaid(said, 'model'))?.trim() ?? null;
      if (model !== null && !isModel(model)) said.faults.push('`model` is not a valid model name');
      return isModel(model) ? model : null;
    },
    ofColumn: textOrNull,
    session: { read: (value) => (isModel(value) ? value : null) },
  },
  bestOf: {
    keys: ['best_of'],
    column: 'best_of',
    given: givenCount(bestOfMax, 'The number of candidates'),
    read: ({ valueOf, faults }) => {
      const value = valueOf('best_of');
      if (value === null || (typeof value === 'number' && isBestOfMany(value))) return value;
      faults.push(`\`best_of\` is not a whole number from 1 to ${bestOfMax}`);
      return null;
    },
    ofColumn: numberOrNull,
    ofCandidate: 1,
    session: { read: (value) => (typeof value === 'number' && isBestOfMany(value) ? value : null) },
  },
  choose: {
    keys: ['choose'],
    column: 'choose',
    given: givenWordOrNull(chooseRules, 'The choice'),
    read: ({ valueOf, faults }) => {
      const value = valueOf('choose');
      const rule = chooseRules.find((one) => one === value) ?? null;
      if (value !== null && rule === null) {
        faults.push(`\`choose\` is none of ${chooseRules.join(', ')}`);
      }
      return rule;
    },
    ofColumn: (value) => chooseRules.find((rule) => rule === value) ?? null,
    ofCandidate: null,
    session: { read: (value) => toKnownWord(chooseRules, value) },
  },
  fallback: {
    keys: ['fallback'],
    column: 'fallback',
    given: givenFallback,
    read: readFallback,
    ofColumn: textOrNull,
    written: (value) => (value === '' ? 'none' : value.split(',')),
    viewed: (value): readonly string[] => value.split(',').filter((step) => step !== ''),
    session: { read: fallbackInSession, written: (value) => value || 'none' },
  },
  gate: {
    keys: ['gate', 'test_command'],
    column: 'test_command',
    given: givenTextOrNull('The gate'),
    read: (said) => {
      const [gate, testCommand] = [textSaid(said, 'gate'), textSaid(said, 'test_command')];
      return blankToNull(gate) ?? blankToNull(testCommand);
    },
    ofColumn: textOrNull,
    session: { older: 4, read: toText },
  },
  testMode: {
    keys: ['test_mode'],
    column: 'test_mode',
    given: givenWord(testModes, 'The test mode'),
    unsaid: 'strict',
    read: (said) => {
      const mode = wordSaid(said, 'test_mode', testModes);
      return mode === 'lenient' ? 'strict' : mode;
    },
    ofColumn: (value) => testModes.find((mode) => mode === value) ?? 'strict',
    session: {
      older: 2,
      isAlways: true,
      read: (value) => {
        const mode = toKnownWord(testModes, value);
        return mode === 'lenient' ? 'strict' : (mode ?? 'strict');
      },
    },
  },
  testScope: {
    keys: ['test_scope'],
    column: 'test_scope',
    given: givenWord(testScopes, 'The test scope'),
    unsaid: 'diff',
    read: (said) => wordSaid(said, 'test_scope', testScopes),
    ofColumn: (value) => testScopes.find((scope) => scope === value) ?? 'diff',
    session: {
      older: 3,
      isAlways: true,
      read: (value) => toKnownWord(testScopes, value) ?? 'diff',
    },
  },
  maxAttempts: {
    keys: ['max_attempts'],
    column: 'max_attempts',
    given: givenCount(attemptsMax, 'The number of attempts'),
    read: ({ valueOf, faults }) => {
      const value = valueOf('max_attempts');
      if (value === null || isAttempts(value)) return value;
      const got = typeof value === 'number' ? value : describeValue(value);
      faults.push(`\`max_attempts\` is ${got}; use a whole number from 1 to ${attemptsMax}`);
      return null;
    },
    ofColumn: numberOrNull,
    session: {
      older: 1,
      isAlways: true,
      read: (value) => {
        const given = toNumber(value);
        return given === null ? null : Math.min(Math.max(Math.trunc(given), 1), attemptsMax);
      },
    },
  },
  plan: {
    keys: ['plan'],
    column: 'plan',
    given: givenFlag,
    read: ({ valueOf, faults }) => {
      const value = valueOf('plan');
      if (value === null || typeof value === 'boolean') return value;
      faults.push(`\`plan\` is ${describeValue(value)}; use true or false`);
      return null;
    },
    ofColumn: (value) => (value === null ? null : value === 1),
    toColumn: (value) => (value ? 1 : 0),
    viewed: (value) => value,
    ofCandidate: 0,
    session: { read: (value) => (typeof value === 'boolean' ? value : null) },
  },
  runsOn: {
    keys: ['runs_on'],
    column: 'runs_on',
    given: givenWordOrNull(runPlaces, 'The place'),
    read: (said) => wordSaid(said, 'runs_on', runPlaces),
    ofColumn: (value) => runPlaces.find((place) => place === value) ?? null,
    session: { read: (value) => toKnownWord(runPlaces, value) },
  },
  continues: {
    keys: ['continues'],
    column: 'continues',
    given: givenTextOrNull('The task to continue'),
    read: (said) => blankToNull(textSaid(said, 'continues')),
    ofColumn: textOrNull,
    session: { read: toText },
  },
} as const satisfies TaskRuleTable;

type Table = typeof taskRuleTable;
type KindOf<Name extends keyof Table> = Table[Name]['given']['kind'];
type ViewOf<Rule extends { readonly column: keyof TaskRuleColumns }> = Rule extends {
  viewed(value: never): infer View;
}
  ? View | null
  : TaskRuleColumns[Rule['column']];

/** The kinds of these fields in requests. */
export type TaskRuleKinds = {
  readonly [Name in keyof Table as Table[Name]['keys'][0]]: KindOf<Name>;
};

/** The kinds of these fields as command options. */
export type TaskRuleOptions = {
  readonly [Name in keyof Table]?: NonNullable<GivenKinds[KindOf<Name>]>;
};

/** The fields that a view of a task shows; null = use the settings. */
export type TaskRuleView = {
  readonly [Name in Exclude<keyof Table, 'maxAttempts'> as Table[Name]['keys'][0]]: ViewOf<
    Table[Name]
  >;
};

const table: TaskRuleTable = taskRuleTable;

/** The table as a list, for code that reads and writes every rule. */
export const taskRules = Object.entries(table) as readonly [keyof TaskRules, TaskRule<unknown>][];

/** The keys of a record for these fields. */
export const taskRuleKeys: readonly string[] = taskRules.flatMap(([, { keys }]) => keys);

/** A record without any rule. */
export const nothingSaid: TaskRules = {
  agent: null,
  bestOf: null,
  choose: null,
  fallback: null,
  gate: null,
  testMode: null,
  testScope: null,
  maxAttempts: null,
};

export const taskRulesFrom = (
  entries: readonly (readonly [keyof TaskRules, unknown])[],
): TaskRules => Object.fromEntries(entries) as unknown as TaskRules;

/** Reads the rules of a record, and adds each problem to the faults. */
export function readTaskRules(said: SaidRecord): TaskRules {
  return taskRulesFrom(taskRules.map(([name, rule]) => [name, rule.read(said)] as const));
}

/** Picks only these fields. Fields that the record does not have stay absent. */
export function pickTaskRules(record: TaskRules): TaskRules {
  return taskRulesFrom(
    taskRules.flatMap(([name]) =>
      record[name] === undefined ? [] : [[name, record[name]] as const],
    ),
  );
}

/** A field that a record omits equals any value. */
export function sameTaskRules(record: TaskRules, existing: TaskRules): boolean {
  return taskRules.every(([name]) => {
    const said = record[name] ?? null;
    return said === null || said === (existing[name] ?? null);
  });
}

/** Converts rules in a record to fields of a request. Omits rules that are not given. */
export function ruleFields(
  given: Readonly<Partial<Record<keyof TaskRules, unknown>>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    taskRules.flatMap(([name, { keys }]) =>
      given[name] === undefined ? [] : [[keys[0] ?? name, given[name]] as const],
    ),
  );
}

/** Formats the fields for a line of JSONL. Omits values that are not given. */
export function writtenTaskRules(record: TaskRules): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    taskRules.flatMap(([name, rule]) => {
      const value = record[name] ?? null;
      return value === null
        ? []
        : [[rule.keys[0] ?? name, rule.written?.(value) ?? value] as const];
    }),
  );
}

/** "none" = no fallback. */
function readFallback({ valueOf, faults }: SaidRecord): string | null {
  const value = valueOf('fallback');
  if (value === null || value === '') return null;
  if (value === 'none') return '';
  const steps = readSteps(value);
  if (steps.ok) return steps.value.map(stepText).join(',');
  faults.push(`\`fallback\` is not usable: ${steps.error}; expected ${stepsExpected}`);
  return null;
}

/** Ignores agents that this version does not know. */
function fallbackInSession(value: unknown): string | null {
  const text = toText(value);
  if (text === 'none') return '';
  return text === null ? null : (storedSteps(text) ?? []).map(stepText).join(',');
}

function isAttempts(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= attemptsMax;
}
