// What has changed on the board after a number of the feed, without reading the whole board.

import type { BoardChanges } from '../protocol/panel-views.ts';
import type { StatusSnapshot } from '../protocol/views.ts';
import type { Db } from './read.ts';
import { readSnapshot, type SnapshotExtras } from './snapshot.ts';

export async function readChanges(
  db: Db,
  after: number,
  extras: SnapshotExtras,
): Promise<BoardChanges> {
  return everything(after, await readSnapshot(db, {}, extras));
}

function everything(after: number, snapshot: StatusSnapshot): BoardChanges {
  const { seq, epics, counts, progress, run, target, stuck, questions } = snapshot;
  return {
    after,
    seq,
    tasks: [],
    removed_tasks: [],
    epics,
    counts,
    progress,
    run,
    target,
    stuck,
    questions,
    snapshot,
  };
}
