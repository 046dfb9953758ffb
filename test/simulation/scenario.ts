// What a seed simulates: the tasks, the settings, and how much goes wrong.

import type { Budgets } from '../../server/core/work/budget.ts';
import type { AgentChoices } from '../../server/core/work/fallback.ts';
import type { SeededChance } from '../doubles/seeded-chance.ts';
import type { Files } from '../doubles/simulated-git-objects.ts';
import { noFallback, anyHost, noBudgets, noLimits } from '../doubles/neutral-settings.ts';
import type { WorkSettings } from '../../server/workflows/kit/engine-ports.ts';

export interface PlannedTask {
  readonly title: string;
  readonly epic: number | null;
  /** Index of an earlier task. */
  readonly parent: number | null;
  readonly blockedBy: readonly number[];
  readonly type: 'feature' | 'research';
  readonly agent: string | null;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly testMode: 'strict' | 'disabled';
  /** The agent plans first, and the person approves the plan. */
  readonly plan: boolean;
}

export interface Scenario {
  readonly tasks: readonly PlannedTask[];
  readonly epics: number;
  readonly settings: WorkSettings;
  /** How the first run lands its work if it is the run of one epic. */
  readonly firstLand: 'task' | 'epic' | 'review' | null;
  readonly chaosMs: number;
  readonly crashes: number;
  readonly leaves: boolean;
  readonly standsStill: number;
  readonly jumps: boolean;
  /** Mean time between two actions of the person; 0 = the person only watches. */
  readonly personEveryMs: number;
  readonly personRewinds: boolean;
  readonly gitTroubleShare: number;
  readonly flakyShare: number;
  readonly setupFailShare: number;
  readonly latencyMaxMs: number;
  /** Percentage of agents that do not simply do their work. */
  readonly moodShare: number;
  /** Longest time that an agent needs for one step. */
  readonly paceMs: number;
  /** Percentage of agents that add tasks or name a blocker. */
  readonly toolShare: number;
  /** Agents report turns, usage and overload, and budgets apply until the calm phase begins. */
  readonly spends: boolean;
  /** Some gates take so long that others start early. */
  readonly gateLongestMs: number;
  /** Two epics need each other's work, and each has its own run from the beginning. */
  readonly crosses: boolean;
}

const agentKinds = ['claude', 'command', 'drover-code'] as const;

export function drawScenario(chance: SeededChance): Scenario {
  const count = chance.between(2, 8);
  const epics = chance.percent(60) ? chance.between(1, 2) : 0;
  const tasks: PlannedTask[] = [];
  for (let at = 0; at < count; at += 1) tasks.push(drawTask(chance, at, tasks, epics));
  const scenario = drawRest(chance, tasks, epics);
  const spending = chance.percent(40)
    ? { spends: true, settings: { ...scenario.settings, budget: drawBudgets(chance) } }
    : {};
  const planShare = chance.percent(30) ? chance.pick([30, 100]) : 0;
  const drawn = {
    ...scenario,
    ...spending,
    tasks: tasks.map((task) => ({ ...task, plan: chance.percent(planShare) })),
  };
  const gated = withGates(drawn, chance.fork('early gates'));
  return chance.fork('crosses lines').percent(crossedShare) ? crossed(gated) : gated;
}

/** Half of the seeds have long gates, and some of these run several gates at once. */
function withGates(drawn: Scenario, chance: SeededChance): Scenario {
  if (chance.percent(50)) return drawn;
  const gateParallel = chance.between(2, 4);
  return { ...drawn, gateLongestMs: 15_000, settings: { ...drawn.settings, gateParallel } };
}

const crossedShare = 5;

/**
 * Adds tasks that need landings on the branch of another run: some in a second epic, and a sub-task
 * of a task without an epic that the first epic waits for.
 */
export function crossed(drawn: Scenario): Scenario {
  const first = drawn.tasks.length;
  const plain = {
    parent: null,
    type: 'feature',
    agent: null,
    priority: 1,
    maxAttempts: 3,
    testMode: 'strict',
    plan: false,
  } as const;
  const more: readonly (Partial<PlannedTask> & Pick<PlannedTask, 'epic' | 'blockedBy'>)[] = [
    { epic: 0, blockedBy: [] },
    { epic: null, blockedBy: [] },
    { epic: null, blockedBy: [first], parent: first + 1 },
    { epic: 0, blockedBy: [first + 1] },
    { epic: 1, blockedBy: [first] },
  ];
  const tasks = more.map((task, at) => ({ ...plain, title: `piece ${first + at}`, ...task }));
  return { ...drawn, crosses: true, epics: 2, tasks: [...drawn.tasks, ...tasks] };
}

/** An agent of the simulation uses a few hundred tokens in some turns. */
function drawBudgets(chance: SeededChance): Budgets {
  const some = (min: number, max: number): number | null =>
    chance.percent(40) ? chance.between(min, max) : null;
  return {
    task: {
      tokens: some(200, 3_000),
      usd: some(1, 10),
      turns: some(2, 20),
      workedMs: some(1_000, 20_000),
    },
    epic: { ...noLimits, tokens: some(1_000, 10_000) },
    day: { ...noLimits, turns: some(10, 100) },
    askAt: chance.pick([0.5, 0.8, 1]),
    loopRepeats: chance.pick([0, 2, 3]),
  };
}

function drawRest(chance: SeededChance, tasks: readonly PlannedTask[], epics: number): Scenario {
  return {
    tasks,
    epics,
    settings: drawSettings(chance),
    firstLand: chance.pick([null, null, 'task', 'epic', 'epic', 'review'] as const),
    chaosMs: chance.between(8_000, 40_000),
    crashes: chance.percent(70) ? chance.between(1, 5) : 0,
    leaves: chance.percent(20),
    standsStill: chance.percent(30) ? chance.between(1, 4) : 0,
    jumps: chance.percent(10),
    personEveryMs: chance.percent(80) ? chance.pick([250, 600, 1_500, 4_000]) : 0,
    personRewinds: chance.percent(10),
    gitTroubleShare: chance.percent(25) ? chance.between(1, 6) : 0,
    flakyShare: chance.percent(30) ? 30 : 0,
    setupFailShare: chance.percent(30) ? 20 : 0,
    latencyMaxMs: chance.pick([2, 30, 30, 400]),
    moodShare: chance.pick([0, 40, 70, 100]),
    paceMs: chance.pick([300, 2_000, 5_000]),
    toolShare: chance.percent(40) ? chance.pick([40, 100]) : 0,
    spends: false,
    gateLongestMs: 3_000,
    crosses: false,
  };
}

function drawTask(
  chance: SeededChance,
  at: number,
  before: readonly PlannedTask[],
  epics: number,
): PlannedTask {
  const roots = before.flatMap((task, index) => (task.parent === null ? [index] : []));
  const parent = roots.length > 0 && chance.percent(15) ? chance.pick(roots) : null;
  const blockedBy = parent === null ? roots.filter(() => chance.percent(30)) : [];
  const epic =
    parent === null
      ? epics > 0 && chance.percent(70)
        ? chance.below(epics)
        : null
      : (before[parent]?.epic ?? null);
  return {
    title: `piece ${at}`,
    epic,
    parent,
    blockedBy,
    type: chance.percent(10) ? 'research' : 'feature',
    agent: chance.percent(30) ? chance.pick(agentKinds) : null,
    priority: chance.below(3),
    maxAttempts: chance.between(1, 3),
    testMode: chance.percent(10) ? 'disabled' : 'strict',
    plan: false,
  };
}

function drawSettings(chance: SeededChance): WorkSettings {
  return {
    agentKind: chance.pick(agentKinds),
    plansFirst: false,
    workers: chance.between(1, 4),
    target: null,
    land: null,
    forge: {
      base: null,
      isDraft: false,
      reviewers: [],
      labels: [],
      merge: 'person',
      shape: 'epic',
      pollMs: 60_000,
      quietMs: 0,
      bots: [],
      report: 'none',
      intake: null,
    },
    gateCommand: chance.percent(80) ? 'gate' : null,
    gateTimeoutMs: chance.percent(90) ? 60_000 : 2_500,
    gateKeeps: ['target'],
    gateParallel: 1,
    gateNeeds: [],
    setupCommand: chance.percent(40) ? 'setup' : null,
    setupTimeoutMs: 60_000,
    setupInputs: [],
    copyIgnored: [],
    keepIgnored: chance.percent(50),
    sparse: null,
    portsPerTask: 10,
    runHooks: false,
    follow: chance.percent(90) ? 'fast-forward' : 'never',
    maxCommitFileSize: 1_000_000,
    protectedPaths: [],
    portableNames: true,
    linksAllowed: [],
    maxOutputBytes: 1_000_000,
    taskTimeoutMs: 600_000,
    guidelines: '',
    taskContextCount: chance.percent(50) ? 3 : 0,
    taskContextMaxAgeMs: 3_600_000,
    noteCount: 10,
    review: { agent: null, model: null, paths: [], minLines: 0, usd: null, timeoutMs: 900_000 },
    notesKeptMs: 2_592_000_000,
    maxDescriptionBytes: 10_000,
    budget: noBudgets,
    machine: anyHost,
    agents: chance.percent(50) ? noFallback : drawFallback(chance),
    bestOf: chance.percent(25) ? chance.between(2, 3) : 1,
    runsOn: 'local',
    remoteLabels: [],
    remoteMax: 4,
    onForecast: 'off',
    choose: chance.pick(['first-green', 'smallest-change', 'person'] as const),
  };
}

function drawFallback(chance: SeededChance): AgentChoices {
  const others = agentKinds.map((agent) => ({ agent, model: null }));
  const fallback = others.filter(() => chance.percent(60));
  const limitWaitMs = chance.percent(50) ? null : chance.between(0, 20_000);
  return { ...noFallback, fallback, after: chance.between(1, 2), limitWaitMs };
}

/** Everything that can make the gate fail on a tree. */
export const flaws = /\((?:bad|half one|half two)\)/g;

/**
 * Markers in files: `bad` fails alone; each of the two halves passes alone, and both together fail.
 */
export function isGreen(_command: string, files: Files): boolean {
  const contents = [...files.values()];
  const has = (mark: string): boolean => contents.some((content) => content.includes(mark));
  return !has('(bad)') && !(has('(half one)') && has('(half two)'));
}
