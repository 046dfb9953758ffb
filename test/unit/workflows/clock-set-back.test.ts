// The clock of the machine is set back between two lives of the backend: work that started in the
// first one is still recognized.

import assert from 'node:assert/strict';
import { ok } from '../../../server/core/failure.ts';
import { claimTask } from '../../../server/store/work/claims.ts';
import type { LandingRow } from '../../../server/store/port.ts';
import { createEngine, launchEngine } from '../../../server/workflows/engine.ts';
import type { Engine, EngineDeps } from '../../../server/workflows/kit/engine-ports.ts';
import {
  landedBefore,
  type QueuedWork,
  readQueuedWork,
} from '../../../server/workflows/landing/landing-rows.ts';
import { addTasks, memoryStore, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';

const hourMs = 3_600_000;
const commit = 'c0ffee'.repeat(6).padEnd(40, '0');

suite('a clock that was set back between two executions', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
    const land = 'task' as const;
    const run = { land, target_branch: 'main', line: 'main', base_sha: 'b', flags: '{}' };
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values({ id: 'run', state: 'active', workers: 1, started_at_ms: 1, ...run })
      .execute();
  });
  teardown(() => project.close());

  /** A backend that takes up the work now; in its git the work of every attempt is on the line. */
  async function life(): Promise<Engine> {
    const { store, sources } = project;
    const engine = createEngine({
      store,
      clock: sources.clock,
      machineId: '',
      durable: { workflow: () => {}, queue: () => {}, launch: async () => {} },
      processes: { endTree: async () => {} },
      git: {
        lineCommits: async () =>
          ok([{ sha: 'm'.repeat(40), parents: ['b', commit], trailers: [] }]),
        isAncestor: async () => true,
        treeOf: async () => ok('t'.repeat(40)),
      },
    } as unknown as EngineDeps);
    await launchEngine(engine);
    return engine;
  }

  async function queued(title: string): Promise<QueuedWork> {
    const taskId = (await addTasks(project, [{ title }]))[title] ?? '';
    const more = { agent: 'command', model: null, step: 0, agentResumes: true, plansFirst: false };
    const claim = await project.store.transaction((tx) =>
      claimTask(tx, project.sources, {
        taskId,
        runId: 'run',
        owner: 'one',
        machine: '',
        sessionId: 's',
        ...more,
      }),
    );
    const attempt = claim?.attempt ?? assert.fail('another process has it');
    return readQueuedWork(project, { task_id: taskId, attempt, commit_sha: commit } as LandingRow);
  }

  for (const backMs of [0, 5_000, hourMs]) {
    test(`the effects of the first execution are searched for in git (${backMs} ms back)`, async () => {
      await life();
      project.sources.nowMs += hourMs;
      const before = await queued('A');
      project.sources.nowMs += 1_000 - backMs;
      const second = await life();
      const found = await landedBefore(second, before, 'h');
      assert.equal(found?.commit, 'm'.repeat(40));
      // It knows its own starts, as soon as the clock can tell.
      project.sources.nowMs += hourMs + 1_000;
      assert.equal(await landedBefore(second, await queued('B'), 'h'), null);
    });
  }
});
