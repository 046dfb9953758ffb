// Drover's notes in a slot's private folder: the identity of the folder, and the owner of the work
// in it.

import { basename, join } from 'node:path';
import { branchName } from '../refs/refs.ts';
import { readText, removeEntry, writeNew } from '../../files/small-files.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import { lengthOfLog } from '../keep/dropped-commits.ts';
import { labelOfBranch } from '../keep/work-chain.ts';
import { resolveFolder, type LinkedWorktree } from '../refs/worktree-link.ts';
import type { SlotRequest } from '../slot-port.ts';

const gateOwner = '(gate)';

/** Records the new user of a slot whose files are complete. Later files belong to that user. */
export async function markUse(worktree: LinkedWorktree, request: SlotRequest): Promise<void> {
  await removeEntry(join(worktree.gitDir, slotNotes.creation));
  const owner = ownerOf(request);
  if (owner !== null && isNewUser(worktree, request)) {
    await removeEntry(join(worktree.gitDir, slotNotes.start));
    await writeNote(join(worktree.gitDir, slotNotes.log), String(lengthOfLog(worktree)));
    await writeNote(join(worktree.gitDir, slotNotes.owner), owner);
  }
  const folder = resolveFolder(worktree.path);
  if (folder !== null) await writeNote(join(worktree.gitDir, slotNotes.folder), folder);
}

export function isNewUser(worktree: LinkedWorktree, request: SlotRequest): boolean {
  const owner = ownerOf(request);
  return owner !== null && owner !== readText(join(worktree.gitDir, slotNotes.owner));
}

async function writeNote(file: string, text: string): Promise<void> {
  if (readText(file) !== text) await writeNew(file, text);
}

/** Null if the slot changes its commit but not its user. */
function ownerOf(request: SlotRequest): string | null {
  if (request.use === 'gate') return gateOwner;
  if (request.branch === null) return null;
  const name = branchName(request.branch);
  return name.startsWith('drover/') ? labelOfBranch(name) : null;
}

/** The attempt whose work is in the slot, or the slot's name. */
export function labelOfSlot(worktree: LinkedWorktree): string {
  const owner = readText(join(worktree.gitDir, slotNotes.owner))?.trim() ?? '';
  return /^[^/\s]+\/\d+$/.test(owner) ? owner : basename(worktree.path);
}

/** Whether the slot was a gate's folder, whose files the gate created. */
export function isGateSlot(worktree: LinkedWorktree): boolean {
  return readText(join(worktree.gitDir, slotNotes.owner)) === gateOwner;
}
