// The pool of worktrees: which task, gate or upkeep has each slot. The git layer manages the
// folders themselves.

import type { StoreSources } from '../feed/feed.ts';
import type { Reads, SlotRow, Tx } from '../schema/tables.ts';

export interface LeaseRequest {
  /** The machine with the folder; '' = the project's only machine. */
  readonly machine: string;
  readonly kind: 'task' | 'gate';
  readonly taskId: string;
  readonly attempt: number;
  /** Returns a slot's path for its number. */
  readonly pathOf: (kind: 'task' | 'gate', number: number) => string;
}

/**
 * Leases the slot that the attempt already has, else the free slot that was used last (it is the
 * warmest), else a new one.
 */
export async function leaseSlot(
  tx: Tx,
  sources: StoreSources,
  request: LeaseRequest,
): Promise<SlotRow> {
  const nowS = Math.floor(sources.clock.now() / 1000);
  const slots = await tx
    .selectFrom('slots')
    .selectAll()
    .where('machine', '=', request.machine)
    .where('kind', '=', request.kind)
    .orderBy('last_used_at', 'desc')
    .orderBy('number')
    .execute();
  const held = slots.find((slot) => slot.task_id === request.taskId);
  const free = held ?? slots.find((slot) => isFree(slot, request));
  if (free !== undefined) {
    await tx
      .updateTable('slots')
      .set({ task_id: request.taskId, attempt: request.attempt, last_used_at: nowS })
      .where('machine', '=', free.machine)
      .where('path', '=', free.path)
      .execute();
    return { ...free, task_id: request.taskId, attempt: request.attempt, last_used_at: nowS };
  }
  return newSlot(tx, request, slots, nowS);
}

/**
 * Only slots below the current worktree folder. Others belong to an earlier setting, or to the
 * project that ours is a copy of.
 */
const isFree = ({ task_id: task, path, number }: SlotRow, { kind, pathOf }: LeaseRequest) =>
  task === null && path === pathOf(kind, number);

/**
 * The folder does not belong to Drover (any more). Its number is not used again by this backend.
 */
export async function setSlotAside(tx: Tx, slot: SlotPlace): Promise<void> {
  await tx
    .updateTable('slots')
    .set({ task_id: `${upkeepPrefix}aside`, attempt: null })
    .where('machine', '=', slot.machine)
    .where('path', '=', slot.path)
    .execute();
}

/** All slots of a machine. */
export async function slotsOfMachine(db: Reads, machine: string): Promise<readonly SlotRow[]> {
  return db
    .selectFrom('slots')
    .selectAll()
    .where('machine', '=', machine)
    .orderBy('kind')
    .orderBy('number')
    .execute();
}

async function newSlot(
  tx: Tx,
  request: LeaseRequest,
  slots: readonly SlotRow[],
  nowS: number,
): Promise<SlotRow> {
  const used = new Set(slots.map((row) => row.number));
  let number = 1;
  while (used.has(number)) number += 1;
  const slot: SlotRow = {
    machine: request.machine,
    path: request.pathOf(request.kind, number),
    number,
    kind: request.kind,
    task_id: request.taskId,
    attempt: request.attempt,
    setup_fingerprint: null,
    created_at: nowS,
    last_used_at: nowS,
  };
  await tx.insertInto('slots').values(slot).execute();
  return slot;
}

export async function releaseSlot(tx: Tx, kind: 'task' | 'gate', taskId: string): Promise<void> {
  await tx
    .updateTable('slots')
    .set({ task_id: null, attempt: null })
    .where('kind', '=', kind)
    .where('task_id', '=', taskId)
    .execute();
  if (kind === 'gate') return;
  // A folder that the task no longer leases must not appear as its worktree, because a person could
  // look for its work there or edit it.
  await tx.updateTable('tasks').set({ worktree_path: null }).where('id', '=', taskId).execute();
}

const upkeepPrefix = 'upkeep:';

/** Whether Drover's upkeep has the slot, and not a task or a gate. */
export function isHeldForUpkeep({ task_id: holder }: Pick<SlotRow, 'task_id'>): boolean {
  return holder?.startsWith(upkeepPrefix) === true;
}

/** A worktree on the disk of one machine. */
export interface SlotPlace {
  readonly machine: string;
  readonly path: string;
}

export interface HeldSlot extends SlotPlace {
  readonly holder: string | null;
}

/**
 * Leases a slot for upkeep, so that no task gets it in the meantime. Only if it still has the same
 * holder (null = none) as when it was checked; otherwise returns false.
 */
export async function holdForUpkeep(tx: Tx, slot: HeldSlot, name: string): Promise<boolean> {
  const taken = await tx
    .updateTable('slots')
    .set({ task_id: `${upkeepPrefix}${name}` })
    .where('machine', '=', slot.machine)
    .where('path', '=', slot.path)
    .where('task_id', slot.holder === null ? 'is' : '=', slot.holder)
    .returning('path')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Returns a slot to its previous holder. */
export async function endUpkeep(tx: Tx, slot: HeldSlot): Promise<void> {
  await tx
    .updateTable('slots')
    .set({ task_id: slot.holder })
    .where('machine', '=', slot.machine)
    .where('path', '=', slot.path)
    .where('task_id', 'like', `${upkeepPrefix}%`)
    .execute();
}

/**
 * Ends upkeep leases of processes that hung or died and will not release them. `own`: the suffix of
 * this process's lease names.
 */
export async function endUpkeepOfOthers(tx: Tx, machine: string, own: string): Promise<void> {
  await tx
    .updateTable('slots')
    .set({ task_id: null })
    .where('machine', '=', machine)
    .where('task_id', 'like', `${upkeepPrefix}sweep/%`)
    .where('task_id', '!=', `${upkeepPrefix}${own}`)
    .execute();
}

/** Releases the slots that a dead backend had leased for upkeep. */
export async function endAllUpkeep(tx: Tx, machine: string): Promise<void> {
  await tx
    .updateTable('slots')
    .set({ task_id: null })
    .where('machine', '=', machine)
    .where('task_id', 'like', `${upkeepPrefix}%`)
    .execute();
}

export async function forgetSlot(tx: Tx, slot: SlotPlace): Promise<void> {
  await tx
    .deleteFrom('slots')
    .where('machine', '=', slot.machine)
    .where('path', '=', slot.path)
    .execute();
}

/** The folder that a task, or only this attempt of it, has on this machine; null if it has none. */
export async function folderOfTask(
  db: Reads,
  machine: string,
  taskId: string,
  attempt: number | null = null,
): Promise<string | null> {
  const slot = await db
    .selectFrom('slots')
    .select('path')
    .where('machine', '=', machine)
    .where('kind', '=', 'task')
    .where('task_id', '=', taskId)
    .$if(attempt !== null, (query) => query.where('attempt', '=', attempt))
    .executeTakeFirst();
  return slot?.path ?? null;
}

/** Slots of a machine that a task or a gate has. */
export async function heldSlots(
  db: Reads,
  machine: string,
): Promise<readonly Pick<SlotRow, 'kind' | 'task_id' | 'attempt'>[]> {
  return await db
    .selectFrom('slots')
    .select(['kind', 'task_id', 'attempt'])
    .where('machine', '=', machine)
    .where('task_id', 'is not', null)
    .execute();
}
