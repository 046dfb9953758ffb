// The steps of one claim in PostgreSQL: state change, output and the check of the claim are one transaction.

import type { Transaction } from 'kysely';
import type { CommitVerdict, StepStore } from '../run.ts';
import { insertStep, mayCommit, type Db, type Fence } from './statements.ts';
import type { FleetTables } from './tables.ts';
import { isDatabaseTrouble } from './trouble.ts';

export class FleetStepStore<Tx> implements StepStore<Tx> {
  readonly isTrouble = isDatabaseTrouble;
  readonly #db: Db;
  readonly #bodiesDb: Db;
  readonly #fence: Fence;

  constructor(db: Db, bodiesDb: Db, fence: Fence) {
    this.#db = db;
    this.#bodiesDb = bodiesDb;
    this.#fence = fence;
  }

  storeStep(
    name: string,
    output: string | null,
    record: ((tx: Tx) => Promise<void>) | undefined,
  ): Promise<boolean> {
    if (record === undefined) return insertStep(this.#db, this.#fence, name, output);
    return this.#bodiesDb.transaction().execute(async (tx) => {
      if (!(await insertStep(tx, this.#fence, name, output))) return false;
      await record(asCallersTransaction<Tx>(tx));
      return true;
    });
  }

  commit(name: string, body: (tx: Tx) => Promise<string | null>): Promise<CommitVerdict> {
    return this.#bodiesDb.transaction().execute(async (tx): Promise<CommitVerdict> => {
      const verdict = await mayCommit(tx, this.#fence);
      if (verdict !== 'yes') return { verdict };
      const output = await body(asCallersTransaction<Tx>(tx));
      const held = await insertStep(tx, this.#fence, name, output);
      if (!held) throw new Error(`the claim of ${this.#fence.id} was lost inside a transaction`);
      return { verdict, output };
    });
  }
}

/** The caller chose Tx as the transaction type of the very database it handed us. */
function asCallersTransaction<Tx>(tx: Transaction<FleetTables>): Tx {
  return tx as unknown as Tx;
}
