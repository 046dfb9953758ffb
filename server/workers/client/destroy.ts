// Destroys instances reliably: retries and verifies. If that fails, the lease stays and names the
// instance.

import { setTimeout as delay } from 'node:timers/promises';
import type { InstanceRef, Provisioner } from '../provisioners/port.ts';
import { readLeases, removeLease, type Lease } from './leases.ts';

export interface DestroyTimes {
  readonly tries: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const destroyTimes: DestroyTimes = { tries: 5, firstDelayMs: 500, longestDelayMs: 8_000 };

/**
 * Returns null if neither the instance nor its lease exists any more. Otherwise returns a sentence
 * with the instance's name, and the lease stays.
 */
export async function destroyInstance(
  provisioner: Provisioner,
  leases: string,
  ref: InstanceRef,
  owner: string,
  times: DestroyTimes = destroyTimes,
): Promise<string | null> {
  let last = '';
  let waitMs = times.firstDelayMs;
  for (let tried = 1; tried <= times.tries; tried += 1) {
    const destroyed = await provisioner.destroy(ref);
    const problem = destroyed.ok ? await stillThere(provisioner, ref, owner) : destroyed.error;
    if (problem === null) {
      removeLease(leases, ref.name);
      return null;
    }
    last = problem;
    if (tried === times.tries) break;
    await delay(waitMs);
    waitMs = Math.min(waitMs * 2, times.longestDelayMs);
  }
  const remedy = `Run "drover remote destroy ${ref.name}".`;
  return `The instance ${ref.name} could not be destroyed: ${last} ${remedy}`;
}

/** Failing to get the list proves nothing against a confirmed destruction. */
async function stillThere(
  provisioner: Provisioner,
  ref: InstanceRef,
  owner: string,
): Promise<string | null> {
  if (!provisioner.capabilities.list) return null;
  const listed = await provisioner.list(owner);
  const isThere = listed.ok && listed.value.some((other) => other.name === ref.name);
  return isThere ? 'it is still listed.' : null;
}

export interface Reconciled {
  readonly destroyed: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Destroys instances in our own leases whose follower has certainly exited. Never touches instances
 * without a lease, of other owners, or with a running follower.
 */
export async function reconcileLeases(options: {
  readonly leases: string;
  readonly owner: string;
  readonly isAlive: (lease: Lease) => boolean;
  readonly open: (lease: Lease) => Provisioner | null;
  readonly times?: DestroyTimes;
}): Promise<Reconciled> {
  const destroyed: string[] = [];
  const found = readLeases(options.leases);
  const problems = found.unreadable.map(
    (name) => `The lease ${name} of a remote worker cannot be read; its instance is left alone.`,
  );
  for (const lease of found.leases) {
    if (lease.owner !== options.owner || options.isAlive(lease)) continue;
    const provisioner = options.open(lease);
    if (provisioner === null) {
      problems.push(
        `The instance ${lease.name} of provisioner ${lease.provisioner} is left over, and that provisioner is not configured any more.`,
      );
      continue;
    }
    const { times } = options;
    const problem = await destroyInstance(provisioner, options.leases, lease, lease.owner, times);
    if (problem === null) destroyed.push(lease.name);
    else problems.push(problem);
  }
  return { destroyed, problems };
}
