// The steps of one claim in the SQLite file: each is stored in the transaction that checks the lease.

import type { Transaction } from 'kysely';
import type { Clock } from '../port.ts';
import type { CommitVerdict, StepStore } from '../run.ts';
import { insertStep, mayCommit, type Db, type Fence } from './statements.ts';
import type { DurableTables } from './tables.ts';
import { isDatabaseTrouble } from './trouble.ts';

export class EmbeddedStepStore<Tx> implements StepStore<Tx> {
  readonly isTrouble = isDatabaseTrouble;
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #fence: Fence;

  constructor(db: Db, clock: Clock, fence: Fence) {
    this.#db = db;
    this.#clock = clock;
    this.#fence = fence;
  }

  storeStep(
    name: string,
    output: string | null,
    record: ((tx: Tx) => Promise<void>) | undefined,
  ): Promise<boolean> {
    if (record === undefined) return this.#insert(this.#db, name, output);
    return this.#db.transaction().execute(async (tx) => {
      if (!(await this.#insert(tx, name, output))) return false;
      await record(asCallersTransaction<Tx>(tx));
      return true;
    });
  }

  commit(name: string, body: (tx: Tx) => Promise<string | null>): Promise<CommitVerdict> {
    return this.#db.transaction().execute(async (tx): Promise<CommitVerdict> => {
      const verdict = await mayCommit(tx, this.#fence);
      if (verdict !== 'yes') return { verdict };
      const output = await body(asCallersTransaction<Tx>(tx));
      const held = await this.#insert(tx, name, output);
      if (!held) throw new Error(`the lease of ${this.#fence.id} was lost inside a transaction`);
      return { verdict, output };
    });
  }

  #insert(db: Db, name: string, output: string | null): Promise<boolean> {
    return insertStep(db, this.#fence, name, output, this.#clock.now());
  }
}

/** The caller chose Tx as the transaction type of the very database it handed us. */
function asCallersTransaction<Tx>(tx: Transaction<DurableTables>): Tx {
  return tx as unknown as Tx;
}
