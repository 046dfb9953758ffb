// A year of a project under retention: each month its work is completed, its epic closed and the
// old history removed. What stays grows only by the rows of the tasks themselves.

import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { addEpic, closeEpic } from '../../../server/store/plan/epics.ts';
import { openStore, type OpenedStore } from '../../../server/store/open.ts';
import type { Tx } from '../../../server/store/port.ts';
import {
  pruneDeliveries,
  prunePast,
  pruneVerdicts,
} from '../../../server/store/history/prune-rows.ts';
import { pruneEvents, type PruneRun } from '../../../server/store/history/prune.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { sized } from '../../tier.ts';
import { type TestSources, testSources } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

const dayMs = 24 * 3_600_000;
const perMonth = sized(40, 1_000);
const perEpic = 100;
const months = 12;
/** The months that the longest setting keeps, and the current month. */
const keptMonths = 4;

/**
 * All rows that a task gets: its states, an attempt, a verdict, a landing, a delivery and its
 * events.
 */
async function liveOneTask(tx: Tx, { store }: OpenedStore, sources: TestSources, epic: string) {
  const step = (): void => {
    sources.nowMs += Math.floor((30 * dayMs) / perMonth / 3);
  };
  const { id } = await addTask(tx, sources, {
    title: 'Make the thing',
    description: 'words '.repeat(60),
    epic,
  });
  const say = (type: string, data: Record<string, unknown>): Promise<unknown> =>
    store.append(tx, { type, taskId: id, epicId: epic, runId: 'run-1', data });
  for (const [to, set] of [
    ['claimed', { claimed_by: 'w' }],
    ['in_progress', { phase: 'agent', worktree_path: '/w/1' }],
    ['completed', { landed_sha: 'f'.repeat(40), landed_on: 'main', phase: null }],
  ] as const) {
    step();
    await store.transition(tx, { taskId: id, to, event: `task.${to}`, runId: 'run-1', set });
    await say('agent.activity', { attempt: 1, text: 'x'.repeat(200) });
    await say('gate.passed', { task_ids: [id], duration_ms: 2_000 });
  }
  const attempt = {
    task_id: id,
    number: 1,
    epoch: 1,
    state: 'succeeded' as const,
    agent: 'claude',
    session_id: id,
    branch: `drover/${id}/1`,
    started_at_ms: sources.nowMs - dayMs,
    ended_at_ms: sources.nowMs,
    summary: 'What was done, in a few words. '.repeat(8),
  };
  await tablesOf(tx).insertInto('attempts').values(attempt).execute();
  const landing = { task_id: id, epoch: 1, attempt: 1, line: 'main', commit_sha: 'f'.repeat(40) };
  await tablesOf(tx)
    .insertInto('landings')
    .values({ ...landing, state: 'landed', queued_at_ms: sources.nowMs })
    .execute();
  const verdict = { tree_sha: id, command: 'make', ok: 1, duration_ms: 1, at_ms: sources.nowMs };
  await tablesOf(tx)
    .insertInto('gate_verdicts')
    .values({ ...verdict, output_tail: 'ok\n'.repeat(200) })
    .execute();
  const delivery = {
    endpoint: 'e',
    seq: sources.nowMs,
    id,
    event: 'task.completed',
    state: 'sent',
  };
  const times = {
    next_at_ms: 1,
    created_at_ms: sources.nowMs,
    ended_at_ms: sources.nowMs,
  };
  await tablesOf(tx)
    .insertInto('webhook_deliveries')
    .values({
      ...delivery,
      ...times,
      event: 'task.completed',
      state: 'sent',
      body: 'y'.repeat(500),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function removeOld({ store }: OpenedStore, nowMs: number): Promise<void> {
  const run: PruneRun = { store, isDry: false, yieldTurn: async () => true };
  await prunePast(run, nowMs - 90 * dayMs);
  await pruneEvents(run, nowMs - 90 * dayMs);
  await pruneVerdicts(run, nowMs - 30 * dayMs);
  await pruneDeliveries(run, nowMs - 30 * dayMs);
}

/** Bytes of the pages in use; pages that were freed are used again. */
function usedBytes(database: DatabaseSync): number {
  const pragma = (name: string): number =>
    Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}

suite('a year under retention', function () {
  this.timeout(2_400_000);

  test(`with ${perMonth} tasks a month, the remaining data grows only by their own rows`, async () => {
    const sources = testSources();
    const opened = await openStore(':memory:', sources);
    const sizes: number[] = [];
    const counts: Record<string, number>[] = [];
    try {
      const { store, database } = opened;
      for (let month = 0; month < months; month += 1) {
        for (let done = 0; done < perMonth; done += perEpic) {
          const title = `month ${month}, from ${done}`;
          const epic = await store.transaction((tx) => addEpic(tx, sources, { title }));
          for (let at = done; at < Math.min(done + perEpic, perMonth); at += 1) {
            await store.transaction((tx) => liveOneTask(tx, opened, sources, epic.id));
          }
          await store.transaction((tx) => closeEpic(tx, sources, epic.id));
        }
        await removeOld(opened, sources.nowMs);
        sizes.push(usedBytes(database.raw));
        const count = (table: string): number =>
          Number(database.raw.prepare(`select count(*) as n from ${table}`).get()?.['n']);
        const tables = ['events', 'past', 'past_events', 'gate_verdicts', 'webhook_deliveries'];
        counts.push(Object.fromEntries(tables.map((table) => [table, count(table)])));
      }
    } finally {
      await opened.close();
    }
    const told = sizes.map((bytes) => `${Math.round(bytes / 1024)} KiB`).join(', ');
    for (const table of Object.keys(counts[0] ?? {})) {
      const numbers = counts.map((count) => count[table] ?? 0);
      const settled = numbers[keptMonths] ?? 0;
      for (const number of numbers.slice(keptMonths)) {
        assert.ok(number <= settled * 1.1, `${table} by month: ${numbers.join(', ')}`);
      }
    }
    const last = sizes.at(-1) ?? 0;
    const perTask = (last - (sizes[keptMonths] ?? 0)) / (months - 1 - keptMonths) / perMonth;
    console.log(`        ${told}; ${Math.round(perTask)} bytes a task stay`);
    assert.ok(perTask < 3_000, `${told}; ${perTask} bytes a task stay`);
  });
});
