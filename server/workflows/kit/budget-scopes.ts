// Computes the state of a budget only from stored usage and stored answers, so that it is the same
// after a restart.

import {
  type BudgetScope,
  budgetQuestion,
  budgetSetting,
  budgetStopSentence,
  hasLimit,
  judgeBudget,
  stopChoice,
} from '../../core/work/budget.ts';
import { readEarlierAnswers, type Reads, spentByScope } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';

export interface BudgetPlace {
  readonly scope: BudgetScope;
  /** Id of the task or epic, or the day. */
  readonly name: string;
}

export type BudgetWord =
  | { readonly kind: 'ok' }
  | { readonly kind: 'ask'; readonly requestId: string; readonly text: string }
  | { readonly kind: 'stop'; readonly scope: BudgetScope; readonly sentence: string };

const fine: BudgetWord = { kind: 'ok' };

/** `attempt`: a person who stopped an earlier attempt of the task allowed this one to start. */
export async function budgetWord(
  engine: Uses<'settings'>,
  tx: Reads,
  place: BudgetPlace,
  attempt: number | null,
): Promise<BudgetWord> {
  const { scope, name } = place;
  const budgets = engine.settings().budget;
  const limits = budgets[scope];
  if (!hasLimit(limits)) return fine;
  const spent = await spentByScope(tx, scope, name);
  const verdict = judgeBudget(scope, limits, spent, budgets.askAt);
  if (verdict.kind === 'ok') return fine;
  const { found } = verdict;
  if (verdict.kind === 'stop')
    return { kind: 'stop', scope, sentence: budgetStopSentence(found, name, false) };
  const requestId = `budget/${name}/${budgetSetting(found)}/${found.limit}`;
  const earlier = await readEarlierAnswers(tx, requestId);
  const isStopped = earlier.some(
    (one) => one.answer === stopChoice && (scope !== 'task' || one.attempt === attempt),
  );
  if (isStopped) return { kind: 'stop', scope, sentence: budgetStopSentence(found, name, true) };
  if (earlier.length > 0) return fine;
  return { kind: 'ask', requestId, text: budgetQuestion(found, name) };
}
