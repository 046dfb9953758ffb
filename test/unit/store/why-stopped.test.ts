// Why a ready task has not started after its run was stopped: names the command that continues the
// run if the run contains the task.

import assert from 'node:assert/strict';
import { addEpic } from '../../../server/store/plan/epics.ts';
import type { RunTable } from '../../../server/store/schema/tables.ts';
import { why } from '../../../server/store/why/why.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';
import { tablesOf } from '../../tables.ts';
import { addTasks, memoryStore, testStartMs } from './memory-store.ts';

suite('why after a stop', () => {
  test('it names the command that continues a stopped run, if the task belongs to that run', async () => {
    const project = await memoryStore();
    const { store, sources } = project;
    const epic = await store.transaction((tx) => addEpic(tx, sources, { title: 'An epic' }));
    const tasks = [{ title: 'in', epic: epic.id }, { title: 'out' }];
    const ids = await addTasks(project, tasks);

    async function ran(state: RunTable['state'], epicId: string | null): Promise<void> {
      const { n } = await tablesOf(store.db)
        .selectFrom('runs')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow();
      const rest = { land: 'task', target_branch: 'main', line: 'main', base_sha: 'b' } as const;
      const started = { started_at_ms: testStartMs + n, workers: 1, flags: '{}' };
      await tablesOf(store.db)
        .insertInto('runs')
        .values({ id: `run-${n}`, state, epic_id: epicId, ...rest, ...started })
        .execute();
    }
    async function asked(): Promise<readonly string[]> {
      const still = { nowMs: testStartMs, agentKind: 'claude', gateNeeds: [], hasBackend: true };
      const answers = ['in', 'out'].map(async (title) => {
        const [reason = ''] = await why(store.db, ids[title] ?? '', {
          ...still,
          agents: noFallback,
        });
        return /"(drover \w+)"/.exec(reason)?.[1] ?? reason;
      });
      return Promise.all(answers);
    }

    assert.deepEqual(await asked(), ['drover run', 'drover run']);
    await ran('stopped', epic.id);
    assert.deepEqual(await asked(), ['drover resume', 'drover run']);
    await ran('stopped', null);
    assert.deepEqual(await asked(), ['drover resume', 'drover resume']);
    await ran('finished', null);
    assert.deepEqual(await asked(), ['drover run', 'drover run']);
    await project.close();
  });
});
