// The steps of one claim, each stored in the transaction that checks the claim. Both adapters use
// it with their own statements.

import type { Kysely, Transaction } from 'kysely';
import type { CommitVerdict, StepStore } from './run.ts';

/** The statements that one claim sends to its database. */
export interface ClaimStatements<Tables> {
  readonly workflowId: string;
  /** Returns false if the claim is lost. Nothing was then written. */
  readonly insert: (db: Kysely<Tables>, name: string, output: string | null) => Promise<boolean>;
  readonly mayCommit: (db: Kysely<Tables>) => Promise<'yes' | 'lost' | 'cancelled'>;
  readonly isTrouble: (error: unknown) => boolean;
}

export class ClaimSteps<Tables, Tx> implements StepStore<Tx> {
  readonly isTrouble: (error: unknown) => boolean;
  readonly #db: Kysely<Tables>;
  readonly #bodiesDb: Kysely<Tables>;
  readonly #claim: ClaimStatements<Tables>;

  /** `bodiesDb`: the same database as bodies use it, on which their transactions start. */
  constructor(db: Kysely<Tables>, bodiesDb: Kysely<Tables>, claim: ClaimStatements<Tables>) {
    this.isTrouble = claim.isTrouble;
    this.#db = db;
    this.#bodiesDb = bodiesDb;
    this.#claim = claim;
  }

  storeStep(
    name: string,
    output: string | null,
    record: ((tx: Tx) => Promise<void>) | undefined,
  ): Promise<boolean> {
    if (record === undefined) return this.#claim.insert(this.#db, name, output);
    return this.#bodiesDb.transaction().execute(async (tx) => {
      if (!(await this.#claim.insert(tx, name, output))) return false;
      await record(asCallersTransaction<Tables, Tx>(tx));
      return true;
    });
  }

  whileHeld<T>(body: (tx: Tx) => Promise<T>): Promise<{ readonly value: T } | null> {
    return this.#bodiesDb.transaction().execute(async (tx) => {
      if ((await this.#claim.mayCommit(tx)) === 'lost') return null;
      return { value: await body(asCallersTransaction<Tables, Tx>(tx)) };
    });
  }

  commit(name: string, body: (tx: Tx) => Promise<string | null>): Promise<CommitVerdict> {
    return this.#bodiesDb.transaction().execute(async (tx): Promise<CommitVerdict> => {
      const verdict = await this.#claim.mayCommit(tx);
      if (verdict !== 'yes') return { verdict };
      const output = await body(asCallersTransaction<Tables, Tx>(tx));
      const held = await this.#claim.insert(tx, name, output);
      if (!held) {
        throw new Error(`the claim of ${this.#claim.workflowId} was lost inside a transaction`);
      }
      return { verdict, output };
    });
  }
}

/** The caller chose Tx as the transaction type of the database that it passed. */
function asCallersTransaction<Tables, Tx>(tx: Transaction<Tables>): Tx {
  return tx as unknown as Tx;
}
