// Keeps an attempt's work as snapshots and lists them in the task, so that a person finds them
// there. This includes work in a slot that another task has taken or that was pruned.

import { rescueRoot, workRoot } from '../../core/work/ref-names.ts';
import type { SharedChange } from '../../git/slot-port.ts';
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

/** Why and by whom the work was kept. Unknown for a ref with the work of a slot's earlier user. */
export interface KeptNote {
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  /** The commit, if one ref was kept. */
  readonly commit?: string;
}

const foundNote: KeptNote = { reason: 'found', author: 'unknown' };

/** `otherwise`: the task to list the ref in if its name contains no task. */
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

/** Parses `refs/drover/work/<task>/<attempt>`. */
function taskInName(ref: string): string {
  const root = workRoots.find((each) => ref.startsWith(each));
  return root === undefined ? '' : (ref.slice(root.length).split('/', 1)[0] ?? '');
}

/** An attempt, regardless of its current owner. */
export type NumberedAttempt = Pick<Claim, 'taskId' | 'attempt'>;

/** The attempt's folder and base commit. */
export interface WorkPlace {
  readonly path: string;
  readonly base: string | null;
}

/**
 * Makes a snapshot of an attempt's work in its slot and lists it in the task. Returns false if that
 * failed.
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

/**
 * Adds an event to the task for each change in the git folder that the user and all worktrees
 * share.
 */
export async function reportShared(
  engine: Uses<'git' | 'mask' | 'store'>,
  { taskId, attempt }: NumberedAttempt,
  path: string,
): Promise<void> {
  const changes = await engine.git.sharedChanges(path);
  if (changes.length === 0) return;
  await engine.store.transaction(async (tx) => {
    for (const change of changes) {
      const { kind } = change;
      const message = engine.mask(sentenceOf(change));
      const restore = 'restore' in change ? { restore: engine.mask(change.restore) } : {};
      const data = { attempt, kind, message, ...restore };
      await engine.store.append(tx, { type: 'repository.changed', taskId, data });
    }
  });
}

function sentenceOf(change: SharedChange): string {
  switch (change.kind) {
    case 'setting': {
      const { key, before, now, restore } = change;
      return `The git setting ${key} of the repository changed from ${valuesText(before)} to ${valuesText(now)} while this attempt ran. If you did not change it, run: ${restore}`;
    }
    case 'hooks':
      return `Git hooks of the repository changed while this attempt ran: ${change.names.join(', ')}. If you did not change them, review the hooks folder of the repository.`;
    case 'exclude':
      return 'The file info/exclude of the repository changed while this attempt ran. If you did not change it, review it.';
    case 'stash':
      return `Your stash "${change.message}" left the stash list while this attempt ran; ${change.ref} keeps it. If you did not remove it, review the changes of this task, which can contain those of the stash, and run: ${change.restore}`;
  }
}

function valuesText(values: readonly string[]): string {
  return values.length === 0 ? 'unset' : values.map((value) => `"${value}"`).join(', ');
}

/** Keeps the work of an attempt whose worktree is known only from the rows. */
export async function keepAttemptWork(
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
