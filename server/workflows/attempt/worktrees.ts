// Lists the worktrees of the pool and removes unused ones. Without force, it only removes free,
// clean and merged worktrees.

import { isInUse, whyKept, type WorktreeHolder } from '../../core/work/worktree-room.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import type { GitRepository, WorktreeEntry } from '../../git/port.ts';
import {
  allLines,
  endUpkeep,
  forgetSlot,
  type HeldSlot,
  holdForUpkeep,
  isHeldForUpkeep,
  type SlotRow,
  slotsOfMachine,
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
  readonly holder: WorktreeHolder;
  /** Explains why the worktree stays, as the end of a sentence. Null if it may be removed. */
  readonly reason: string | null;
  readonly unmergedCommits: number;
  readonly dirty: boolean;
  readonly sizeBytes: number;
  readonly action: 'keep' | 'remove' | 'removed';
}

export interface WorktreeDeps {
  /** The machine whose worktrees to list. */
  readonly machineId: string;
  readonly store: Store;
  readonly git: GitRepository;
  readonly sizeOf: (path: string) => Promise<number>;
}

/** Maximum number of unmerged commits counted for one worktree. */
const unmergedMax = 1_000;

export async function listWorktrees(deps: WorktreeDeps): Promise<readonly WorktreeFacts[]> {
  const { store, git } = deps;
  const slots = await slotsOfMachine(store.db, deps.machineId);
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
  const ofTask = slot.task_id !== null && slot.kind === 'task';
  const task = ofTask ? await taskById(store.db, slot.task_id ?? '') : null;
  const holder = holderOf(slot, task?.status ?? null);
  const base = {
    path: slot.path,
    taskId: task?.id ?? null,
    branch: entry?.branch?.replace(/^refs\/heads\//, '') ?? null,
    holder,
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
  const reason = whyKept({ holder, dirty, unmergedCommits });
  return {
    ...base,
    status:
      slot.task_id === null ? 'free' : (task?.status ?? (holder === 'gate' ? 'gate' : 'held')),
    reason,
    unmergedCommits,
    dirty,
    sizeBytes: await deps.sizeOf(slot.path),
    action: reason === null ? 'remove' : 'keep',
  };
}

function holderOf(slot: SlotRow, status: TaskStatus | null): WorktreeHolder {
  if (slot.task_id === null) return 'nobody';
  if (isHeldForUpkeep(slot)) return 'upkeep';
  return slot.kind === 'gate' ? 'gate' : (status ?? 'nobody');
}

/** Commits of the worktree's HEAD that no landing line contains. */
async function unmerged(deps: WorktreeDeps, entry: WorktreeEntry): Promise<number> {
  if (entry.head === null) return 0;
  const lines = await allLines(deps.store.db);
  let fewest = unmergedMax;
  for (const line of lines) {
    if (await deps.git.isAncestor(entry.head, line.landed_sha)) return 0;
    const own = await deps.git.lineCommits(line.landed_sha, entry.head, unmergedMax, 'all');
    if (own.ok) fewest = Math.min(fewest, own.value.length);
  }
  return lines.length === 0 ? 0 : fewest;
}

export async function pruneWorktrees(
  deps: WorktreeDeps,
  options: {
    readonly dryRun: boolean;
    readonly force: boolean;
    /** Paths of the worktrees to remove; null = all. */
    readonly only: readonly string[] | null;
  },
): Promise<readonly WorktreeFacts[]> {
  const done: WorktreeFacts[] = [];
  for (const facts of await listWorktrees(deps)) {
    const isAsked = options.only === null || options.only.includes(facts.path);
    const mayGo = facts.action === 'remove' || (options.force && !isInUse(facts.holder));
    const wanted = isAsked && mayGo;
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

/** Takes time to read sizes, so a task may have started in the slot since it was listed. */
async function takeForRemoval(tx: Tx, slot: HeldSlot): Promise<boolean> {
  if (slot.holder !== null) {
    const task = await taskById(tx, slot.holder);
    if (task !== null && isInUse(task.status)) return false;
  }
  return holdForUpkeep(tx, slot, 'prune');
}

/**
 * The attempt whose work the worktree contains: from its branch's name, else the task that holds
 * it, else the folder's name.
 */
function labelOf({ branch, taskId, path }: WorktreeFacts): string {
  const attempt = branch?.startsWith('drover/') === true ? branch.slice('drover/'.length) : null;
  return attempt ?? taskId ?? path.split('/').at(-1) ?? 'slot';
}
