// Chooses the agent for a task's next attempt: the previous one, or the one that takes over.
// Depends only on the rows of earlier attempts, so a crash between two attempts changes nothing.

import {
  agentChain,
  type AgentStep,
  nextStepIndex,
  usesNoAttempt,
} from '../../core/work/fallback.ts';
import { stepText } from '../../core/format.ts';
import {
  attemptsSince,
  type Claim,
  existingTask,
  type NextAgent,
  type Reads,
  type TaskRow,
  unendedStates,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

type Who = Pick<TaskRow, 'id' | 'agent' | 'model' | 'fallback' | 'fallback_from'>;

export interface ChosenAgent {
  readonly agent: string;
  readonly model: string | null;
  readonly step: number;
}

/** Accounts at their limit, with the time at which the limit ends. */
export type LimitedAccounts = ReadonlyMap<string, number>;

/** Agents that the run no longer uses, with the reason. */
export type UnusableAgents = ReadonlyMap<string, string>;

/**
 * Chooses the agent of the next attempt. Returns null if all possible agents are at their limit or
 * cannot be used in this run.
 */
export async function chooseAgent(
  engine: Uses<'clock' | 'settings'>,
  tx: Reads,
  task: Who,
  limited: LimitedAccounts,
  unusable: UnusableAgents = new Map(),
): Promise<ChosenAgent | null> {
  const { agents, agentKind } = engine.settings();
  const attempts = await attemptsSince(tx, task.id, task.fallback_from);
  const last = attempts.at(-1);
  if (last !== undefined && unendedStates.includes(last.state)) {
    return limited.has(last.agent) || unusable.has(last.agent) ? null : last;
  }
  const chain = agentChain(agents, agentKind, task);
  const ended = attempts.map((row) => ({ step: row.step, failureKind: row.failure_kind }));
  const due = nextStepIndex(ended, chain.length, agents.after);
  for (let step = due; step < chain.length; step += 1) {
    const { agent, model } = chain[step] ?? chain[0];
    if (unusable.has(agent)) continue;
    const untilMs = limited.get(agent);
    if (untilMs === undefined) return { agent, model, step };
    if (!isTooLong(engine, untilMs)) return null;
  }
  return null;
}

/** Whether a limit lasts longer than the settings allow to wait. */
function isTooLong(engine: Uses<'clock' | 'settings'>, untilMs: number): boolean {
  const { limitWaitMs } = engine.settings().agents;
  return limitWaitMs !== null && untilMs - engine.clock.now() > limitWaitMs;
}

/**
 * The agent that takes over if the running attempt fails this way. Returns null if none does, or
 * not yet.
 */
export async function takesOver(
  engine: Uses<'settings'>,
  tx: Reads,
  claim: Pick<Claim, 'taskId'>,
  failureKind: string,
): Promise<NextAgent | null> {
  const { agents, agentKind } = engine.settings();
  const task = await existingTask(tx, claim.taskId);
  const chain = agentChain(agents, agentKind, task);
  if (chain.length === 1) return null;
  const attempts = await attemptsSince(tx, task.id, task.fallback_from);
  const now = attempts.at(-1);
  if (now === undefined) return null;
  const ended = attempts.map((row) => ({
    step: row.step,
    failureKind: row === now ? failureKind : row.failure_kind,
  }));
  const step = nextStepIndex(ended, chain.length, agents.after);
  const next = chain[step];
  if (next === undefined || step <= now.step || stepText(next) === stepText(now)) return null;
  return { ...next, usesAttempt: !usesNoAttempt(failureKind) };
}

/**
 * The agent that takes over from one whose account reached its limit. Returns null to wait until
 * the limit ends.
 */
export async function takesOverAtLimit(
  engine: Uses<'clock' | 'settings'>,
  tx: Reads,
  claim: Pick<Claim, 'taskId' | 'agent'>,
  untilMs: number,
  limited: LimitedAccounts,
): Promise<NextAgent | null> {
  if (!isTooLong(engine, untilMs)) return null;
  const next = await takesOver(engine, tx, claim, 'account_limit');
  if (next === null) return null;
  const { agents, agentKind } = engine.settings();
  const task = await existingTask(tx, claim.taskId);
  const chain = agentChain(agents, agentKind, task);
  const from = chain.findIndex((step) => stepText(step) === stepText(next));
  const free = chain
    .slice(from)
    .find((step: AgentStep) => step.agent !== claim.agent && !limited.has(step.agent));
  return free === undefined ? null : { ...free, usesAttempt: false };
}
