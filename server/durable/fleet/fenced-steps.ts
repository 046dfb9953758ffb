// The steps of one claim in a fleet. The database itself checks the claim: a statement of a lost
// claim fails, and with it the whole transaction. So no response needs to be awaited between the
// first statement and the commit (`store/postgres/turn.ts`).

import type { CommitVerdict, StepStore } from '../run.ts';
import * as statements from './statements.ts';
import type { Db, Fence } from './statements.ts';
import { isDatabaseTrouble } from './trouble.ts';

export class FencedSteps<Tx> implements StepStore<Tx> {
  readonly isTrouble = isDatabaseTrouble;
  readonly #db: Db;
  readonly #bodiesDb: Db;
  readonly #fence: Fence;

  /** `bodiesDb`: the same database as bodies use it, on which their transactions start. */
  constructor(db: Db, bodiesDb: Db, fence: Fence) {
    this.#db = db;
    this.#bodiesDb = bodiesDb;
    this.#fence = fence;
  }

  async storeStep(
    name: string,
    output: string | null,
    record: ((tx: Tx) => Promise<void>) | undefined,
  ): Promise<boolean> {
    if (record === undefined) return statements.insertStep(this.#db, this.#fence, name, output);
    const done = await this.#whileClaim('held', async (tx) => {
      await statements.storeStep(tx, this.#fence, name, output);
      await record(asCallersTransaction<Tx>(tx));
    });
    return done !== lost;
  }

  async commit(name: string, body: (tx: Tx) => Promise<string | null>): Promise<CommitVerdict> {
    const output = await this.#whileClaim('held and not cancelled', async (tx) => {
      const made = await body(asCallersTransaction<Tx>(tx));
      await statements.storeStep(tx, this.#fence, name, made);
      return made;
    });
    if (output !== lost) return { verdict: 'yes', output };
    const verdict = await statements.mayCommit(this.#db, this.#fence);
    // The cancel was withdrawn after the statement failed, so the transaction runs again.
    return { verdict: verdict === 'yes' ? 'cancelled' : verdict };
  }

  async whileHeld<T>(body: (tx: Tx) => Promise<T>): Promise<{ readonly value: T } | null> {
    const value = await this.#whileClaim('held', (tx) => body(asCallersTransaction<Tx>(tx)));
    return value === lost ? null : { value };
  }

  async #whileClaim<T>(
    claim: statements.ClaimState,
    body: (tx: Db) => Promise<T>,
  ): Promise<T | typeof lost> {
    try {
      return await this.#bodiesDb.transaction().execute(async (tx) => {
        await statements.refuseUnless(tx, this.#fence, claim);
        return body(tx);
      });
    } catch (error) {
      if (statements.isRefusedClaim(error)) return lost;
      throw error;
    }
  }
}

const lost = Symbol('the claim is lost');

/** The caller chose Tx as the transaction type of the database that it passed. */
function asCallersTransaction<Tx>(tx: Db): Tx {
  return tx as unknown as Tx;
}
