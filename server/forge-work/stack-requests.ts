// Requests after a level of a stack was merged: the level above is retargeted to the base, and the
// merged branch is deleted.

import type { Answer } from '../forge/port.ts';
import { type PullRow, setPull } from '../store/forge/pull-requests.ts';
import { addRequest, type Tx } from '../store/port.ts';
import type { ForgeAccess } from './forge-access.ts';
import type { Sent } from './sent.ts';

/** The branch that the pull request is merged into from now on. */
export interface RetargetPlan {
  readonly pull: Pick<PullRow, 'provider' | 'host' | 'native_id' | 'number'>;
  readonly base: string;
}

/** A branch whose pull request was merged. */
export interface DeletePlan {
  readonly branch: string;
  readonly head: string;
}

export async function planRetarget(
  tx: Tx,
  { epic_id: epicId, provider, host, native_id, number }: PullRow,
  base: string,
  nowMs: number,
): Promise<void> {
  const request: RetargetPlan = { pull: { provider, host, native_id, number }, base };
  const key = `${epicId}/retarget/${number}/${base}`;
  await addRequest(tx, { key, epicId, position: 0, kind: 'retarget', request }, nowMs);
}

export async function planDelete(
  tx: Tx,
  { epic_id: epicId, branch, head_sha: head, number }: PullRow,
  nowMs: number,
): Promise<void> {
  const request: DeletePlan = { branch, head };
  const key = `${epicId}/delete/${number}`;
  await addRequest(tx, { key, epicId, position: 1, kind: 'delete', request }, nowMs);
}

export async function retarget(
  { forge }: ForgeAccess,
  { pull, base }: RetargetPlan,
): Promise<Sent | Exclude<Answer<never>, { readonly kind: 'facts' }>> {
  const found = await forge.read(pull.number);
  if (found.kind !== 'facts') return found;
  const { state, baseBranch } = found.value;
  if (state === 'open' && baseBranch !== base) {
    const edited = await forge.edit(pull.number, { base });
    if (edited.kind !== 'facts') return edited;
  }
  return { kind: 'done', write: (tx) => setPull(tx, pull, { base }) };
}

export async function deleteBranch(
  { remote }: ForgeAccess,
  { branch, head }: DeletePlan,
): Promise<Sent> {
  const removed = await remote.remove(branch, head);
  if (!removed.ok) return { kind: 'later', why: removed.error.message };
  const end = removed.value;
  if (end.kind === 'pushed') return { kind: 'done' };
  const why = end.kind === 'refused' ? end.why : 'it has other commits';
  return { kind: 'done', answer: `${branch} was kept: ${why}` };
}
