// One run of independent tasks, some of them red, and the work that it lands, which is the same
// however many gates run at once.

import { SeededChance } from '../doubles/seeded-chance.ts';
import type { AgentPlan } from '../doubles/simulated-agents.ts';
import { noFallback, noBudgets } from '../doubles/neutral-settings.ts';
import { addTask } from '../../server/store/plan/tasks.ts';
import { Checks } from './checks.ts';
import { noFaults } from './faults.ts';
import { Requests } from './requests.ts';
import type { PlannedTask, Scenario } from './scenario.ts';
import { World } from './world.ts';

export interface Landings {
  /** `task tree` of each landing, in the order of the line. */
  readonly landed: readonly string[];
  /** Of each task. */
  readonly statuses: readonly string[];
  /** Most gates that ran at the same time. */
  readonly mostGates: number;
}

const limitMs = 3_600_000;

const plainTask: Omit<PlannedTask, 'title' | 'priority'> = {
  epic: null,
  parent: null,
  blockedBy: [],
  type: 'feature',
  agent: 'command',
  maxAttempts: 1,
  testMode: 'strict',
  plan: false,
};

/** Only agents and gates: the landed work depends only on the order in which the agents end. */
function quiet(drawn: Scenario, count: number, gateParallel: number): Scenario {
  const tasks = Array.from({ length: count }, (_, at) => ({
    ...plainTask,
    title: `piece ${at}`,
    priority: 0,
  }));
  return {
    ...drawn,
    tasks,
    epics: 0,
    firstLand: 'task',
    crashes: 0,
    leaves: false,
    standsStill: 0,
    jumps: false,
    personEveryMs: 0,
    gitTroubleShare: 0,
    flakyShare: 0,
    setupFailShare: 0,
    latencyMaxMs: 2,
    toolShare: 0,
    spends: false,
    crosses: false,
    gateLongestMs: 15_000,
    settings: {
      ...drawn.settings,
      agentKind: 'command',
      agents: noFallback,
      budget: noBudgets,
      workers: count,
      gateCommand: 'gate',
      gateTimeoutMs: 60_000,
      gateParallel,
      setupCommand: null,
      bestOf: 1,
      follow: 'fast-forward',
    },
  };
}

/** Ends at its own time; writes a flaw, or into a shared file, or neither. */
function planOf(runId: string, at: number, chance: SeededChance): AgentPlan {
  const endMs = 500 + at * chance.pick([150, 700, 2_000]);
  const flag = chance.pick(['', '', '', '', '(bad)', '(half one)', '(half two)']);
  const write = { kind: 'write', path: `src/${at}`, mark: `${runId} ${flag}` } as const;
  const append = { kind: 'append', path: 'shared', mark: runId } as const;
  const acts = chance.percent(15) ? [write, append] : [write];
  return {
    acts: acts.map((act) => ({ afterMs: 5, act })),
    end: {
      afterMs: endMs,
      outcome: () => ({ kind: 'done', summary: 'done as asked', deniedTools: [] }),
    },
  };
}

export async function landingsOf(seed: number, gateParallel: number): Promise<Landings> {
  const chance = new SeededChance(seed).fork('landings');
  const count = chance.between(3, 12);
  const world = await World.create(seed, {
    ...noFaults,
    scenario: (drawn) => quiet(drawn, count, gateParallel),
  });
  const checks = new Checks(world);
  let ids: readonly string[] = [];
  world.agents.planFor = ({ taskId, runId }) =>
    planOf(runId, ids.indexOf(taskId), chance.fork(taskId));
  const checked = world.commands.onStart;
  let mostGates = 0;
  world.commands.onStart = (request) => {
    checked(request);
    mostGates = Math.max(mostGates, world.commands.running.size + 1);
  };
  world.startLife();
  await until(world, checks, () => world.life?.launched === true);
  ids = await addTasks(world);
  // All agents start from the same commit, because the base of an agent that waited for a landing
  // would vary.
  new Requests(world).run(null, { workers: count });
  await until(world, checks, () => {
    const [run] = world.rows<{ state: string }>('select state from runs');
    return run !== undefined && run.state !== 'active';
  });
  const found = { landed: landedOn(world), statuses: statusesOf(world), mostGates };
  await world.close();
  return found;
}

async function addTasks(world: World): Promise<readonly string[]> {
  const store = world.life?.store;
  if (store === undefined) throw new Error('there is no backend');
  return store.transaction(async (tx) => {
    const ids: string[] = [];
    for (const { title, agent, priority, maxAttempts, testMode } of world.scenario.tasks) {
      const row = await addTask(tx, store.sources, {
        title,
        agent,
        priority,
        max_attempts: maxAttempts,
        test_mode: testMode,
      });
      ids.push(row.id);
    }
    return ids;
  });
}

async function until(world: World, checks: Checks, isSo: () => boolean): Promise<void> {
  const endMs = world.clock.now() + limitMs;
  // Something always waits, even while the backend only computes.
  world.clock.at(endMs, () => undefined);
  for (;;) {
    // Between two clock events, everything depends only on promises.
    await new Promise<void>((resolve) => setImmediate(resolve));
    checks.afterStep();
    if (world.violation !== null) throw world.violation;
    if (isSo()) return;
    if (!world.clock.step() || world.clock.now() >= endMs)
      throw new Error(`seed ${world.seed} does not come to an end\n${world.story.join('\n')}`);
  }
}

function landedOn({ repository }: World): readonly string[] {
  const tip = repository.refs.get('refs/heads/main');
  if (tip === undefined) return [];
  return repository.objects
    .firstParents(tip)
    .filter(({ subject }) => subject.startsWith('drover: '))
    .map(({ subject, tree }) => `${subject} ${tree}`)
    .toReversed();
}

function statusesOf(world: World): readonly string[] {
  return world
    .rows<{ id: string; status: string; failure_kind: string | null }>(
      `select t.id, t.status, a.failure_kind from tasks t join attempts a on a.task_id = t.id
       order by t.position`,
    )
    .map(({ id, status, failure_kind: kind }) => `${id} ${status} ${kind ?? ''}`);
}
