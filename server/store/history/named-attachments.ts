// Which images of descriptions are still in use.

import { attachmentsIn } from '../../core/plan/attachments.ts';
import { type PruneRun, rowsAtOnce, tablesOf } from './prune.ts';

/** Names in descriptions of tasks and epics; null if the run ended before all were read. */
export async function namedAttachments(run: PruneRun): Promise<ReadonlySet<string> | null> {
  const named = new Set<string>();
  for (const table of ['tasks', 'epics'] as const) {
    let after = '';
    for (;;) {
      if (!(await run.yieldTurn())) return null;
      const rows = await tablesOf(run.store)
        .selectFrom(table)
        .select(['id', 'description'])
        .where('description', 'like', '%attachment:%')
        .where('id', '>', after)
        .orderBy('id')
        .limit(rowsAtOnce)
        .execute();
      for (const { description } of rows) {
        for (const name of attachmentsIn(description ?? '', Infinity)) named.add(name);
      }
      after = rows.at(-1)?.id ?? after;
      if (rows.length < rowsAtOnce) break;
    }
  }
  return named;
}
