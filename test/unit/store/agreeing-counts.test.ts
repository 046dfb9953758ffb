// Every view counts the same tasks: after any history, the message at a run's end, the figures of its page, its line in the list, the report of its epic and the board agree, and their parts add up.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { runEndNotice } from '../../../extension/notices/run-end.ts';
import { Refusal } from '../../../server/core/failure.ts';
import {
  countOutcomes,
  countsByEpic,
  isCounted,
  noTasks,
  type OutcomeCounts,
  outcomesOfTasks,
  taskOutcomes,
} from '../../../server/core/plan/outcome.ts';
import { outcomeText } from '../../../server/core/plan/outcome-words.ts';
import { taskStatuses, type TaskStatus } from '../../../server/core/plan/state.ts';
import { listNeeds } from '../../../server/protocol/needs.ts';
import type { StatusSnapshot } from '../../../server/protocol/views.ts';
import { readSnapshot } from '../../../server/store/board/snapshot.ts';
import { readReport, readRuns } from '../../../server/store/history/read-history.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { removeTasks } from '../../../server/store/plan/task-remove.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { askQuestion } from '../../../server/store/work/questions.ts';
import { endRun, flagsWithTasks, insertRun } from '../../../server/store/work/runs.ts';
import { markEpicLanded, openCandidates, taskById } from '../../../server/store/port.ts';
import { drawn, memoryStore, type TestStore } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

type Step =
  | {
      readonly kind: 'go';
      readonly task: number;
      readonly to: TaskStatus;
      readonly byEpic: boolean;
    }
  | { readonly kind: 'ask' | 'candidates' | 'remove' | 'outside'; readonly task: number }
  | { readonly kind: 'run'; readonly only: readonly number[] | null }
  | { readonly kind: 'end run' | 'land epic' | 'undo epic' };

const index = fc.nat({ max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('go' as const),
      task: index,
      to: fc.constantFrom(...taskStatuses.filter((status) => status !== 'blocked')),
      byEpic: fc.boolean(),
    }),
  },
  fc.record({
    kind: fc.constantFrom('ask', 'candidates', 'remove', 'outside' as const),
    task: index,
  }),
  fc.record({
    kind: fc.constant('run' as const),
    only: fc.option(fc.array(index, { minLength: 1, maxLength: 3 })),
  }),
  fc.record({ kind: fc.constantFrom('end run', 'land epic', 'undo epic' as const) }),
);

const extras = { config: () => ({}), targetBranch: 'main', shaOf: async () => 'a'.repeat(40) };

class History {
  readonly #project: TestStore;
  readonly #epic: string;
  #run: string | null = null;
  runs: string[] = [];

  constructor(project: TestStore, epic: string) {
    this.#project = project;
    this.#epic = epic;
  }

  async apply(one: Step): Promise<void> {
    const { store, sources } = this.#project;
    sources.nowMs += 1_000;
    const rows = await tablesOf(store.db)
      .selectFrom('tasks')
      .select('id')
      .orderBy('position')
      .execute();
    const pick = (number: number): string => rows[number % Math.max(rows.length, 1)]?.id ?? 'none';
    switch (one.kind) {
      case 'go':
        return this.#go(pick(one.task), one.to, one.byEpic);
      case 'outside':
        await this.#go(pick(one.task), 'claimed', false);
        await this.#go(pick(one.task), 'in_progress', false);
        await store.transaction(async (tx) =>
          store.transition(tx, {
            taskId: pick(one.task),
            to: 'blocked',
            event: 'task.blocked',
            set: { blocked_reason: 'the network' },
          }),
        );
        return;
      case 'ask':
        await store.transaction((tx) =>
          askQuestion(tx, sources, {
            taskId: pick(one.task),
            attempt: 1,
            requestId: String(sources.nowMs),
            kind: 'question',
            text: 'So?',
            choices: ['yes'],
          }),
        );
        return;
      case 'candidates':
        await store.transaction(async (tx) => {
          const row = await taskById(tx, pick(one.task));
          if (row?.status !== 'ready' || row.candidate_of !== null || row.parent_id !== null)
            return;
          const request = { count: 2, baseSha: 'b'.repeat(40), runId: this.#run ?? '' };
          await openCandidates(tx, sources, row, request);
        });
        return;
      case 'remove':
        await store.transaction((tx) => removeTasks(tx, sources, [pick(one.task)]));
        return;
      case 'run':
        return this.#start(one.only?.map(pick) ?? null);
      case 'end run':
        return this.end();
      case 'land epic':
        await store.transaction((tx) => markEpicLanded(tx, this.#epic, 'c'.repeat(40)));
        return;
      case 'undo epic':
        await tablesOf(store.db)
          .updateTable('epics')
          .set({ landing_state: null, landed_sha: null })
          .where('id', '=', this.#epic)
          .execute();
    }
  }

  async #go(id: string, to: TaskStatus, byEpic: boolean): Promise<void> {
    const { store, sources } = this.#project;
    const row = await taskById(store.db, id);
    const landing = {
      landed_sha: 'd'.repeat(40),
      landed_on: byEpic ? `drover/epic/${this.#epic}` : 'main',
    };
    await store.transaction(async (tx) =>
      store.transition(tx, {
        taskId: id,
        to,
        event: `task.${to}`,
        ...(this.#run === null ? {} : { runId: this.#run }),
        data: to === 'claimed' ? { attempt: sources.nowMs } : {},
        set: {
          ...(to === 'completed' ? landing : {}),
          ...(row?.status === 'completed' ? { landed_sha: null, landed_on: null } : {}),
          phase: to === 'needs_review' && byEpic ? 'land' : null,
          blocked_reason: null,
        },
      }),
    );
  }

  async #start(only: readonly string[] | null): Promise<void> {
    if (this.#run !== null) return;
    const { store, sources } = this.#project;
    const id = `run-${this.runs.length}`;
    await store.transaction(async (tx) => {
      await insertRun(tx, {
        id,
        state: 'active',
        started_at_ms: sources.nowMs,
        ended_at_ms: null,
        workers: 2,
        epic_id: this.#epic,
        land: 'epic',
        target_branch: 'main',
        line: `drover/epic/${this.#epic}`,
        base_sha: '',
        result_branch: null,
        flags: flagsWithTasks({}, only),
        settings: null,
      });
      const data = { run: id, target: 'main', workers: 2, ...(only && { tasks: only.length }) };
      await store.append(tx, { type: 'run.started', runId: id, epicId: this.#epic, data });
    });
    this.#run = id;
    this.runs.push(id);
  }

  async end(): Promise<void> {
    const id = this.#run;
    if (id === null) return;
    const { store, sources } = this.#project;
    await store.transaction(async (tx) => {
      await endRun(tx, id, { state: 'finished', atMs: sources.nowMs });
      const data = { run: id, state: 'finished' };
      await store.append(tx, { type: 'run.finished', runId: id, epicId: this.#epic, data });
    });
    this.#run = null;
  }
}

function partsOf(counts: OutcomeCounts): number {
  return taskOutcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}

/** Items that need a person, by the task that is counted for each. */
function askingTops(board: StatusSnapshot): readonly string[] {
  const above = new Map(board.tasks.map((task) => [task.id, task.parent_id ?? task.candidate_of]));
  const ids = listNeeds(board).flatMap((need) => {
    if (need.kind === 'question') return [need.question.task_id];
    return 'task' in need && need.task !== null ? [need.task.id] : [];
  });
  return [...new Set(ids.filter((id) => (above.get(id) ?? null) === null))].toSorted();
}

async function checkCounts({ store, sources }: TestStore, epic: string, runs: readonly string[]) {
  const nowMs = sources.nowMs;
  const board = await readSnapshot(store.db, {}, extras);
  const outcomes = outcomesOfTasks(board);
  assert.deepEqual(
    [...outcomes.keys()],
    board.tasks.filter(isCounted).map(({ id }) => id),
    'each task once',
  );
  const ofEpic = countsByEpic(board).get(epic) ?? noTasks;
  assert.equal(partsOf(ofEpic), ofEpic.total);
  const report = await readReport(store.db, { id: epic, nowMs });
  assert.deepEqual(report.counts, ofEpic, 'the report of an epic and the board');
  assert.equal(report.landed.length, ofEpic.landed + ofEpic.done);
  assert.equal(report.left.length, ofEpic.total - ofEpic.landed - ofEpic.done - ofEpic.cancelled);
  const asking = [...outcomes].filter(([, outcome]) => outcome === 'waits' || outcome === 'failed');
  const own = asking.map(([id]) => id);
  for (const id of askingTops(board)) {
    const isOver = outcomes.get(id) === 'landed' || outcomes.get(id) === 'cancelled';
    assert.ok(own.includes(id) || isOver || outcomes.get(id) === 'done', `the badge counts ${id}`);
  }
  const list = await readRuns(store.db, { search: '', max: 100, nowMs });
  for (const id of runs) {
    const ofRun = await readReport(store.db, { id, nowMs });
    const line = list.runs.find((run) => run.id === id);
    assert.deepEqual(line?.counts, ofRun.counts, 'the list and the page of a run');
    const ids = [...ofRun.landed, ...ofRun.left].map((task) => task.id);
    const seen = countOutcomes(ids.flatMap((task) => outcomes.get(task) ?? []));
    assert.deepEqual(
      { ...seen, total: 0, cancelled: 0 },
      { ...ofRun.counts, total: 0, cancelled: 0 },
    );
    assert.equal(partsOf(ofRun.counts), ofRun.counts.total);
    assert.equal(
      (line?.landed ?? 0) + (line?.failed ?? 0) + (line?.open ?? 0) + ofRun.counts.cancelled,
      ofRun.counts.total,
    );
    if (board.run?.id !== id || board.run.active) continue;
    const isPart = board.run.tasks === undefined && ofRun.counts.total < ofEpic.total;
    const text = runEndNotice(ofRun, board, board.run)?.text ?? '';
    const place = { branch: 'main', sha: board.epics[0]?.landed_sha?.slice(0, 8) ?? null };
    assert.ok(text.includes(outcomeText(isPart ? ofEpic : ofRun.counts, place)), text);
    assert.equal(text.includes('this run: '), isPart, text);
  }
}

suite('counts of tasks', () => {
  test("a task that a person merged after the run counts as landed in its report, its list and its epic's", async () => {
    const project = await memoryStore();
    const { store, sources } = project;
    const epic = await store.transaction((tx) => addEpic(tx, sources, { title: 'Shop' }));
    for (const title of ['Sort', 'Pay', 'Ship']) {
      await store.transaction((tx) => addTask(tx, sources, { title, epic: epic.id }));
    }
    const past = new History(project, epic.id);
    const go = async (task: number, ...states: readonly TaskStatus[]): Promise<void> => {
      for (const to of states) await past.apply({ kind: 'go', task, to, byEpic: false });
    };
    await past.apply({ kind: 'run', only: null });
    await go(0, 'claimed', 'in_progress', 'completed');
    await go(1, 'claimed', 'in_progress', 'conflict');
    await past.end();
    sources.nowMs += 60_000;
    await go(1, 'needs_review', 'completed');
    const { nowMs } = sources;
    for (const id of [epic.id, 'run-0']) {
      const { counts, landed, left } = await readReport(store.db, { id, nowMs });
      assert.deepEqual([landed.length, left.length, counts.total], [2, 1, 3]);
      assert.equal(outcomeText(counts), '2 of 3 landed · 1 open');
    }
    const { runs } = await readRuns(store.db, { search: '', max: 1, nowMs });
    assert.equal(outcomeText(runs[0]?.counts ?? noTasks), '2 of 3 landed · 1 open');
    await project.close();
  });

  test('they agree in all views after any history, and add up', async () => {
    const steps = fc.array(step, { minLength: 10, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const project = await memoryStore();
        const { store, sources } = project;
        const epic = await store.transaction((tx) => addEpic(tx, sources, { title: 'Shop' }));
        let parent: string | null = null;
        for (let number = 0; number < 6; number += 1) {
          const fields = { title: `Task ${number}`, epic: number < 5 ? epic.id : null };
          const row = await store.transaction((tx) => addTask(tx, sources, fields));
          parent ??= row.id;
        }
        await store.transaction((tx) => addTask(tx, sources, { title: 'Part', parent }));
        const past = new History(project, epic.id);
        for (const one of history) {
          try {
            await past.apply(one);
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
          }
        }
        await checkCounts(project, epic.id, past.runs);
        await past.end();
        await checkCounts(project, epic.id, past.runs);
        await project.close();
      }),
      { numRuns: drawn(60) },
    );
  });
});
