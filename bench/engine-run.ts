// One run of the real engine in a separate process: a warm-up run if requested, then the measured
// run. Prints one JSON line.

import { parseArgs } from 'node:util';
import type { GitRepository } from '../server/git/port.ts';
import { composeEngine } from '../server/main/compose.ts';
import { openProject } from '../server/main/open-project.ts';
import { initProject } from '../server/project/init.ts';
import type { EventView } from '../server/protocol/api.ts';
import { addTask } from '../server/store/plan/tasks.ts';
import { launchEngine, stopRuns } from '../server/workflows/engine.ts';
import { startRun } from '../server/workflows/run/start-run.ts';
import type { EngineRun, ReadyWait } from './engine-figures.ts';
import { treeUse } from './process-use.ts';
import type { Engine } from '../server/workflows/kit/engine-ports.ts';

const { values } = parseArgs({
  options: {
    repository: { type: 'string', default: '' },
    home: { type: 'string', default: '' },
    agent: { type: 'string', default: '' },
    tasks: { type: 'string', default: '10' },
    /** Number of tasks in the warm-up run, which creates the slots. */
    warm: { type: 'string', default: '0' },
    workers: { type: 'string', default: '8' },
    /**
     * Number of other tasks in scope, with a lower priority; the run is stopped when its own tasks
     * are done.
     */
    others: { type: 'string', default: '0' },
    /**
     * CPU time is measured after this many completed tasks, until this many are left, because the
     * load is steady in between.
     */
    edge: { type: 'string', default: '0' },
    /** Each task is blocked by the previous one. */
    chain: { type: 'boolean', default: false },
  },
});

/** The time at which git got the command to prepare a worktree, by branch. */
const preparedAt = new Map<string, number>();

function watched(git: GitRepository): GitRepository {
  return new Proxy(git, {
    get: (target, name) => {
      if (name !== 'prepareSlot') return Reflect.get(target, name) as unknown;
      const prepareSlot: GitRepository['prepareSlot'] = (request) => {
        preparedAt.set(request.branch ?? '', now());
        return target.prepareSlot(request);
      };
      return prepareSlot;
    },
  });
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

async function add(engine: Engine, count: number, name: string, priority: number): Promise<void> {
  const { store } = engine;
  await store.transaction(async (tx) => {
    let before: string | null = null;
    for (let i = 0; i < count; i += 1) {
      const blockedBy: readonly string[] = values.chain && before !== null ? [before] : [];
      const fields = { title: `${name} ${i}`, priority, blocked_by: blockedBy };
      const row: { readonly id: string } = await addTask(tx, store.sources, fields);
      before = row.id;
    }
  });
}

/**
 * Resolves when this many tasks have completed, or when the run is finished; `onCompleted` gets
 * each count.
 */
function untilDone(
  engine: Engine,
  after: number,
  tasks: number,
  onCompleted: (count: number) => void,
): Promise<number> {
  const { feed } = engine.store;
  const done = Promise.withResolvers<number>();
  let last = after;
  let completed = 0;
  let reading: Promise<void> = Promise.resolve();
  const read = async (): Promise<void> => {
    for (const event of await feed.read({ after: last })) {
      last = event.seq;
      if (event.type === 'task.completed') onCompleted((completed += 1));
      if (completed >= tasks || event.type === 'run.finished') done.resolve(now());
    }
  };
  const off = feed.onAppend(() => {
    reading = reading.then(read);
  });
  return done.promise.finally(off);
}

async function measuredRun(engine: Engine, tasks: number, name: string): Promise<EngineRun> {
  const { store, git } = engine;
  await add(engine, tasks, name, 10);
  const seqBefore = await store.feed.lastSeq();
  const edge = Math.min(Number(values.edge), Math.floor((tasks - 1) / 2));
  const cpuAt = new Map<number, number>();
  const done = untilDone(engine, seqBefore, tasks, (count) => {
    if (count === edge || count === tasks - edge) cpuAt.set(count, treeUse(process.pid).cpuMs);
  });
  const gitBefore = git.processCount;
  cpuAt.set(0, treeUse(process.pid).cpuMs);
  const ownBefore = process.cpuUsage();
  const startedAt = now();
  await startRun(engine, {
    workers: Number(values.workers),
    epicId: null,
    tasks: null,
    target: 'main',
    land: null,
    flags: {},
  });
  await done;
  const own = process.cpuUsage(ownBefore);
  const cpuMs = (cpuAt.get(tasks - edge) ?? Number.NaN) - (cpuAt.get(edge) ?? Number.NaN);
  const gitProcesses = git.processCount - gitBefore;
  await stopRuns(engine, null);
  const events = await store.feed.read({ after: seqBefore });
  const completed = events.filter((event) => event.type === 'task.completed').slice(0, tasks);
  const lastMs = Math.max(...completed.map((event) => event.at_ms));
  return {
    tasks,
    completed: completed.length,
    troubles: events.filter((event) => /^task\.(retry|failed|conflict|needs)/.test(event.type))
      .length,
    msPerTask: (lastMs - startedAt) / tasks,
    cpuMsPerTask: cpuMs / (tasks - 2 * edge),
    backendCpuMsPerTask: (own.user + own.system) / 1000 / tasks,
    gitPerTask: gitProcesses / tasks,
    backendRssMb: process.memoryUsage.rss() / 1e6,
    ready: readyWaits(events),
    dispatchMs: dispatchWaits(events),
  };
}

/** Measured from the claim of each task until the worktree is ready for its agent. */
function readyWaits(events: readonly EventView[]): ReadyWait[] {
  const claimed = new Map<string | null, number>();
  const waits: ReadyWait[] = [];
  for (const event of events) {
    if (event.type === 'task.claimed') claimed.set(event.task_id, event.at_ms);
    if (event.type !== 'worktree.ready') continue;
    const ms = event.at_ms - (claimed.get(event.task_id) ?? event.at_ms);
    waits.push({ ms, created: event.data['created'] === true });
  }
  return waits;
}

/**
 * Measured from the landing of a task until the worktree of the task that it blocked is being
 * prepared.
 */
function dispatchWaits(events: readonly EventView[]): number[] {
  const waits: number[] = [];
  let landedMs: number | null = null;
  for (const event of events) {
    if (event.type === 'task.completed') landedMs = event.at_ms;
    if (event.type !== 'worktree.ready' || landedMs === null) continue;
    const prepared = preparedAt.get(String(event.data['branch']));
    if (prepared !== undefined) waits.push(prepared - landedMs);
    landedMs = null;
  }
  return waits;
}

async function main(): Promise<void> {
  await initProject(values.repository, process.env);
  const environment = {
    PATH: process.env['PATH'],
    HOME: values.home,
    DROVER_SANDBOX: 'off',
    DROVER_AGENT_TYPE: 'command',
    DROVER_AGENT_PATH: values.agent,
  };
  const project = await openProject(values.repository, environment, {});
  const host = await composeEngine({ ...project, git: watched(project.git) }, (error, where) =>
    console.error('trouble:', where, error),
  );
  await launchEngine(host.engine);
  if (Number(values.warm) > 0) await measuredRun(host.engine, Number(values.warm), 'warm');
  if (Number(values.others) > 0) await add(host.engine, Number(values.others), 'other', -10);
  const result = await measuredRun(host.engine, Number(values.tasks), 'task');
  await host.close();
  await project.close();
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

void main();
