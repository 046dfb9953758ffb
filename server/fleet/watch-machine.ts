// Watches this machine of a fleet: a worker reports its tasks, and every backend drains when
// ordered.

import type { WorkerOptions } from '../protocol/worker-notes.ts';
import { type DrainedMachine, MachineDrain } from './machine-drain.ts';
import type { MachinePulse } from './machine-pulse.ts';
import { WorkerWatch } from './worker-watch.ts';

interface WatchedMachine extends Omit<DrainedMachine, 'pulse'> {
  /** Null without a fleet. */
  readonly pulse: MachinePulse | null;
  /** Exits if no client is connected, because clients would start another backend. */
  readonly leaveUnused: (reason: string) => void;
}

/** Resolves with a function that ends it after the last agent has ended. */
export async function watchMachine(
  { pulse, leaveUnused, ...machine }: WatchedMachine,
  request: WorkerOptions | undefined,
): Promise<() => Promise<void>> {
  if (pulse === null) return () => Promise.resolve();
  if (request === undefined) {
    const silent = { draining: () => {}, givingBack: () => {} };
    const drain = new MachineDrain({ ...machine, pulse, leave: leaveUnused }, silent, null);
    return () => Promise.resolve(drain.end());
  }
  const watch = new WorkerWatch({ ...machine, pulse }, request);
  await watch.begin();
  return () => watch.end();
}
