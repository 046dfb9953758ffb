// The current refs of the remote. One fetch gets all refs of a line with their objects. Recent
// answers are reused, because every caller acts on them by compare-and-swap.

import { ok } from '../../core/failure.ts';
import { readRef } from '../refs/refs.ts';
import type { GitResult } from '../port.ts';
import { attemptPattern, fetchPatterns, parseRefPlace, privateRef, listLineRefs } from './names.ts';
import { parseListing, type Remote } from './remote.ts';
import type { Sha } from '../sha.ts';

interface Seen {
  readonly value: Sha | null;
  /** When the answer arrived. On a slow network, one fetch must serve all refs of a line. */
  readonly atMs: number;
}

const maxRemembered = 10_000;
/**
 * A listing of all attempts is reused for longer, because it is read for thousands of them and
 * every action uses a lease.
 */
const listingsFreshTimes = 8;

export class RemoteRefs {
  readonly #remote: Remote;
  readonly #freshMs: number;
  readonly #seen = new Map<string, Seen>();
  /**
   * Requested fetches that have not started. They are recent enough for every caller until then.
   */
  readonly #waiting = new Map<string, Promise<GitResult<void>>>();
  #attempts: { readonly atMs: number; readonly values: Map<string, Sha> } | null = null;

  constructor(remote: Remote, freshMs: number) {
    this.#remote = remote;
    this.#freshMs = freshMs;
  }

  /** The remote's value of a line's ref, with its objects fetched; null = the remote has none. */
  async read(ref: string, asOf?: 'now'): Promise<GitResult<Sha | null>> {
    const place = parseRefPlace(ref);
    if (place.kind === 'attempt') return this.#readAttempt(ref);
    const young = asOf === 'now' ? null : this.#young(ref);
    if (young !== null) return ok(young.value);
    const refs = place.kind === 'line' ? listLineRefs(place.line) : [ref];
    const looked = await this.#look(refs[0] ?? ref, refs);
    return looked.ok ? ok(this.#seen.get(ref)?.value ?? null) : looked;
  }

  /** Records the new value of a ref after a push. */
  note(ref: string, value: Sha | null): void {
    this.#remember(ref, { value, atMs: Date.now() });
    if (this.#attempts === null || parseRefPlace(ref).kind !== 'attempt') return;
    if (value === null) this.#attempts.values.delete(ref);
    else this.#attempts.values.set(ref, value);
  }

  /** The current values of exactly these refs, without their objects. */
  async exactly(refs: readonly string[]): Promise<GitResult<ReadonlyMap<string, Sha>>> {
    const listed = await this.#remote.list([], refs);
    if (!listed.ok) return listed;
    const all = parseListing(listed.value);
    for (const ref of refs) this.note(ref, all.get(ref) ?? null);
    return ok(all);
  }

  #young(ref: string): Seen | null {
    const seen = this.#seen.get(ref);
    return seen !== undefined && Date.now() - seen.atMs < this.#freshMs ? seen : null;
  }

  #remember(ref: string, seen: Seen): void {
    if (this.#seen.size >= maxRemembered) this.#seen.clear();
    this.#seen.set(ref, seen);
  }

  #look(key: string, refs: readonly string[]): Promise<GitResult<void>> {
    return this.#alone(key, async () => {
      const startMs = Date.now();
      const fetched = await this.#remote.fetch(fetchPatterns(refs), ['--prune']);
      if (!fetched.ok) return fetched;
      for (const ref of refs) {
        const value = await readRef(this.#remote.context, privateRef(ref));
        const since = this.#seen.get(ref);
        // One of our pushes that ended in the meantime has a newer value.
        if (since === undefined || since.atMs <= startMs) {
          this.#remember(ref, { value, atMs: Date.now() });
        }
      }
      return fetched;
    });
  }

  /**
   * Reads all branches of attempts in one process, because a sweep reads thousands of them one by
   * one.
   */
  async #readAttempt(ref: string): Promise<GitResult<Sha | null>> {
    const known = this.#attempts;
    if (known !== null && Date.now() - known.atMs < this.#freshMs * listingsFreshTimes) {
      return ok(known.values.get(ref) ?? null);
    }
    const listed = await this.#alone(attemptPattern, async () => {
      const done = await this.#remote.list(['--heads'], [attemptPattern]);
      if (!done.ok) return done;
      this.#attempts = { atMs: Date.now(), values: parseListing(done.value) };
      return ok(undefined);
    });
    return listed.ok ? ok(this.#attempts?.values.get(ref) ?? null) : listed;
  }

  #alone(key: string, look: () => Promise<GitResult<void>>): Promise<GitResult<void>> {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    const mine = this.#remote.context.inTurn(`look ${key}`, () => {
      this.#waiting.delete(key);
      return look();
    });
    this.#waiting.set(key, mine);
    return mine;
  }
}
