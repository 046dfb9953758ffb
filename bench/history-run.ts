// Measures the cost of a long feed in a separate process: a trace, an earlier state, an exporter's
// data, and retention during timed writes. Prints one JSON line.

import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { otlpTrace } from '../server/core/history/otlp.ts';
import { storeSources } from '../server/project/store-sources.ts';
import { endedSpans } from '../server/store/history/ended-spans.ts';
import { addEpic } from '../server/store/plan/epics.ts';
import { openStore } from '../server/store/open.ts';
import { openPast } from '../server/store/history/past.ts';
import type { Store, Tx } from '../server/store/port.ts';
import { pruneEvents } from '../server/store/history/prune.ts';
import { readTrace } from '../server/store/history/read-history.ts';
import { readSnapshot } from '../server/store/board/snapshot.ts';
import { addTask } from '../server/store/plan/tasks.ts';
import { tablesOf } from '../test/tables.ts';

export interface HistoryRun {
  readonly events: number;
  readonly traceMs: number;
  readonly traceCpuMs: number;
  readonly spans: number;
  readonly pastMs: readonly number[];
  readonly pastCpuMs: readonly number[];
  readonly exportCpuMs: number;
  readonly exportMb: number;
  readonly oldEvents: number;
  readonly pruned: number;
  readonly pruneMs: number;
  /** Time of a transition while retention is running. */
  readonly stepP99Ms: number;
  /** Time of a transition before retention starts. */
  readonly idleP99Ms: number;
  readonly stepMaxMs: number;
}

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: '' },
    tasks: { type: 'string', default: '10000' },
    old: { type: 'string', default: '1000000' },
  },
});
const tasks = Number(values.tasks);
const runId = 'run-bench';

/** Each task is claimed, gets an agent, and lands; every third one after a failed attempt. */
async function work(store: Store, tx: Tx, taskId: string, at: number): Promise<void> {
  const attempts = at % 3 === 0 ? [1, 2] : [1];
  const say = (type: string, data: Record<string, unknown>): Promise<void> =>
    store.append(tx, { type, taskId, runId, data });
  const move = async (to: 'claimed' | 'in_progress' | 'ready' | 'completed', event: string) => {
    const data = { attempt: attempts.at(-1), agent: 'claude' };
    await store.transition(tx, { taskId, to, event, runId, data });
  };
  for (const attempt of attempts) {
    await move('claimed', 'task.claimed');
    await move('in_progress', 'task.started');
    await say('worktree.ready', {});
    const isLast = attempt === attempts.at(-1);
    await say('agent.ended', { attempt, outcome: isLast ? 'done' : 'failed' });
    if (!isLast) await move('ready', 'task.retry');
  }
  await say('task.committed', {});
  await move('completed', 'task.completed');
}

async function fill(store: Store): Promise<string> {
  let epic = '';
  await store.transaction((tx) =>
    store.append(tx, { type: 'run.started', runId, data: { run: runId } }),
  );
  for (let from = 0; from < tasks; from += 100) {
    await store.transaction(async (tx) => {
      epic = (await addEpic(tx, store.sources, { title: `epic ${from}` })).id;
      for (let at = from; at < Math.min(from + 100, tasks); at += 1) {
        const task = await addTask(tx, store.sources, { title: `task ${at}`, epic });
        await work(store, tx, task.id, at);
      }
    });
  }
  await store.transaction((tx) => store.append(tx, { type: 'run.finished', runId, data: {} }));
  return epic;
}

interface Time {
  readonly ms: number;
  readonly cpuMs: number;
}

async function timeOf(body: () => Promise<unknown>): Promise<Time> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await body();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1_000 };
}

async function pastTimes(store: Store, last: number): Promise<Time[]> {
  const extras = { config: () => ({}), targetBranch: 'main', shaOf: () => Promise.resolve(null) };
  const times: Time[] = [];
  for (let part = 1; part <= 10; part += 1) {
    const time = await timeOf(async () => {
      const past = await openPast(store.db, { seq: Math.floor((last * part) / 10) });
      await readSnapshot(past.db, {}, extras);
      await past.close();
    });
    times.push(time);
  }
  return times;
}

/** An exporter that starts at the first event sends the whole run at once. */
async function exportAll(store: Store): Promise<{ cpuMs: number; mb: number }> {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const cpu = process.cpuUsage();
  let most = before;
  for (let after = 0; ;) {
    const page = await store.feed.read({ after, limit: 2_000 });
    const last = page.at(-1);
    if (last === undefined) break;
    for await (const spans of endedSpans(store.db, page)) JSON.stringify(otlpTrace(spans, '0'));
    most = Math.max(most, process.memoryUsage().rss);
    after = last.seq;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMs: (user + system) / 1_000, mb: (most - before) / 2 ** 20 };
}

/** Creates old events of tasks that ended long ago. */
async function addOld(store: Store, count: number): Promise<void> {
  const perTask = 100;
  for (let from = 0; from < count; from += perTask) {
    await store.transaction(async (tx) => {
      const task = await addTask(tx, store.sources, { title: `old ${from}` });
      for (const to of ['claimed', 'in_progress', 'completed'] as const)
        await store.transition(tx, { taskId: task.id, to, event: `task.${to}` });
      await tablesOf(tx)
        .updateTable('tasks')
        .set({ updated_at: 1 })
        .where('id', '=', task.id)
        .execute();
      const rows = Array.from({ length: perTask }, (_, at) => ({
        id: `${task.id}-${at}`,
        type: 'agent.note',
        timestamp: 1,
        at_ms: 1_000 + at,
        task_id: task.id,
        epic_id: null,
        run_id: null,
        data: '{}',
      }));
      await tablesOf(tx).insertInto('events').values(rows).execute();
      await tablesOf(tx)
        .updateTable('events')
        .set({ at_ms: 1_000 })
        .where('task_id', '=', task.id)
        .execute();
    });
  }
}

type Pruned = Pick<HistoryRun, 'pruned' | 'pruneMs' | 'stepP99Ms' | 'stepMaxMs' | 'idleP99Ms'>;

/** Makes transitions in sequence until the body returns. */
async function stepsBeside(store: Store, body: () => Promise<unknown>): Promise<readonly number[]> {
  const task = await store.transaction((tx) => addTask(tx, store.sources, { title: 'at work' }));
  const steps: number[] = [];
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      for (const to of ['claimed', 'in_progress', 'ready'] as const) {
        const change = { taskId: task.id, to, event: 'bench' };
        const { ms } = await timeOf(() => store.transaction((tx) => store.transition(tx, change)));
        steps.push(ms);
        await wait(2);
      }
    }
  })();
  await body();
  isOver = true;
  await writing;
  return steps.toSorted((a, b) => a - b);
}

function p99(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

async function pruneBesideWrites(store: Store): Promise<Pruned> {
  const idle = await stepsBeside(store, () => wait(3_000));
  const yieldTurn = async (): Promise<boolean> => {
    await wait(5);
    return true;
  };
  let pruned = 0;
  const startedAt = performance.now();
  const steps = await stepsBeside(store, async () => {
    pruned = (await pruneEvents({ store, isDry: false, yieldTurn }, 1_000_000)).count;
  });
  const pruneMs = performance.now() - startedAt;
  const stepMaxMs = steps.at(-1) ?? Number.NaN;
  return { pruned, pruneMs, stepP99Ms: p99(steps), stepMaxMs, idleP99Ms: p99(idle) };
}

async function main(): Promise<void> {
  const { store, close } = await openStore(values.database, storeSources, {
    durability: 'grouped',
  });
  await fill(store);
  const events = await store.feed.lastSeq();
  let spans = 0;
  const trace = await timeOf(async () => {
    const found = await readTrace(store.db, runId, Date.now());
    JSON.stringify(otlpTrace(found, '0'));
    spans = found.length;
  });
  const past = await pastTimes(store, events);
  const exported = await exportAll(store);
  await addOld(store, Number(values.old));
  const result: HistoryRun = {
    events,
    traceMs: trace.ms,
    traceCpuMs: trace.cpuMs,
    spans,
    pastMs: past.map(({ ms }) => ms),
    pastCpuMs: past.map(({ cpuMs }) => cpuMs),
    exportCpuMs: exported.cpuMs,
    exportMb: exported.mb,
    oldEvents: Number(values.old),
    ...(await pruneBesideWrites(store)),
  };
  await close();
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

void main();
