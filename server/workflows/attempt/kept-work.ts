// The work of an attempt is kept as snapshots; they are written down at the task, so that a person
// finds them there: also when that work was still in a slot that another task has taken, or that
// was pruned.

import { rescueRoot, workRoot } from '../../core/work/ref-names.ts';
import type { SnapshotAuthor, SnapshotReason } from '../../git/snapshot-port.ts';
import {
  addKeptRef,
  type Claim,
  folderOfTask,
  lastAttempt,
  type Store,
  type Tx,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

const workRoots = [workRoot, rescueRoot];

/** Why and by whom; of a ref that was found with work of an earlier user in it neither is known. */
export interface KeptNote {
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  /** The commit of the ref, where there is one ref. */
  readonly commit?: string;
}

const foundNote: KeptNote = { reason: 'found', author: 'unknown' };

/** `otherwise`: the task that gets a ref whose name holds no task. */
export async function nameKeptRefs(
  tx: Tx,
  store: Store,
  refs: readonly string[],
  otherwise: string | null,
  note: KeptNote = foundNote,
): Promise<void> {
  const { reason, author, commit } = note;
  for (const ref of refs) {
    for (const taskId of [taskInName(ref), otherwise]) {
      if (taskId === null || !(await addKeptRef(tx, taskId, ref))) continue;
      await store.append(tx, { type: 'work.kept', taskId, data: { ref, reason, author, commit } });
      break;
    }
  }
}

/** `refs/drover/work/<task>/<attempt>` */
function taskInName(ref: string): string {
  const root = workRoots.find((each) => ref.startsWith(each));
  return root === undefined ? '' : (ref.slice(root.length).split('/', 1)[0] ?? '');
}

/** An attempt, with any current owner. */
export type NumberedAttempt = Pick<Claim, 'taskId' | 'attempt'>;

/** Its folder, and its base commit. */
export interface WorkPlace {
  readonly path: string;
  readonly base: string | null;
}

/**
 * Makes a snapshot of what an attempt has in its slot, and names it at the task. False: that was
 * not possible.
 */
export async function keepWork(
  engine: Uses<'files' | 'git' | 'report' | 'store'>,
  { taskId, attempt }: NumberedAttempt,
  { path, base }: WorkPlace,
  note: KeptNote,
): Promise<boolean> {
  if (!(await engine.files.exists(path))) return true;
  const label = `${taskId}/${attempt}`;
  const taken = await engine.git.snapshot({ path, label, base, ...note });
  if (!taken.ok) {
    engine.report(taken.error, `keeping the work of ${taskId}`);
    return false;
  }
  if (taken.value === null || !taken.value.isNew) return true;
  const { ref, commit } = taken.value;
  await engine.store.transaction((tx) =>
    nameKeptRefs(tx, engine.store, [ref], taskId, { ...note, commit }),
  );
  return true;
}

/** The same for an attempt of which only the rows tell where it works. */
export async function keepWorkOf(
  engine: Uses<'files' | 'git' | 'machineId' | 'report' | 'store'>,
  claim: NumberedAttempt,
  note: KeptNote,
): Promise<void> {
  const attempt = await lastAttempt(engine.store.db, claim.taskId);
  if (attempt === null || attempt.number !== claim.attempt) return;
  const path = await folderOfTask(engine.store.db, engine.machineId, claim.taskId, claim.attempt);
  if (path === null) return;
  await keepWork(engine, claim, { path, base: attempt.base_sha }, note);
}
