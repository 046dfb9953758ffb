// A run waits for each statement of retention, so no statement may scan a whole table of years.

import assert from 'node:assert/strict';
import { openStore } from '../../../server/store/open.ts';
import {
  pruneDeliveries,
  prunePast,
  pruneVerdicts,
} from '../../../server/store/history/prune-rows.ts';
import { pruneEvents, type PruneRun } from '../../../server/store/history/prune.ts';
import { addTasks, moveTask, testSources } from './memory-store.ts';

const dayMs = 24 * 3_600_000;

suite('statements of retention', () => {
  test('no statement scans a whole table', async () => {
    const sources = testSources();
    const { store, database, close } = await openStore(':memory:', sources);
    try {
      const project = { store, close, sources };
      for (const title of ['old', 'recent']) {
        const { [title]: id = '' } = await addTasks(project, [{ title }]);
        await moveTask(project, id, ['claimed', 'in_progress', 'completed']);
        await store.transaction((tx) => store.append(tx, { type: 'gate.passed' }));
        sources.nowMs += 30 * dayMs;
      }
      const statements = new Set<string>();
      const prepare = database.raw.prepare.bind(database.raw);
      database.raw.prepare = (text) => {
        statements.add(text);
        return prepare(text);
      };
      const run: PruneRun = { store, isDry: false, yieldTurn: async () => true };
      const beforeMs = sources.nowMs - 45 * dayMs;
      const { count: changes } = await prunePast(run, beforeMs);
      const { count: events } = await pruneEvents(run, beforeMs);
      await pruneVerdicts(run, beforeMs);
      await pruneDeliveries(run, beforeMs);
      assert.ok(changes > 0 && events > 0, 'something was removed');
      const steps = [...statements]
        .filter((text) => /^\s*(?:select|delete|update|insert)/i.test(text))
        .flatMap((text) =>
          prepare(`explain query plan ${text}`)
            .all()
            .map((row) => `${String(row['detail'])}: ${text}`),
        );
      const wide = /^(?:SCAN (?!pruned_events|past_start|CONSTANT)|MULTI-INDEX OR)/;
      assert.deepEqual(
        steps.filter((step) => wide.test(step)),
        [],
      );
    } finally {
      await close();
    }
  });
});
