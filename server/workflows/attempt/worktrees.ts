// The pool as a person sees it, and the pruning of unused worktrees: only free, clean, merged ones,
// unless forced.

import { formatCount } from '../../core/format.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import type { GitRepository, WorktreeEntry } from '../../git/port.ts';
import {
  allLines,
  endUpkeep,
  forgetSlot,
  type HeldSlot,
  holdForUpkeep,
  type SlotRow,
  slotsOn,
  type Store,
  taskById,
  type Tx,
} from '../../store/port.ts';
import { nameKeptRefs } from './kept-work.ts';

export interface WorktreeFacts {
  readonly path: string;
  readonly taskId: string | null;
  readonly branch: string | null;
  readonly status: string;
  readonly reason: string | null;
  readonly unmergedCommits: number;
  readonly dirty: boolean;
  readonly sizeBytes: number;
  readonly action: 'keep' | 'remove' | 'removed';
}

export interface WorktreeDeps {
  /** Whose worktrees. */
  readonly machineId: string;
  readonly store: Store;
  readonly git: GitRepository;
  readonly sizeOf: (path: string) => Promise<number>;
}

/** States in which a task's worktree is never removed. */
const holdingStatuses: ReadonlySet<TaskStatus> = new Set<TaskStatus>([
  'claimed',
  'in_progress',
  'paused',
  'waiting',
  'conflict',
  'needs_review',
]);

/** Most unmerged commits counted for one worktree. */
const subjectsMax = 1_000;

export async function listWorktrees(deps: WorktreeDeps): Promise<readonly WorktreeFacts[]> {
  const { store, git } = deps;
  const slots = await slotsOn(store.db, deps.machineId);
  const listed = await git.listWorktrees();
  const entries = new Map(listed.ok ? listed.value.map((entry) => [entry.path, entry]) : []);
  const facts: WorktreeFacts[] = [];
  for (const slot of slots) facts.push(await factsOf(deps, slot, entries.get(slot.path) ?? null));
  return facts;
}

async function factsOf(
  deps: WorktreeDeps,
  slot: SlotRow,
  entry: WorktreeEntry | null,
): Promise<WorktreeFacts> {
  const { store, git } = deps;
  const task =
    slot.task_id === null || slot.kind === 'gate' ? null : await taskById(store.db, slot.task_id);
  const base = {
    path: slot.path,
    taskId: task?.id ?? null,
    branch: entry?.branch?.replace(/^refs\/heads\//, '') ?? null,
  };
  if (entry === null || entry.prunable) {
    return {
      ...base,
      status: 'missing',
      reason: 'the folder does not exist',
      unmergedCommits: 0,
      dirty: false,
      sizeBytes: 0,
      action: 'remove',
    };
  }
  const status = await git.status(slot.path);
  const dirty = status.ok && (status.value.changed.length > 0 || status.value.untracked.length > 0);
  const unmergedCommits = await unmerged(deps, entry);
  const reason = keepReason(slot, task?.status ?? null, dirty, unmergedCommits);
  return {
    ...base,
    status:
      slot.task_id === null ? 'free' : slot.kind === 'gate' ? 'gate' : (task?.status ?? 'held'),
    reason,
    unmergedCommits,
    dirty,
    sizeBytes: await deps.sizeOf(slot.path),
    action: reason === null ? 'remove' : 'keep',
  };
}

function keepReason(
  slot: SlotRow,
  status: TaskStatus | null,
  dirty: boolean,
  unmergedCommits: number,
): string | null {
  if (slot.kind === 'gate' && slot.task_id !== null) return 'the gate is running in it';
  if (status !== null && holdingStatuses.has(status)) return `its task is ${status}`;
  if (dirty) return 'it holds changes that are not committed';
  if (unmergedCommits > 0) {
    return formatCount(
      unmergedCommits,
      'of its commits is not on any target',
      'of its commits are not on any target',
    );
  }
  return null;
}

/** Commits of the worktree's HEAD that no landing line holds. */
async function unmerged(deps: WorktreeDeps, entry: WorktreeEntry): Promise<number> {
  if (entry.head === null) return 0;
  const lines = await allLines(deps.store.db);
  let fewest = subjectsMax;
  for (const line of lines) {
    if (await deps.git.isAncestor(entry.head, line.landed_sha)) return 0;
    const subjects = await deps.git.subjects(line.landed_sha, entry.head, subjectsMax);
    if (subjects.ok) fewest = Math.min(fewest, subjects.value.length);
  }
  return lines.length === 0 ? 0 : fewest;
}

export async function pruneWorktrees(
  deps: WorktreeDeps,
  options: { readonly dryRun: boolean; readonly force: boolean },
): Promise<readonly WorktreeFacts[]> {
  const done: WorktreeFacts[] = [];
  for (const facts of await listWorktrees(deps)) {
    const held = facts.status === 'gate' || [...holdingStatuses].some((at) => at === facts.status);
    const wanted = facts.action === 'remove' || (options.force && !held);
    if (!wanted || options.dryRun) {
      done.push({ ...facts, action: wanted ? 'remove' : 'keep' });
      continue;
    }
    const slot = { machine: deps.machineId, path: facts.path, holder: facts.taskId };
    if (!(await deps.store.transaction((tx) => takeForRemoval(tx, slot)))) {
      done.push({ ...facts, action: 'keep', reason: 'a task has just taken it' });
      continue;
    }
    const removed = await deps.git.removeWorktree({
      path: facts.path,
      label: labelOf(facts),
      force: options.force,
    });
    if (!removed.ok || removed.value.kind === 'kept') {
      const reason = removed.ok
        ? (removed.value as { reason: string }).reason
        : removed.error.message;
      await deps.store.transaction((tx) => endUpkeep(tx, slot));
      done.push({ ...facts, action: 'keep', reason });
      continue;
    }
    const rescue = removed.value.kind === 'removed' ? removed.value.keptRef : null;
    await deps.store.transaction(async (tx) => {
      await forgetSlot(tx, slot);
      if (rescue !== null) await nameKeptRefs(tx, deps.store, [rescue], facts.taskId);
      await deps.store.append(tx, {
        type: 'worktree.removed',
        taskId: facts.taskId,
        data: { path: facts.path, rescue },
      });
    });
    done.push({ ...facts, action: 'removed' });
  }
  return done;
}

/** Reading sizes takes time: a task may have started in it since it was listed. */
async function takeForRemoval(tx: Tx, slot: HeldSlot): Promise<boolean> {
  if (slot.holder !== null) {
    const task = await taskById(tx, slot.holder);
    if (task !== null && holdingStatuses.has(task.status)) return false;
  }
  return holdForUpkeep(tx, slot, 'prune');
}

/**
 * Whose work is in it: the attempt in its branch's name, else the task that holds it, else its own
 * name.
 */
function labelOf({ branch, taskId, path }: WorktreeFacts): string {
  const attempt = branch?.startsWith('drover/') === true ? branch.slice('drover/'.length) : null;
  return attempt ?? taskId ?? path.split('/').at(-1) ?? 'slot';
}
