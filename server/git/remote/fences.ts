// Determines which process lands on a line. A fence is a ref of the remote that names its owner.
// Every landing replaces it in the same push that moves the landing ref, with a lease on the
// owner's fence. So the server refuses an owner that was replaced while it was disconnected, even
// if nothing has landed since and its lease on the line still matches.

import { randomUUID } from 'node:crypto';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { printedId } from '../failures.ts';
import type { GitResult } from '../port.ts';
import type { RefChange } from '../refs/transactions.ts';
import { fenceRef } from './names.ts';
import { pushChanges, type Pushed, type PushDeps, staleFailure } from './pushes.ts';
import type { Sha } from '../sha.ts';

/** How often to retry taking a line whose current owner lands at the same time. */
const takesMax = 8;

export class Fences {
  readonly #deps: PushDeps;
  readonly #context: RepositoryContext;
  readonly #words: string;
  /**
   * By line: the fence on the remote as far as this process knows, and fences whose pushes got no
   * response.
   */
  readonly #held = new Map<string, { sha: Sha; readonly maybe: Set<Sha> }>();
  #count = 0;

  constructor(deps: PushDeps, machineId: string) {
    this.#deps = deps;
    this.#context = deps.remote.context;
    this.#words = `machine ${machineId}\nprocess ${process.pid} ${randomUUID()}\n`;
  }

  /** Takes the line unless this process still owns it. The previous owner can no longer land. */
  own(line: string): Promise<GitResult<void>> {
    return this.#inTurn(line, () => this.#own(line));
  }

  async #own(line: string): Promise<GitResult<void>> {
    const ref = fenceRef(line);
    // This also fetches the line, which the landing reads next.
    const present = await this.#deps.remoteRefs.read(ref);
    if (!present.ok) return present;
    let old = present.value;
    const held = this.#held.get(line);
    if (held !== undefined && old !== null) {
      if (held.maybe.has(old)) held.sha = old;
      if (held.sha === old) return ok(undefined);
    }
    this.#held.delete(line);
    const mine = await this.#blob();
    if (!mine.ok) return mine;
    for (let takes = 0; takes < takesMax; takes += 1) {
      const pushed = await pushChanges(this.#deps, [{ ref, next: mine.value, old }], true);
      switch (pushed.kind) {
        case 'moved':
          this.#held.set(line, { sha: mine.value, maybe: new Set() });
          return ok(undefined);
        case 'trouble':
          return err(pushed.failure);
        case 'stale':
          old = pushed.found.get(ref) ?? null;
      }
    }
    return err(staleFailure(ref));
  }

  /**
   * Moves refs of a line together with a new fence of its owner. Returns null without moving
   * anything if this process does not own the line.
   */
  move(line: string, changes: readonly RefChange[]): Promise<GitResult<Pushed> | null> {
    return this.#inTurn(line, async () => {
      const held = this.#held.get(line);
      if (held === undefined) return null;
      const next = await this.#blob();
      if (!next.ok) return next;
      const ref = fenceRef(line);
      for (let tries = 0; tries < 2; tries += 1) {
        const fence = { ref, next: next.value, old: held.sha };
        held.maybe.add(next.value);
        const pushed = await pushChanges(this.#deps, [...changes, fence], true);
        if (pushed.kind === 'moved') {
          held.sha = next.value;
          held.maybe.clear();
          return ok(pushed);
        }
        if (pushed.kind !== 'stale') return ok(pushed);
        const present = pushed.found.get(ref) ?? null;
        // One of our pushes without a response did arrive.
        if (present !== null && present !== held.sha && held.maybe.has(present)) {
          held.sha = present;
          held.maybe.clear();
          continue;
        }
        if (present !== held.sha) this.#held.delete(line);
        return ok(pushed);
      }
      return err(staleFailure(ref));
    });
  }

  #inTurn<T>(line: string, body: () => Promise<T>): Promise<T> {
    return this.#context.inTurn(`fence ${line}`, body);
  }

  /** Different for each use, so that an old fence cannot be mistaken for a new one. */
  async #blob(): Promise<GitResult<Sha>> {
    this.#count += 1;
    const input = `${this.#words}count ${this.#count}\n`;
    const output = await this.#context.git(['hash-object', '-w', '--stdin'], { input });
    return printedId(output, 'write the mark of a line');
  }
}
