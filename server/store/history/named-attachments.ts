// Finds the images that descriptions still use.

import { findAttachments } from '../../core/plan/attachments.ts';
import { type PruneRun, rowsAtOnce, tablesOf } from './prune.ts';

/**
 * Names used in descriptions of tasks and epics. Returns null if the run ended before all were
 * read.
 */
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
        for (const name of findAttachments(description ?? '', Infinity)) named.add(name);
      }
      after = rows.at(-1)?.id ?? after;
      if (rows.length < rowsAtOnce) break;
    }
  }
  return named;
}
