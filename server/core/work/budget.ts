// Limits for a task, an epic and a day: tokens, money, turns and agent time. Compares usage with
// them and returns a verdict with its sentence.

import { formatCost, formatDuration } from '../format.ts';

export interface Spent {
  /**
   * Input and output tokens. Tokens read from the provider's cache cost money, but are not counted
   * here.
   */
  readonly tokens: number;
  readonly usd: number;
  /** Tool calls; each is one turn between model and machine. */
  readonly turns: number;
  /** Time in which an agent was running. Excludes waiting for a person or for quota. */
  readonly workedMs: number;
}

export const nothingSpent: Spent = { tokens: 0, usd: 0, turns: 0, workedMs: 0 };

/** Null = no limit. */
export interface BudgetLimits {
  readonly tokens: number | null;
  readonly usd: number | null;
  readonly turns: number | null;
  readonly workedMs: number | null;
}

export const budgetScopes = ['task', 'epic', 'day'] as const;
export type BudgetScope = (typeof budgetScopes)[number];

export interface Budgets {
  readonly task: BudgetLimits;
  readonly epic: BudgetLimits;
  readonly day: BudgetLimits;
  /** Share of a budget at which a person is asked once. */
  readonly askAt: number;
  /** This many identical tool calls in a row count as a loop; 0 = never. */
  readonly loopRepeats: number;
}

export type BudgetKind = keyof Spent;

const kinds: readonly BudgetKind[] = ['tokens', 'usd', 'turns', 'workedMs'];

export interface BudgetFinding {
  readonly scope: BudgetScope;
  readonly kind: BudgetKind;
  readonly used: number;
  readonly limit: number;
}

export type BudgetVerdict =
  | { readonly kind: 'ok' }
  | ({ readonly kind: 'ask' | 'stop' } & { readonly found: BudgetFinding });

export function addSpent(a: Spent, b: Spent): Spent {
  return {
    tokens: a.tokens + b.tokens,
    usd: a.usd + b.usd,
    turns: a.turns + b.turns,
    workedMs: a.workedMs + b.workedMs,
  };
}

export function hasLimit(limits: BudgetLimits): boolean {
  return kinds.some((kind) => limits[kind] !== null);
}

/**
 * Returns the most severe finding for one scope: a stop before a question and, among equals, the
 * largest excess.
 */
export function judgeBudget(
  scope: BudgetScope,
  limits: BudgetLimits,
  spent: Spent,
  askAt: number,
): BudgetVerdict {
  let worst: BudgetFinding | null = null;
  for (const kind of kinds) {
    const limit = limits[kind];
    if (limit === null) continue;
    const used = spent[kind];
    if (worst === null || used / limit > worst.used / worst.limit) {
      worst = { scope, kind, used, limit };
    }
  }
  if (worst === null) return { kind: 'ok' };
  if (worst.used >= worst.limit) return { kind: 'stop', found: worst };
  return worst.used >= worst.limit * askAt ? { kind: 'ask', found: worst } : { kind: 'ok' };
}

const settingWords: { readonly [Kind in BudgetKind]: string } = {
  tokens: 'tokens',
  usd: 'usd',
  turns: 'turns',
  workedMs: 'time',
};

/** Name of the setting with the limit, such as `task_tokens`. */
export function budgetSetting(found: Pick<BudgetFinding, 'scope' | 'kind'>): string {
  return `${found.scope}_${settingWords[found.kind]}`;
}

/** `1,234 tokens`, `$0.42`, `12 turns`, `5 min of work`. */
export function budgetAmount(kind: BudgetKind, amount: number): string {
  switch (kind) {
    case 'tokens':
    case 'turns':
      return `${groupDigits(Math.round(amount))} ${kind}`;
    case 'usd':
      return formatCost(amount);
    case 'workedMs':
      return `${formatDuration(amount)} of work`;
  }
}

function groupDigits(amount: number): string {
  return String(amount).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** `The budget of t1`, `… of epic e1`, `The budget of the day`. */
function budgetOf(scope: BudgetScope, name: string): string {
  switch (scope) {
    case 'task':
      return `The budget of ${name}`;
    case 'epic':
      return `The budget of epic ${name}`;
    case 'day':
      return 'The budget of the day';
  }
}

export const continueChoice = 'go on';
export const stopChoice = 'stop';

export function budgetQuestion(found: BudgetFinding, name: string): string {
  const percent = Math.floor((found.used / found.limit) * 100);
  const used = budgetAmount(found.kind, found.used);
  const limit = budgetAmount(found.kind, found.limit);
  const whole = budgetOf(found.scope, name);
  return `${whole} is ${percent} % used: ${used} of ${limit}. Continue up to the limit, or stop here?`;
}

/**
 * Describes the event and the remedy. `byPerson`: a person stopped it when asked, before the limit
 * was reached.
 */
export function budgetStopSentence(found: BudgetFinding, name: string, byPerson: boolean): string {
  const used = budgetAmount(found.kind, found.used);
  const limit = budgetAmount(found.kind, found.limit);
  const what = byPerson
    ? `${budgetOf(found.scope, name)} was at ${used} of ${limit} when a person stopped it`
    : `${budgetOf(found.scope, name)} is used up: ${used} of ${limit}`;
  return `${what}; ${remedy(found, name)}`;
}

function remedy(found: BudgetFinding, name: string): string {
  const raise = `raise [budget] ${budgetSetting(found)} in .drover.toml`;
  switch (found.scope) {
    case 'task':
      return `its work so far is kept; ${raise}, then "drover retry ${name}"`;
    case 'epic':
      return `it starts nothing more until you ${raise} and run "drover run"`;
    case 'day':
      return `nothing starts before tomorrow unless you ${raise} and run "drover run" again`;
  }
}
