// Finds tasks of a run that only unusable agents could do. The run ends without them.

import {
  activeRunsIn,
  onWorkers,
  type Reads,
  type RunRow,
  scopeOfRun,
  type Startable,
  startableTasks,
  unusableAgents,
  type UnusableThere,
} from '../../store/port.ts';
import { chooseAgent, type UnusableAgents } from '../attempt/fallback.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { openPlacement } from '../kit/placement.ts';
import { openRemotePlaces } from './remote-places.ts';

/** More than any plan has. */
const tasksMax = 100_000;

export interface WithoutAgent {
  readonly found: readonly UnusableThere[];
  readonly tasks: readonly string[];
  /** Agents that cannot be used on any machine that may run this task, with the reason. */
  agentsFor(task: Startable): UnusableAgents;
  /** Machines on which this agent cannot be used. */
  machinesWithout(agent: string): ReadonlySet<string>;
}

const none: WithoutAgent = {
  found: [],
  tasks: [],
  agentsFor: () => new Map(),
  machinesWithout: () => new Set(),
};

/** Omits candidates: each fails by itself, and one of the others can be chosen. */
export async function tasksWithoutAgent(
  engine: Uses<'clock' | 'compatibility' | 'machineId' | 'settings'>,
  db: Reads,
  run: RunRow,
): Promise<WithoutAgent> {
  const found = await unusableAgents(db, run.id);
  if (found.length === 0) return none;
  const [machines, workers] = await Promise.all([
    openPlacement(engine, db),
    openRemotePlaces(engine, db),
  ]);
  const machinesWithout = (agent: string): ReadonlySet<string> =>
    new Set(found.filter((one) => one.agent === agent).map(({ place }) => place));
  const agentsFor = (task: Startable): UnusableAgents => {
    if (task.candidate_of !== null) return new Map();
    const isRemote = workers.placeOf(task) === 'remote';
    const places = isRemote ? [onWorkers] : machines.machinesFor(task);
    const agents = [...new Set(found.map(({ agent }) => agent))].filter((agent) => {
      const without = machinesWithout(agent);
      return places.length > 0 && places.every((place) => without.has(place));
    });
    return new Map(agents.map((agent) => [agent, whyNowhere(found, agent)]));
  };
  const scope = await scopeOfRun(db, run, await activeRunsIn(db));
  const look = { ...scope, nowMs: engine.clock.now(), limit: tasksMax };
  const tasks: string[] = [];
  for (const task of await startableTasks(db, look)) {
    const agents = agentsFor(task);
    if (agents.size > 0 && (await chooseAgent(engine, db, task, new Map(), agents)) === null)
      tasks.push(task.id);
  }
  return { found, tasks, agentsFor, machinesWithout };
}

export interface UnusableAgent {
  readonly agent: string;
  readonly why: string;
}

/** The agents that remaining tasks wait for, for the event of the run's end. */
export function awaitedAgents({ found, tasks }: WithoutAgent): {
  readonly unusable_agents?: readonly UnusableAgent[];
} {
  if (tasks.length === 0) return {};
  const agents = [...new Set(found.map(({ agent }) => agent))];
  return { unusable_agents: agents.map((agent) => ({ agent, why: whyNowhere(found, agent) })) };
}

function whyNowhere(found: readonly UnusableThere[], agent: string): string {
  return found
    .filter((one) => one.agent === agent)
    .map(({ name, why }) => (name === null ? why : `${name}: ${why}`))
    .join(' ');
}
