// Moves refs of the remote by compare-and-swap, several in one transaction of the server. A push
// that ends without a response may have succeeded, so the remote is checked before anything is
// decided.

import { setTimeout as delay } from 'node:timers/promises';
import { gitFailure } from '../failures.ts';
import type { GitFailure } from '../port.ts';
import type { RefChange } from '../refs/transactions.ts';
import type { RemoteRefs } from './remote-refs.ts';
import type { Remote } from './remote.ts';
import {
  isPassingRefusal,
  parseRefusals,
  refusedFailure,
  remoteFailure,
} from './remote-failures.ts';
import type { Sha } from '../sha.ts';

export type Pushed =
  | { readonly kind: 'moved' }
  /** Nothing was moved. `found`: the remote's current values. */
  | { readonly kind: 'stale'; readonly ref: string; readonly found: ReadonlyMap<string, Sha> }
  | { readonly kind: 'trouble'; readonly failure: GitFailure };

export interface PushDeps {
  readonly remote: Remote;
  readonly remoteRefs: RemoteRefs;
}

/**
 * How often to retry if a push was refused although nothing moved, for example because of a lock on
 * the server.
 */
const passingMax = 5;
const passingPauseMs = 100;

export async function pushChanges(
  { remote, remoteRefs }: PushDeps,
  changes: readonly RefChange[],
  urgent = false,
): Promise<Pushed> {
  let left = changes;
  let passing = 0;
  for (let tries = 0; ; tries += 1) {
    const output = await remote.push(
      left.map(({ ref, next }) => `${next ?? ''}:${ref}`),
      left.map(({ ref, old }) => `--force-with-lease=${ref}:${old ?? ''}`),
      urgent,
    );
    if (output.code === 0) return moved(remoteRefs, changes);
    const refusals = parseRefusals(output);
    const isAnswer = refusals.length > 0 && output.problem === null;
    const failure = remoteFailure(output, remote.name, `push to ${remote.name}`);
    // Access was denied, so nothing can have changed.
    if (!isAnswer && !failure.retryable) return { kind: 'trouble', failure };
    const pauseMs = remote.pausesMs[tries];
    if (!remote.wasSent(output)) {
      if (pauseMs === undefined || output.problem === 'timeout')
        return { kind: 'trouble', failure };
      await delay(pauseMs);
      continue;
    }
    const found = await remoteRefs.exactly(changes.map(({ ref }) => ref));
    if (!found.ok) return { kind: 'trouble', failure: found.error };
    left = left.filter(({ ref, next }) => (found.value.get(ref) ?? null) !== next);
    if (left.length === 0) return moved(remoteRefs, changes);
    const other = left.find(({ ref, old }) => (found.value.get(ref) ?? null) !== old);
    if (other !== undefined) return { kind: 'stale', ref: other.ref, found: found.value };
    const refused = refusals.find((refusal) => !refusal.isStale && !isPassingRefusal(refusal));
    const last = passing < passingMax ? undefined : refusals[0];
    const final = refused ?? last;
    if (final !== undefined) {
      return { kind: 'trouble', failure: refusedFailure(final, output, remote.name) };
    }
    if (isAnswer) {
      passing += 1;
      tries -= 1;
      await delay(passing * passingPauseMs);
      continue;
    }
    if (pauseMs === undefined) return { kind: 'trouble', failure };
    await delay(pauseMs);
  }
}

function moved(remoteRefs: RemoteRefs, changes: readonly RefChange[]): Pushed {
  for (const { ref, next } of changes) remoteRefs.note(ref, next);
  return { kind: 'moved' };
}

export function staleFailure(ref: string): GitFailure {
  return gitFailure('stale', `${ref} was just moved on the remote by someone else.`);
}
