// Fetches commits that other machines made when an operation here needs them.

import { type Carrier, fetchCarried } from './carried-work.ts';
import { fetchPatterns } from './names.ts';
import { headRoot, landRoot, rescueRoot, workRoot } from '../../core/work/ref-names.ts';
import { ok } from '../../core/failure.ts';
import { refuse } from '../failures.ts';
import type { GitResult } from '../port.ts';
import type { Remote } from './remote.ts';
import { isSha, type Sha } from '../sha.ts';

const maxRemembered = 20_000;
/** How long a commit that the remote does not have either is not requested again. */
const missingLastsMs = 20_000;

/** All refs that machines push, for servers that do not serve single commits. */
const everything = fetchPatterns([headRoot, landRoot, rescueRoot, workRoot]);

export class Presence {
  readonly #remote: Remote;
  readonly #carrier: Carrier | null;
  readonly #present = new Set<Sha>();
  readonly #missing = new Map<Sha, number>();

  constructor(remote: Remote, carrier: Carrier | null) {
    this.#remote = remote;
    this.#carrier = carrier;
  }

  /** Fails only if the remote is unreachable. Git itself reports a commit that does not exist. */
  async ensure(commits: readonly Sha[]): Promise<GitResult<void>> {
    return this.#bring(commits, (wanted) => this.#absent(wanted));
  }

  /**
   * Also fails (`unknown_ref`) if a commit is neither here nor on the remote, because callers pass
   * the commits on.
   */
  async require(commits: readonly Sha[]): Promise<GitResult<void>> {
    const brought = await this.#bring(commits, (wanted) => this.#unknown(wanted));
    if (!brought.ok) return brought;
    const [missing] = await this.#unknown(commits);
    if (missing === undefined) return brought;
    const { name } = this.#remote;
    const message = `The commit ${missing.slice(0, 12)} is neither in this clone nor on the remote ${name}.`;
    return refuse('unknown_ref', message);
  }

  async #bring(
    commits: readonly Sha[],
    absentOf: (commits: readonly Sha[]) => Promise<readonly Sha[]>,
  ): Promise<GitResult<void>> {
    const absent = await absentOf(commits.filter((sha) => isSha(sha)));
    if (absent.length === 0) return ok(undefined);
    return this.#remote.context.inTurn('missing commits', async () => {
      // An earlier waiter may have fetched them.
      const wanted = await absentOf(absent);
      if (wanted.length === 0) return ok(undefined);
      const single = await this.#remote.fetch(wanted, []);
      if (!single.ok && single.error.retryable) return single;
      if (single.ok) {
        for (const sha of wanted) this.#note(sha);
        return single;
      }
      const all = await this.#remote.fetch(everything, []);
      if (!all.ok) return all;
      for (const sha of await this.#unknown(wanted)) {
        if (await this.#isCarried(sha)) this.#note(sha);
        else this.#missing.set(sha, Date.now());
      }
      return ok(undefined);
    });
  }

  /**
   * Whether a machine that cannot reach the remote sent the commit another way, and it has now been
   * fetched.
   */
  async #isCarried(sha: Sha): Promise<boolean> {
    if (this.#carrier === null) return false;
    return fetchCarried(this.#remote.context, this.#carrier, sha);
  }

  #note(sha: Sha): void {
    if (this.#present.size >= maxRemembered) this.#present.clear();
    this.#present.add(sha);
    this.#missing.delete(sha);
  }

  /** Returns the commits that this clone does not have. */
  async #unknown(commits: readonly Sha[]): Promise<readonly Sha[]> {
    const { context } = this.#remote;
    for (const sha of new Set(commits)) {
      if (!this.#present.has(sha) && (await context.objects.commit(sha)) !== null) this.#note(sha);
    }
    return [...new Set(commits)].filter((sha) => !this.#present.has(sha));
  }

  /** Returns the unknown commits, except those that were recently searched for without success. */
  async #absent(commits: readonly Sha[]): Promise<readonly Sha[]> {
    const unknown = await this.#unknown(commits);
    const nowMs = Date.now();
    return unknown.filter((sha) => {
      const missedAtMs = this.#missing.get(sha);
      return missedAtMs === undefined || nowMs - missedAtMs >= missingLastsMs;
    });
  }
}
