// Pushes branches of attempts to the remote, so that any machine can land their work. Only one
// machine works on an attempt at a time. Commits that an earlier one pushed under the same name,
// and that the new work does not contain, are moved to a rescue ref.

import { err, ok } from '../../core/failure.ts';
import { isAncestor } from '../ask/ancestry.ts';
import type { GitResult } from '../port.ts';
import type { RefChange } from '../refs/transactions.ts';
import { labelOfBranch } from '../keep/work-chain.ts';
import { rescueRefName } from './kept-refs.ts';
import type { Presence } from './presence.ts';
import { pushChanges, type PushDeps, staleFailure } from './pushes.ts';
import type { Sha } from '../sha.ts';

export interface PublishDeps extends PushDeps {
  readonly presence: Presence;
}

const triesMax = 4;

export class PublishedBranches {
  readonly #deps: PublishDeps;
  /** Values pushed by this process. They are probably still current, which saves a request. */
  readonly #pushed = new Map<string, Sha>();

  constructor(deps: PublishDeps) {
    this.#deps = deps;
  }

  /** Whether this process has pushed the branch. */
  hasMoved(ref: string): boolean {
    return this.#pushed.has(ref);
  }

  /**
   * Pushes an attempt's branch to the remote, or deletes it (`next` null). `holds`: the commit that
   * must already be kept.
   */
  async move(ref: string, next: Sha | null, holds: Sha | null): Promise<GitResult<void>> {
    return this.#deps.remote.context.inTurn(`publish ${ref}`, () => this.#move(ref, next, holds));
  }

  async #move(ref: string, next: Sha | null, holds: Sha | null): Promise<GitResult<void>> {
    let there = this.#pushed.get(ref) ?? null;
    if (next !== null && there === next) return ok(undefined);
    if (next === null) {
      const seen = await this.#deps.remoteRefs.read(ref);
      if (!seen.ok) return seen;
      there = seen.value;
    }
    for (let tries = 0; tries < triesMax; tries += 1) {
      if (there === next) return this.#is(ref, next);
      const kept = await this.#keeping(ref, there, next ?? holds);
      if (!kept.ok) return kept;
      const pushed = await pushChanges(this.#deps, [{ ref, next, old: there }, ...kept.value]);
      switch (pushed.kind) {
        case 'moved':
          return this.#is(ref, next);
        case 'trouble':
          return err(pushed.failure);
        case 'stale':
          there = pushed.found.get(ref) ?? null;
      }
    }
    return err(staleFailure(ref));
  }

  /**
   * Deletes many branches of ended attempts in a few pushes. `old`: the latest value that each may
   * have.
   */
  async remove(changes: readonly { ref: string; old: Sha | null }[]): Promise<GitResult<void>> {
    const { remoteRefs } = this.#deps;
    const simple: RefChange[] = [];
    const other: { ref: string; old: Sha | null }[] = [];
    for (const { ref, old } of changes) {
      const seen = await remoteRefs.read(ref);
      if (!seen.ok) return seen;
      if (seen.value === null) continue;
      if (seen.value === old) simple.push({ ref, next: null, old });
      else other.push({ ref, old });
    }
    for (let from = 0; from < simple.length; from += removedAtOnce) {
      const part = simple.slice(from, from + removedAtOnce);
      const pushed = await pushChanges(this.#deps, part);
      if (pushed.kind === 'trouble') return err(pushed.failure);
      if (pushed.kind === 'stale') return err(staleFailure(pushed.ref));
      for (const { ref } of part) this.#pushed.delete(ref);
    }
    for (const { ref, old } of other) {
      const moved = await this.move(ref, null, old);
      if (!moved.ok) return moved;
    }
    return ok(undefined);
  }

  #is(ref: string, value: Sha | null): GitResult<void> {
    if (value === null) this.#pushed.delete(ref);
    else this.#pushed.set(ref, value);
    if (this.#pushed.size > maxRemembered) this.#pushed.clear();
    return ok(undefined);
  }

  /**
   * The change that keeps the branch's commits on the remote, unless `next` contains all of them.
   */
  async #keeping(
    ref: string,
    there: Sha | null,
    next: Sha | null,
  ): Promise<GitResult<readonly RefChange[]>> {
    if (there === null) return ok([]);
    const { remote, presence, remoteRefs } = this.#deps;
    if (next !== null) {
      const present = await presence.ensure([there]);
      if (!present.ok) return present;
      if (await isAncestor(remote.context, there, next)) return ok([]);
    }
    const kept = rescueRefName(labelOfBranch(ref), there);
    const seen = await remoteRefs.exactly([kept]);
    if (!seen.ok) return seen;
    return ok(seen.value.has(kept) ? [] : [{ ref: kept, next: there, old: null }]);
  }
}

const removedAtOnce = 100;
const maxRemembered = 10_000;
