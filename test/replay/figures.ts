// The figures of one replayed window. Pure.

import { agentMs, criticalMs, serialMs, type ReplayTask } from './plan.ts';

/** The events of one run, whichever program ran it. */
export interface Replay {
  readonly mode: string;
  readonly tasks: readonly ReplayTask[];
  /** Null if the program decides by itself. */
  readonly parallelGates: number | null;
  /** Starts and ends of the scripted agent. */
  readonly starts: readonly Moment[];
  readonly ends: readonly Moment[];
  /** Landings, in their order. */
  readonly landings: readonly Moment[];
  /** From the start of the run to its last landing. */
  readonly wallMs: number;
  readonly gates: { readonly count: number; readonly meanMs: number; readonly red: number };
  /** Of each task that was returned because of a conflict. Null: the program does not tell. */
  readonly conflicts: number | null;
  readonly unusedGateMs: number | null;
  readonly forecast: Forecast | null;
  /** Kills of the backend, and tasks that it lost or ran again after their landing. */
  readonly kills: number;
  readonly lost: readonly string[];
  /**
   * Paths of the window whose final content equals the history's, and the total number of paths.
   */
  readonly equalPaths: number;
  readonly allPaths: number;
  readonly isTreeEqual: boolean;
  /** Tasks that wait for a person or have failed, with the reason. */
  readonly open: readonly string[];
}

export interface Moment {
  readonly id: string;
  readonly atMs: number;
}

export interface Forecast {
  readonly foreseen: number;
  readonly foreseen_and_came: number;
  readonly came: number;
  readonly came_and_foreseen: number;
}

export interface ReplayFigures {
  readonly mode: string;
  readonly parallelGates: number | null;
  readonly tasks: number;
  readonly kills: number;
  /** Shares from 0 to 1. */
  readonly landed: number;
  readonly landedFirst: number;
  readonly treeEqual: boolean;
  readonly pathsEqual: number;
  readonly conflicts: number | null;
  /** Number of agent starts for each task. */
  readonly attempts: number;
  readonly wallS: number;
  readonly toSerial: number;
  readonly toCritical: number;
  readonly gatesPerTask: number;
  readonly redGates: number;
  readonly unusedGateS: number | null;
  /** From the agent's last end to the landing, in mean gate durations. */
  readonly waitP50: number;
  readonly waitP95: number;
  readonly forecast: Forecast | null;
  readonly lost: readonly string[];
  readonly open: readonly string[];
}

/** The smallest value that this share of them (0 to 1) does not exceed. NaN for none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** `gateMs` is the mean of the drawn gates. */
export function replayFigures(run: Replay, gateMs: number, agents: number): ReplayFigures {
  const { tasks, landings } = run;
  const count = tasks.length;
  const startsOf = (id: string): number => run.starts.filter((each) => each.id === id).length;
  const waits = landings.flatMap(({ id, atMs }) => {
    const done = run.ends.findLast((each) => each.id === id && each.atMs <= atMs);
    return done === undefined ? [] : [(atMs - done.atMs) / gateMs];
  });
  return {
    mode: run.mode,
    parallelGates: run.parallelGates,
    tasks: count,
    kills: run.kills,
    landed: landings.length / count,
    landedFirst: landings.filter(({ id }) => startsOf(id) === 1).length / count,
    treeEqual: run.isTreeEqual,
    pathsEqual: run.allPaths === 0 ? 1 : run.equalPaths / run.allPaths,
    conflicts: run.conflicts,
    attempts: run.starts.length / count,
    wallS: run.wallMs / 1000,
    toSerial: run.wallMs / serialMs(tasks, gateMs),
    toCritical: run.wallMs / criticalMs(tasks, gateMs, agents),
    gatesPerTask: run.gates.count / count,
    redGates: run.gates.red,
    unusedGateS: run.unusedGateMs === null ? null : run.unusedGateMs / 1000,
    waitP50: quantile(waits, 0.5),
    waitP95: quantile(waits, 0.95),
    forecast: run.forecast,
    lost: run.lost,
    open: run.open,
  };
}

/** For the head of a report: the times that everything is compared with. */
export function boundsText(tasks: readonly ReplayTask[], gateMs: number, agents: number): string {
  const longest = Math.max(...tasks.map((task) => agentMs(task)));
  const [serial, critical] = [serialMs(tasks, gateMs), criticalMs(tasks, gateMs, agents)];
  const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
  return `serial ${seconds(serial)}, critical path ${seconds(critical)}, longest agent ${seconds(longest)}`;
}
