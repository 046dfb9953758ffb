// A person returns to a snapshot, from which the task's next attempt starts.

import { Refusal } from '../../core/failure.ts';
import type { SnapshotView } from '../../git/snapshot-port.ts';
import { basesOfTask, lastAttempt, type Store } from '../../store/port.ts';
import { freshStart, isHeld, requireRoot } from './controls.ts';
import { restoreRef } from '../attempt/earlier-work.ts';
import { keepAttemptWork } from '../attempt/kept-work.ts';
import type { Engine, Uses } from '../kit/engine-ports.ts';

export interface Numbered extends SnapshotView {
  /** Counts from 1, oldest first. */
  readonly number: number;
}

/** The snapshots of a task. The search ends at the base commits of its attempts. */
export async function readSnapshots(
  db: Store['db'],
  git: Pick<Engine['git'], 'listSnapshots'>,
  id: string,
): Promise<readonly Numbered[]> {
  const listed = await git.listSnapshots(id, await basesOfTask(db, id));
  if (!listed.ok) throw new Refusal('git', listed.error.message);
  return listed.value.map((view, index) => ({ ...view, number: index + 1 }));
}

export function chooseSnapshot(
  snapshots: readonly Numbered[],
  id: string,
  wanted: number | null,
): Numbered {
  const chosen =
    wanted === null
      ? (snapshots.findLast(({ reason }) => reason !== 'dropped') ?? snapshots.at(-1))
      : snapshots.find(({ number }) => number === wanted);
  if (chosen !== undefined) return chosen;
  throw new Refusal(
    'unknown_id',
    snapshots.length === 0
      ? `${id} has no snapshot. A snapshot is made when an attempt stops with work that is not on its branch.`
      : `${id} has no snapshot ${wanted}. Run \`drover snapshots ${id}\` to list its ${snapshots.length}.`,
  );
}

/**
 * Makes the next attempt start from a snapshot (null = the last one). Resolves with the snapshot's
 * number.
 */
export async function restoreTask(
  engine: Uses<'clock' | 'files' | 'git' | 'machineId' | 'report' | 'store'>,
  id: string,
  wanted: number | null,
): Promise<number> {
  const row = await requireRoot(engine, id, 'restored');
  const chosen = chooseSnapshot(await readSnapshots(engine.store.db, engine.git, id), id, wanted);
  if (isHeld(row)) {
    throw new Refusal('bad_state', `${id} is running. Run \`drover pause ${id}\` first.`);
  }
  if (row.status === 'completed') {
    throw new Refusal('bad_state', `${id} is completed. Run \`drover reset ${id}\` first.`);
  }
  const last = await lastAttempt(engine.store.db, id);
  if (last !== null) {
    const found = { reason: 'found', author: 'unknown' } as const;
    await keepAttemptWork(engine, { taskId: id, attempt: last.number }, found);
  }
  const next = (last?.number ?? 0) + 1;
  const ref = restoreRef(id, next);
  const present = await engine.git.readRef(ref);
  const moved = await engine.git.updateRef(ref, chosen.commit, present, 'drover: restore');
  if (!moved.ok) throw new Refusal('git', moved.error.message);
  // The ref exists only on this machine, but the attempt may start on another one.
  const told = { begins: next, snapshot: chosen.commit };
  const begun = await engine.store.transaction(async (tx) => {
    if (await freshStart(engine, tx, row, 'task.retry', { more: told })) return true;
    if (row.status !== 'ready') return false;
    const data = { title: row.title, by: 'person', ...told };
    await engine.store.append(tx, { type: 'task.retry', taskId: id, data });
    return true;
  });
  if (!begun) {
    throw new Refusal('bad_state', `${id} was just changed by someone else. Try again.`);
  }
  return chosen.number;
}
