// Explains in sentences, from stored facts, which agent gets a task's next attempt and why earlier
// agents did not finish it.

import { agentChain, nextStepIndex, unusableKinds } from '../../core/work/fallback.ts';
import { stepText } from '../../core/format.ts';
import { attemptsSince, unendedStates } from '../work/claims.ts';
import type { Db } from '../rows/one-moment.ts';
import type { AttemptRow, TaskRow } from '../schema/tables.ts';
import { toSingleLine, type WhyFacts } from './why-phrases.ts';

export interface NextAgentFacts {
  /** Kind of the next attempt's agent, whose account and pace count. */
  readonly agent: string;
  /** Names the agents that were replaced, if any. */
  readonly sentences: readonly string[];
  /** Agents that could still take over, such as `claude:opus`. */
  readonly others: readonly string[];
}

export async function nextAgentFacts(
  db: Db,
  row: TaskRow,
  facts: WhyFacts,
): Promise<NextAgentFacts> {
  const chain = agentChain(facts.agents, facts.agentKind, row);
  const attempts = await attemptsSince(db, row.id, row.fallback_from);
  const last = attempts.at(-1);
  const goesOn = last !== undefined && unendedStates.includes(last.state);
  const ended = attempts.map((one) => ({ step: one.step, failureKind: one.failure_kind }));
  const step = goesOn ? last.step : nextStepIndex(ended, chain.length, facts.agents.after);
  const next = goesOn ? last : (chain[step] ?? chain[0]);
  return {
    agent: next.agent,
    sentences: [
      ...takenOver(row.id, attempts, step, stepText(next)),
      ...couldNotStart(row, attempts.at(-1), stepText(next)),
    ],
    others: chain.slice(step + 1).map(stepText),
  };
}

/** The run stopped using the agent, so the task cannot start until a person fixes the cause. */
function couldNotStart({ id }: TaskRow, last: AttemptRow | undefined, next: string): string[] {
  if (last?.state !== 'failed' || !unusableKinds.includes(last.failure_kind ?? '')) return [];
  if (stepText(last) !== next) return [];
  return [
    `${last.agent} could not start on ${id}, and no attempt was used: ${toSingleLine(last.error ?? '')}`,
  ];
}

/** `codex takes over task-1 from claude, which ended with: …` */
function takenOver(
  id: string,
  attempts: readonly AttemptRow[],
  step: number,
  next: string,
): string[] {
  const before = attempts.findLast((one) => one.step < step && one.error !== null);
  if (before === undefined) return [];
  return [
    `${next} takes over ${id} from ${stepText(before)}, whose attempt ended with: ${toSingleLine(before.error ?? '')}`,
  ];
}
