// The content of a seed: a small plan of tasks and the timed actions of each actor. Every action
// draws from a separate stream, so that a schedule without some of its actions is otherwise
// identical.

import { SeededChance } from '../doubles/seeded-chance.ts';
import { type AgentAct, agentActs } from './agent-acts.ts';
import { type EngineAct, engineActs } from './engine-acts.ts';
import { type PersonAct, personActs } from './person-acts.ts';

export interface PlannedTask {
  readonly id: string;
  readonly epic_id?: string;
  readonly parent_id?: string;
  readonly blocked_by: readonly string[];
  /** Hundredths of a second that its agent waits in the middle of its work. */
  readonly pace: number;
  /** It also writes to the file that all tasks share. */
  readonly shares: boolean;
}

interface Timed {
  /** Shown beside it in reports; `--without` removes it from the schedule. */
  readonly number: number;
  /**
   * Starts when this many agents have been started (or none is left to start), and this much later.
   */
  readonly afterStarts: number;
  readonly delayMs: number;
}

export type TimedAct =
  | (Timed & { readonly by: 'person'; readonly act: PersonAct })
  | (Timed & { readonly by: 'engine'; readonly act: EngineAct });

/** Actions of one attempt's agent in addition to its work. */
export interface AgentPlan {
  readonly number: number;
  readonly task: string;
  readonly attempt: number;
  readonly act: AgentAct;
}

/**
 * Whether there is an epic, and whether its run lands each task, or all of it at its end. The
 * numbers are the weights in the draw.
 */
const epicKinds = { none: 6, task: 1, epic: 2 } as const;

type EpicKind = keyof typeof epicKinds;

export interface Schedule {
  readonly seed: number;
  readonly workers: number;
  readonly epic: EpicKind;
  readonly tasks: readonly PlannedTask[];
  readonly agents: readonly AgentPlan[];
  readonly acts: readonly TimedAct[];
}

/** Actions, and a kind of epic, that a planted fault needs, which are drawn more often. */
export type Often = readonly (AgentAct | PersonAct | EngineAct | EpicKind)[];

const oftenFactor = 10;

function weighed<K extends string>(
  weights: { readonly [act in K]: number },
  often: Often,
): { readonly [act in K]: number } {
  const entries = Object.entries(weights) as [K, number][];
  const wanted: ReadonlySet<string> = new Set(often);
  return Object.fromEntries(
    entries.map(([act, weight]) => [act, wanted.has(act) ? weight * oftenFactor : weight]),
  ) as { readonly [act in K]: number };
}

export function drawSchedule(seed: number, often: Often = []): Schedule {
  const chance = new SeededChance(seed * 7919 + 17);
  for (let warm = 0; warm < 3; warm += 1) chance.next();
  const epic = chance.weighted(weighed(epicKinds, often));
  const tasks = drawTasks(chance.fork('tasks'), epic !== 'none');
  let number = 0;
  const agents: AgentPlan[] = [];
  const moods = chance.fork('agents');
  for (const { id } of tasks) {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      if (!moods.percent(attempt === 1 ? 50 : 25)) continue;
      number += 1;
      agents.push({ number, task: id, attempt, act: moods.weighted(weighed(agentActs, often)) });
    }
  }
  const acts: TimedAct[] = [];
  const moments = chance.fork('acts');
  const count = moments.between(4, 9);
  for (let at = 0; at < count; at += 1) {
    number += 1;
    const timed = {
      number,
      afterStarts: Math.min(tasks.length, Math.floor((at * (tasks.length + 1)) / count)),
      delayMs: moments.percent(30) ? 0 : moments.between(5, 250),
    };
    acts.push(
      moments.percent(72)
        ? { ...timed, by: 'person', act: moments.weighted(weighed(personActs, often)) }
        : { ...timed, by: 'engine', act: moments.weighted(weighed(engineActs, often)) },
    );
  }
  return { seed, workers: chance.between(1, 3), epic, tasks, agents, acts };
}

export function withoutActs(schedule: Schedule, numbers: ReadonlySet<number>): Schedule {
  const isKept = ({ number }: { readonly number: number }): boolean => !numbers.has(number);
  return {
    ...schedule,
    agents: schedule.agents.filter(isKept),
    acts: schedule.acts.filter(isKept),
  };
}

function drawTasks(chance: SeededChance, hasEpic: boolean): readonly PlannedTask[] {
  const tasks: PlannedTask[] = [];
  const count = chance.between(4, 6);
  for (let at = 1; at <= count; at += 1) {
    const before = tasks.filter(({ parent_id: parent }) => parent === undefined);
    const inEpic = hasEpic && chance.percent(80);
    tasks.push({
      id: `t${at}`,
      ...(inEpic ? { epic_id: 'E' } : {}),
      blocked_by: before.length > 0 && chance.percent(35) ? [chance.pick(before).id] : [],
      pace: chance.between(2, 35),
      shares: chance.percent(20),
    });
  }
  if (chance.percent(30)) {
    const parent = chance.pick(tasks);
    for (const part of [1, 2]) {
      tasks.push({
        id: `${parent.id}.${part}`,
        parent_id: parent.id,
        blocked_by: [],
        pace: chance.between(2, 20),
        shares: false,
      });
    }
  }
  return tasks;
}
