// Two machines start at the same moment: the slower one joins the other's run.

import assert from 'node:assert/strict';
import { createEngineHandlers } from '../../../server/rpc/handlers/engine.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { callsAtOnce } from '../../doubles/port-calls.ts';
import { SimulatedClock } from '../../doubles/simulated-clock.ts';
import { SimulatedGit } from '../../doubles/simulated-git.ts';
import { SimulatedRepository } from '../../doubles/simulated-repository.ts';
import { tablesOf } from '../../tables.ts';
import { memoryStore, testStartMs } from '../store/memory-store.ts';

test('if a run of another machine starts first, a start joins that run, which keeps its options', async () => {
  const project = await memoryStore();
  const repository = new SimulatedRepository('/project', new SimulatedClock());
  const settings = { workers: 3, target: 'main', land: null, gateCommand: null };
  const engine = {
    machineId: '',
    lands: () => true,
    knowsDead: () => true,
    store: project.store,
    clock: project.sources.clock,
    git: new SimulatedGit(repository, callsAtOnce, () => null),
    settings: () => ({ ...settings, follow: 'fast-forward' }),
    report: (error: unknown) => assert.fail(String(error)),
  } as unknown as Engine;
  const faster = {
    id: 'run-1',
    state: 'active' as const,
    started_at_ms: testStartMs,
    workers: 4,
    land: 'task' as const,
    target_branch: 'main',
    line: 'main',
    base_sha: 'b'.repeat(40),
    flags: JSON.stringify({ max_workers: 4 }),
  };
  const handlers = createEngineHandlers({
    engine,
    taskView: () => Promise.reject(new Error('not asked')),
    epicView: () => Promise.reject(new Error('not asked')),
    configure: async () => ({
      warnings: ['no sandbox'],
      engine,
      use: async () => {
        await project.store.transaction(async (tx) => {
          await tablesOf(tx).insertInto('runs').values(faster).execute();
        });
        return ['accepted: the gate'];
      },
    }),
    pruneWorktrees: async () => [],
    refuseByPolicy: async () => {},
    freeBytes: () => null,
    shutdown: async () => ({ leaving: false, reason: '' }),
  });
  const answer = await handlers['run.start']({ workers: 3 });
  assert.deepEqual([answer.run?.id, answer.joined], [faster.id, true]);
  // Accepted settings are reported all the same, and so are unused ones.
  assert.equal(answer.warnings[0], 'accepted: the gate');
  assert.match(answer.warnings.join('\n'), /Not used: max_workers\.$/);
  await project.close();
});
