// The last snapshot of an attempt, wherever it was made: one of a machine that is gone is on the remote.

import { ok } from '../../core/failure.ts';
import type { GitResult, SnapshotView } from '../port.ts';
import type { LocalRepository } from '../repository.ts';
import { workRef } from '../work-chain.ts';
import type { Looks } from './looks.ts';
import type { Presence } from './presence.ts';

interface Parts {
  readonly local: LocalRepository;
  readonly looks: Looks;
  readonly presence: Presence;
}

export async function lastSnapshot(
  { local, looks, presence }: Parts,
  label: string,
  where?: 'anywhere',
): Promise<GitResult<SnapshotView | null>> {
  const own = await local.lastSnapshot(label);
  if (where === undefined || !own.ok || own.value !== null) return own;
  const pushed = await looks.read(workRef(label), 'now');
  if (!pushed.ok || pushed.value === null) return pushed.ok ? ok(null) : pushed;
  const present = await presence.ensure([pushed.value]);
  return present.ok ? local.snapshotAt(pushed.value) : present;
}
