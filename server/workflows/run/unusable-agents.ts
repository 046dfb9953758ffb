// The tasks of a run that only agents could do which cannot be used: the run ends without them.

import {
  activeRunsIn,
  type Reads,
  type RunRow,
  scopeOfRun,
  startableTasks,
  unusableAgents,
} from '../../store/port.ts';
import { chooseAgent, type UnusableAgents } from '../attempt/fallback.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** More than any plan has. */
const tasksMax = 100_000;

export interface WithoutAgent {
  readonly agents: UnusableAgents;
  readonly tasks: readonly string[];
}

/** Candidates are not among them: each fails on its own, and the others can be chosen from. */
export async function tasksWithoutAgent(
  engine: Uses<'clock' | 'settings'>,
  db: Reads,
  run: RunRow,
): Promise<WithoutAgent> {
  const agents = await unusableAgents(db, run.id);
  if (agents.size === 0) return { agents, tasks: [] };
  const scope = await scopeOfRun(db, run, await activeRunsIn(db));
  const look = { ...scope, nowMs: engine.clock.now(), limit: tasksMax };
  const tasks: string[] = [];
  for (const task of await startableTasks(db, look)) {
    if (task.candidate_of !== null) continue;
    if ((await chooseAgent(engine, db, task, new Map(), agents)) === null) tasks.push(task.id);
  }
  return { agents, tasks };
}

export interface UnusableAgent {
  readonly agent: string;
  readonly why: string;
}

/** For the event of the run's end: the agents that tasks are left for. */
export function awaitedAgents({ agents, tasks }: WithoutAgent): {
  readonly unusable_agents?: readonly UnusableAgent[];
} {
  if (tasks.length === 0) return {};
  return { unusable_agents: [...agents].map(([agent, why]) => ({ agent, why })) };
}
