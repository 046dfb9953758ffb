// Measures only the store, in a separate process: transitions by many writers, and the snapshot.
// Prints one JSON line.

import { parseArgs } from 'node:util';
import { storeSources } from '../server/project/store-sources.ts';
import { addEpic } from '../server/store/plan/epics.ts';
import { openStore } from '../server/store/open.ts';
import type { Store } from '../server/store/port.ts';
import { readSnapshot } from '../server/store/board/snapshot.ts';
import { addTask } from '../server/store/plan/tasks.ts';
import type { TaskStatus } from '../server/core/plan/state.ts';
import { median } from './figures.ts';

export interface StoreRun {
  readonly transitionsPerSecond: number;
  readonly singleWriterPerSecond: number;
  readonly snapshotMs: number;
  readonly snapshotBytes: number;
}

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: '' },
    tasks: { type: 'string', default: '100' },
    transitions: { type: 'string', default: '3000' },
  },
});
const tasks = Number(values.tasks);
/** Creates epics of 100 tasks, in which every third task is blocked by the previous one. */
async function fill(store: Store): Promise<string[]> {
  const made: string[] = [];
  await store.transaction(async (tx) => {
    let epic: string | null = null;
    for (let i = 0; i < tasks; i += 1) {
      if (i % 100 === 0) epic = (await addEpic(tx, store.sources, { title: `epic ${i}` })).id;
      const blockers = i % 3 === 2 ? { blocked_by: [made[i - 1] ?? ''] } : {};
      const fields = { title: `task ${i}`, description: 'words '.repeat(20), epic, ...blockers };
      made.push((await addTask(tx, store.sources, fields)).id);
    }
  });
  return made;
}

const circle: readonly TaskStatus[] = ['claimed', 'in_progress', 'ready'];

/** Each writer moves its own tasks through the same states, with one transaction per change. */
async function transitions(
  { store, ids }: { readonly store: Store; readonly ids: readonly string[] },
  writers: number,
  count: number,
): Promise<number> {
  // Every third task is blocked at first and can't be claimed.
  const free = ids.filter((_, at) => at % 3 !== 2);
  const each = Math.ceil(count / writers / circle.length) * circle.length;
  const tasksEach = Math.floor(free.length / writers);
  const startedAt = performance.now();
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; i < each; i += 1) {
      const turn = Math.floor(i / circle.length) % tasksEach;
      const taskId = free[writer + writers * turn] ?? '';
      const to = circle[i % circle.length] ?? 'ready';
      const outcome = await store.transaction((tx) =>
        store.transition(tx, { taskId, to, event: 'bench' }),
      );
      if (!outcome.ok) throw new Error(`${taskId} to ${to}: ${outcome.reason}`);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return (each * writers) / ((performance.now() - startedAt) / 1000);
}

async function snapshot(store: Store): Promise<{ ms: number; bytes: number }> {
  const startedAt = performance.now();
  const extras = { config: () => ({}), targetBranch: 'main', shaOf: () => Promise.resolve(null) };
  const text = JSON.stringify(await readSnapshot(store.db, {}, extras));
  return { ms: performance.now() - startedAt, bytes: text.length };
}

async function main(): Promise<void> {
  const { store, close } = await openStore(values.database, storeSources, {
    durability: 'grouped',
  });
  const filled = { store, ids: await fill(store) };
  const count = Number(values.transitions);
  await transitions(filled, 8, Math.ceil(count / 10));
  const many = await transitions(filled, 8, count);
  const single = await transitions(filled, 1, Math.ceil(count / 5));
  const snapshots = [];
  for (let i = 0; i < 7; i += 1) snapshots.push(await snapshot(store));
  const result: StoreRun = {
    transitionsPerSecond: many,
    singleWriterPerSecond: single,
    snapshotMs: median(snapshots.map((one) => one.ms)),
    snapshotBytes: snapshots[0]?.bytes ?? 0,
  };
  await close();
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

void main();
