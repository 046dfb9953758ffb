// A store in memory with a stopped clock and ids that count up, for tests of the store.

import assert from 'node:assert/strict';
import type { Insertable } from 'kysely';
import { Refusal } from '../../../server/core/failure.ts';
import type { TaskStatus } from '../../../server/core/plan/state.ts';
import type { TaskFields } from '../../../server/protocol/task-fields.ts';
import type { OpenedStore } from '../../../server/store/open.ts';
import type { AttemptTable } from '../../../server/store/schema/tables.ts';
import type { StoreSources, TaskRow } from '../../../server/store/port.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { openEmptyStore } from '../../doubles/empty-store.ts';
import { sized } from '../../tier.ts';
import { tablesOf } from '../../tables.ts';

export interface TestSources extends StoreSources {
  /** The clock's time in Unix milliseconds. */
  nowMs: number;
}

export const testStartMs = 1_800_000_000_000;

export function testSources(nowMs = testStartMs): TestSources {
  let ids = 0;
  let draws = 0;
  const sources: TestSources = {
    nowMs,
    clock: { now: () => sources.nowMs, timer: () => () => undefined },
    uuid: () => `00000000-0000-4000-8000-${String((ids += 1)).padStart(12, '0')}`,
    random: (bytes) => {
      draws += 1;
      const view = new Uint8Array(bytes);
      new DataView(view.buffer).setUint32(0, draws << 8);
      return view;
    },
  };
  return sources;
}

export type TestStore = Pick<OpenedStore, 'store' | 'close'> & { readonly sources: TestSources };

export type OpenEmpty = (sources: StoreSources) => Promise<Pick<OpenedStore, 'store' | 'close'>>;

const openInMemory: OpenEmpty = openEmptyStore;
let openEmpty = openInMemory;

/** Runs the same tests on another kind of store; null selects the default kind. */
export function openStoresWith(open: OpenEmpty | null): void {
  openEmpty = open ?? openInMemory;
}

/**
 * How many random histories a test draws: `count` in memory, and fewer on other kinds of store,
 * whose statements cost far more. There, the gate checks only what differs.
 */
export function drawn(count: number): number {
  return openEmpty === openInMemory ? count : sized(Math.ceil(count / 4), count);
}

export async function memoryStore(sources: TestSources = testSources()): Promise<TestStore> {
  const { store, close } = await openEmpty(sources);
  return { store, close, sources };
}

/**
 * Adds tasks by their titles; `blocked_by` and `parent` contain titles too. Resolves with the ids
 * by title.
 */
export async function addTasks(
  project: TestStore,
  tasks: readonly (TaskFields & { readonly title: string })[],
): Promise<Readonly<Record<string, string>>> {
  const ids: Record<string, string> = {};
  const idOf = (title: string): string => ids[title] ?? title;
  for (const task of tasks) {
    const row = await project.store.transaction((tx) =>
      addTask(tx, project.sources, {
        ...task,
        blocked_by: (task.blocked_by ?? []).map(idOf),
        parent: typeof task.parent === 'string' ? idOf(task.parent) : null,
      }),
    );
    ids[task.title] = row.id;
  }
  return ids;
}

/** Takes a task through the given states, as the engine would. */
export async function moveTask(
  project: TestStore,
  id: string,
  statuses: readonly TaskStatus[],
  set: Partial<TaskRow> = {},
): Promise<void> {
  await project.store.transaction(async (tx) => {
    for (const [index, to] of statuses.entries()) {
      const last = index === statuses.length - 1;
      const outcome = await project.store.transition(tx, {
        taskId: id,
        to,
        event: `task.${to}`,
        ...(last ? { set } : {}),
      });
      assert.ok(outcome.ok, `${id} to ${to}: ${JSON.stringify(outcome)}`);
    }
  });
}

/**
 * An attempt without its workflow: the task's first, which is running unless `more` says otherwise.
 */
export async function addAttempt(
  project: TestStore,
  taskId: string,
  more: Partial<Insertable<AttemptTable>> = {},
): Promise<void> {
  await tablesOf(project.store.db)
    .insertInto('attempts')
    .values({
      task_id: taskId,
      number: 1,
      epoch: 1,
      state: 'running',
      agent: 'claude',
      session_id: 's',
      branch: 'b',
      started_at_ms: testStartMs,
      ...more,
    })
    .execute();
}

export async function statusOf(project: TestStore, id: string): Promise<string> {
  const row = await tablesOf(project.store.db)
    .selectFrom('tasks')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return row.status;
}

/** The refusal with which the promise rejects. */
export async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: 'nothing was refused' });
}

/**
 * Everything in the tables that a person's requests can change, to show that a refusal has changed
 * nothing.
 */
export async function everything(project: TestStore): Promise<string> {
  const { db } = project.store;
  return JSON.stringify([
    await tablesOf(db).selectFrom('tasks').selectAll().orderBy('id').execute(),
    await tablesOf(db).selectFrom('epics').selectAll().orderBy('id').execute(),
    await tablesOf(db).selectFrom('task_dependencies').selectAll().execute(),
    await tablesOf(db).selectFrom('events').selectAll().execute(),
  ]);
}
