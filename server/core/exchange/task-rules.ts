// How a task is to be done: its agent, its gate, its attempts. One entry per field, with its form
// in requests, in records of a file, in its column and in JSONL; requests, the command, views,
// imports and exports take the fields from here.

import {
  blankToNull,
  toNumber,
  numberOrNull,
  toText,
  textOrNull,
  toKnownWord,
} from './session-values.ts';
import { bestOfMax, type ChooseRule, chooseRules, isBestOf } from '../plan/best-of.ts';
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

/** In a record null means "not given". */
export interface TaskRules {
  readonly agent: string | null;
  readonly bestOf: number | null;
  readonly choose: ChooseRule | null;
  /** As stored in the column: an empty string = no fallback. */
  readonly fallback: string | null;
  readonly gate: string | null;
  readonly testMode: TestMode | null;
  readonly testScope: TestScope | null;
  readonly maxAttempts: number | null;
  /** The model that its own agent uses. Absent if not given. */
  readonly model?: string | null;
  /** Absent if not given. */
  readonly plan?: boolean | null;
  /** Absent if not given. */
  readonly runsOn?: RunPlace | null;
  /** The task whose conversation it continues. Absent if not given. */
  readonly continues?: string | null;
}

/** The same as columns of a task. */
export interface TaskRuleColumns {
  readonly agent: string | null;
  /** The model that its agent is asked for; null = use the settings. */
  readonly model: string | null;
  /** Number of parallel candidates; null = use the settings. */
  readonly best_of: number | null;
  /** Who chooses among them; null = use the settings. */
  readonly choose: ChooseRule | null;
  /** Fallback agents, as `codex,claude:opus`; null = use the settings, '' = no fallback. */
  readonly fallback: string | null;
  readonly test_command: string | null;
  readonly test_mode: TestMode;
  readonly test_scope: TestScope;
  readonly max_attempts: number;
  /** 1 if a person approves the plan before any work, 0 if not, null to use the settings. */
  readonly plan: number | null;
  readonly runs_on: RunPlace | null;
  /** The task whose conversation its agent continues. */
  readonly continues: string | null;
}

export type ColumnValue = string | number | null;

interface TaskRule<Value> {
  /** The keys of a record that contain it; JSONL is written with the first. */
  readonly keys: readonly string[];
  readonly column: keyof TaskRuleColumns;
  readonly given: GivenRule<GivenKind>;
  /** The column's value if none is given. */
  readonly unsaid?: string;
  /** In the order of the table; only the first of several errors is reported. */
  read(said: SaidRecord): Value | null;
  ofColumn(value: ColumnValue): Value | null;
  toColumn?(value: Value): ColumnValue;
  /** Its form in JSONL, if that differs from the value. */
  written?(value: Value): unknown;
  /** Its form in a view of the task, if that differs from the column. */
  viewed?(value: Value): unknown;
  /** The value of a candidate's column. Absent to use the value of its task's column. */
  readonly ofCandidate?: ColumnValue;
  readonly session: SessionRule<Value>;
}

/** Its form in a session file, by the name of the column. */
interface SessionRule<Value> {
  /**
   * Its position among the keys that older tools know. Absent if such a tool has no key for it, so
   * that it is among our own.
   */
  readonly older?: number;
  /** Written also if it was not given. */
  readonly isAlways?: boolean;
  /** Leniently: unknown values are ignored. */
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
      if (model !== null && !isModel(model)) said.faults.push('`model` is no name of a model');
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
      if (value === null || (typeof value === 'number' && isBestOf(value))) return value;
      faults.push(`\`best_of\` is not a whole number from 1 to ${bestOfMax}`);
      return null;
    },
    ofColumn: numberOrNull,
    ofCandidate: 1,
    session: { read: (value) => (typeof value === 'number' && isBestOf(value) ? value : null) },
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

/** The kinds of these fields in a request. */
export type TaskRuleKinds = {
  readonly [Name in keyof Table as Table[Name]['keys'][0]]: KindOf<Name>;
};

/** The same as options of a command. */
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

/** A record without any of them. */
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

/** Adds each problem to the faults. */
export function readTaskRules(said: SaidRecord): TaskRules {
  return taskRulesFrom(taskRules.map(([name, rule]) => [name, rule.read(said)] as const));
}

/** These fields alone; those that the record does not know stay absent. */
export function pickTaskRules(record: TaskRules): TaskRules {
  return taskRulesFrom(
    taskRules.flatMap(([name]) =>
      record[name] === undefined ? [] : [[name, record[name]] as const],
    ),
  );
}

/** A field that a record omits is equal to everything. */
export function sameTaskRules(record: TaskRules, existing: TaskRules): boolean {
  return taskRules.every(([name]) => {
    const said = record[name] ?? null;
    return said === null || said === (existing[name] ?? null);
  });
}

/** The same as the fields of a request: those that are given, as a record names them. */
export function ruleFields(
  given: Readonly<Partial<Record<keyof TaskRules, unknown>>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    taskRules.flatMap(([name, { keys }]) =>
      given[name] === undefined ? [] : [[keys[0] ?? name, given[name]] as const],
    ),
  );
}

/** The fields as a line of JSONL; omitted values are left out. */
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

/** Agents unknown to this version cannot be fallbacks. */
function fallbackInSession(value: unknown): string | null {
  const text = toText(value);
  if (text === 'none') return '';
  return text === null ? null : (storedSteps(text) ?? []).map(stepText).join(',');
}

function isAttempts(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= attemptsMax;
}
