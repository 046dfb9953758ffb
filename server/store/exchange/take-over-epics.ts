// Applies another tool's changes to epics that are already in the plan: closed, deleted or
// reopened.

import { Refusal } from '../../core/failure.ts';
import type { StoreSources } from '../feed/feed.ts';
import type { TakeOver } from './import-take-over.ts';
import { closeEpic, openEpicForTask } from '../plan/epics.ts';
import type { Tx } from '../schema/tables.ts';

export interface EpicTakeOver extends Pick<TakeOver, 'deleted' | 'changed' | 'moved'> {
  /** Epics that are closed in the file. */
  readonly closed: ReadonlySet<string>;
}

interface TakenEpics {
  readonly changed: readonly string[];
  /** Epics that are closed there but have unfinished tasks here. They are closed after those. */
  readonly later: readonly string[];
}

export async function takeOverEpics(
  tx: Tx,
  sources: StoreSources,
  { closed, deleted, changed: news, moved }: EpicTakeOver,
): Promise<TakenEpics> {
  const changed: string[] = [];
  const later: string[] = [];
  const rows = await tx.selectFrom('epics').selectAll().orderBy('position').execute();
  for (const { id, status, landed_sha: landedSha } of rows) {
    const isOver = closed.has(id) || deleted.has(id);
    if (news !== null && !news.has(id)) continue;
    if (status !== 'closed' && isOver) {
      if (await canClose(tx, sources, id)) changed.push(id);
      else if (closed.has(id)) later.push(id);
    } else if (status === 'closed' && !isOver && moved.has(id) && landedSha === null) {
      await openEpicForTask(tx, sources, id);
      changed.push(id);
    }
  }
  return { changed, later };
}

/** Whether it can be closed without leaving work behind. */
async function canClose(tx: Tx, sources: StoreSources, id: string): Promise<boolean> {
  try {
    await closeEpic(tx, sources, id);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
