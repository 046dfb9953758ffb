// Pushes snapshots, which are made on this machine, later and in groups, so that other machines can
// fetch them. Snapshots with files that are never committed or that git ignores stay on this
// machine.

import { sharedRoot } from '../../core/work/ref-names.ts';
import { isAncestor } from '../ask/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { secretsInRange } from '../keep/held-contents.ts';
import { secretNames } from '../keep/held-names.ts';
import { shown, zeroEnded } from '../../files/path-bytes.ts';
import type { GitFailure } from '../port.ts';
import type { RefChange } from '../refs/transactions.ts';
import { readRef } from '../refs/refs.ts';
import { listEdits } from '../keep/without-held.ts';
import { pushChanges, type PushDeps } from './pushes.ts';
import type { Sha } from '../sha.ts';

/** If more are waiting, the oldest stay only on this machine. */
const waitingMax = 200;
/** Maximum delay between tries of a failed push. The delay doubles after each failure. */
const againMaxMs = 5 * 60_000;

export class WorkPushes {
  readonly #deps: PushDeps;
  readonly #report: (error: unknown, doing: string) => void;
  readonly #waiting = new Set<string>();
  /** Snapshots that are pending because the remote was unreachable. */
  readonly #owed = new Set<string>();
  readonly #againMs: number;
  #nextMs: number;
  #again: NodeJS.Timeout | undefined;
  #running: Promise<void> | null = null;

  constructor(deps: PushDeps, report: (error: unknown, doing: string) => void, againMs: number) {
    this.#deps = deps;
    this.#report = report;
    this.#againMs = againMs;
    this.#nextMs = againMs;
  }

  add(ref: string | null): void {
    if (ref === null) return;
    putBounded(this.#waiting, ref);
    this.#start();
  }

  /** Retries failed pushes, if there are any. */
  again(): void {
    if (this.#owed.size > 0) this.#start();
  }

  /** Stops further tries, because the caller is about to close the repository. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
    clearTimeout(this.#again);
  }

  #start(): void {
    this.#running ??= this.#pushAll()
      .catch((error: unknown) => this.#report(error, 'pushing snapshots'))
      .finally(() => {
        this.#running = null;
        this.#planAgain();
      });
  }

  #planAgain(): void {
    clearTimeout(this.#again);
    if (this.#owed.size === 0) {
      this.#nextMs = this.#againMs;
      return;
    }
    this.#again = setTimeout(() => this.again(), this.#nextMs).unref();
    this.#nextMs = Math.min(this.#nextMs * 2, againMaxMs);
  }

  async #pushAll(): Promise<void> {
    const { context } = this.#deps.remote;
    do {
      const refs = [...new Set([...this.#owed, ...this.#waiting])];
      this.#owed.clear();
      this.#waiting.clear();
      const found = await this.#deps.remoteRefs.exactly(refs);
      if (!found.ok) {
        this.#failed(refs, found.error);
        continue;
      }
      const changes: RefChange[] = [];
      for (const ref of refs) {
        const next = await readRef(context, ref);
        const old = found.value.get(ref) ?? null;
        if (next === null || next === old) continue;
        // Each snapshot has the previous one as a parent. Any other was made by another machine and
        // is never replaced.
        const isOurs = old === null || (await isAncestor(context, old, next));
        if (isOurs && (await mayBeShared(context, next, old))) changes.push({ ref, next, old });
      }
      if (changes.length === 0) continue;
      const pushed = await pushChanges(this.#deps, changes);
      if (pushed.kind === 'trouble') this.#failed(refs, pushed.failure);
    } while (this.#waiting.size > 0);
  }

  /** A refused push is not retried; all others are. */
  #failed(refs: readonly string[], failure: GitFailure): void {
    if (failure.retryable) for (const ref of refs) putBounded(this.#owed, ref);
    this.#report(failure, `pushing snapshots to ${this.#deps.remote.name}`);
  }
}

function putBounded(refs: Set<string>, ref: string): void {
  refs.delete(ref);
  const [oldest] = refs;
  if (refs.size >= waitingMax && oldest !== undefined) refs.delete(oldest);
  refs.add(ref);
}

/** Also returns false if unknown. `pushed` is the snapshot that the remote has. */
async function mayBeShared(
  context: RepositoryContext,
  commit: Sha,
  pushed: Sha | null,
): Promise<boolean> {
  // Checks every commit that the remote does not have, relative to each parent, because the staged
  // state is one of them.
  const there = pushed === null ? [] : [pushed];
  const known = ['--not', ...there, `--glob=${sharedRoot}*`, '--remotes'];
  const changed = await listEdits(context, ['--root', commit, ...known]);
  if (!changed.ok) return false;
  const { present: paths, blobs } = changed.value;
  if (paths.some((path) => context.isHeldName(shown(path)))) return false;
  const names = await secretNames(context, null, paths);
  if (!names.ok || names.value.size > 0) return false;
  const secrets = await secretsInRange(context, null, blobs, []);
  if (!secrets.ok || secrets.value.size > 0) return false;
  if (paths.length === 0) return true;
  const ignored = await context.git(['check-ignore', '-q', '-z', '--stdin', '--no-index'], {
    input: zeroEnded(paths),
  });
  // Exit code 1: none of them is ignored.
  return ignored.code === 1 && ignored.problem === null;
}
