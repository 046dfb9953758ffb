// Kysely's driver and dialect for one connection of node:sqlite. It starts no timers, so it runs in
// a simulation too.

import { statSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryCompiler,
  type QueryResult,
} from 'kysely';
import { transactionIsOver } from '../schema/dialect.ts';
import { databaseError, databaseRefusal } from './database-error.ts';
import type { GroupSync } from './group-sync.ts';

const preparedStatementsMax = 256;

/** Transactions that were started on each connection. */
const transactionCounts = new WeakMap<DatabaseSync, number>();

/** Another number in each transaction of the connection. */
export function transactionNumber(database: DatabaseSync): number {
  return transactionCounts.get(database) ?? 0;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly mayWrite: boolean;
  /** Names of the columns; none for a statement that answers no rows. */
  columns: readonly string[];
}

/** After these, the columns of statements prepared before may be others. */
const changesSchema = /^\s*(?:create|alter|drop)\b/i;
/** Only these leave nothing to flush. Any statement may follow `with`. */
const onlyReads =
  /^\s*(?:(?:select|pragma|explain|begin|commit|end|rollback|savepoint|release)\b|with\b(?![^]*\b(?:insert|update|delete|replace)\b))/i;

/**
 * For these statements SQLite counts the rows, or returns the changed ones. An idle backend asks
 * every second for waiting workflows, with a statement that might write.
 */
const tellsChanges = /^\s*(?:insert|update|delete|with)\b/i;

/** The single connection. Its current user has a lease. */
class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #path: string;
  /** Least recently used first: a Map keeps the order of insertion. */
  readonly #prepared = new Map<string, Prepared>();
  #hasWritten = false;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** True once for everything that was written and committed since the last call. */
  takeCommitted(): boolean {
    if (!this.#hasWritten || this.#database.isTransaction) return false;
    this.#hasWritten = false;
    return true;
  }

  run(sql: string): void {
    try {
      this.#prepare(sql).statement.run();
    } catch (error) {
      throw databaseError(error, this.#path);
    }
  }

  query<R>(query: CompiledQuery): QueryResult<R> {
    const parameters = query.parameters as readonly SQLInputValue[];
    try {
      const prepared = this.#prepare(query.sql);
      const { statement } = prepared;
      if (prepared.columns.length > 0) {
        const rows = objectsOf(prepared, statement.all(...parameters)) as R[];
        this.#noteChange(prepared, query.sql, rows.length);
        return { rows };
      }
      const { changes, lastInsertRowid } = statement.run(...parameters);
      this.#noteChange(prepared, query.sql, Number(changes));
      if (changesSchema.test(query.sql)) this.#prepared.clear();
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    } catch (error) {
      throw databaseError(error, this.#path);
    }
  }

  #noteChange({ mayWrite }: Prepared, text: string, changed: number): void {
    this.#hasWritten ||= mayWrite && (changed > 0 || !tellsChanges.test(text));
  }

  *stream<R>(query: CompiledQuery): IterableIterator<QueryResult<R>> {
    // A separate statement: a cached one would be reset by the next query with the same text.
    const statement = this.#database.prepare(query.sql);
    for (const row of statement.iterate(...(query.parameters as readonly SQLInputValue[]))) {
      yield { rows: [{ ...row } as R] };
    }
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      const statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      prepared = { statement, columns: namesOf(statement), mayWrite: !onlyReads.test(sql) };
    } else {
      this.#prepared.delete(sql);
    }
    this.#prepared.set(sql, prepared);
    if (this.#prepared.size > preparedStatementsMax) {
      const [oldest] = this.#prepared.keys();
      if (oldest !== undefined) this.#prepared.delete(oldest);
    }
    return prepared;
  }
}

function namesOf(statement: StatementSync): readonly string[] {
  return statement.columns().map((column) => column.name);
}

/**
 * Builds the rows ourselves, which takes half the time of node:sqlite's own objects: those have no
 * prototype and are slow to read.
 */
function objectsOf(prepared: Prepared, rows: unknown): readonly object[] {
  const arrays = rows as readonly (readonly unknown[])[];
  // Another process may have added a column since this statement was prepared.
  if (arrays[0] !== undefined && arrays[0].length !== prepared.columns.length) {
    prepared.columns = namesOf(prepared.statement);
  }
  const { columns } = prepared;
  // A copy of a row that has all keys already is quicker than one key after the other.
  const blank = Object.fromEntries(columns.map((name) => [name, null as unknown]));
  return arrays.map((values) => {
    const row: Record<string, unknown> = { ...blank };
    for (let i = 0; i < columns.length; i += 1) row[columns[i] as string] = values[i];
    return row;
  });
}

/**
 * The right to use the connection. It is released as soon as a commit is made, before the commit is
 * on the disk, so that the next one can commit in the meantime and both are flushed together.
 */
class Lease implements DatabaseConnection {
  readonly #driver: SqliteDriver;
  readonly #connection: SqliteConnection;
  isHeld = true;
  /**
   * Its transaction has ended: later statements of a body that was left running would be committed
   * by themselves.
   */
  isOver = false;

  constructor(driver: SqliteDriver, connection: SqliteConnection) {
    this.#driver = driver;
    this.#connection = connection;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.isOver) throw new Error(transactionIsOver);
    if (!this.isHeld) await this.#driver.take(this);
    const result = this.#connection.query<R>(query);
    if (this.#connection.takeCommitted()) await this.#driver.flush(this);
    return result;
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    if (!this.isHeld) await this.#driver.take(this);
    yield* this.#connection.stream<R>(query);
  }
}

/** Hands the one connection to one caller after the other, first come, first served. */
class SqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: SqliteConnection;
  readonly #sync: GroupSync | null;
  readonly #refuseMoved: () => void;
  #taken = false;
  readonly #waiting: (() => void)[] = [];

  constructor(database: DatabaseSync, path: string, sync: GroupSync | null) {
    this.#database = database;
    this.#connection = new SqliteConnection(database, path);
    this.#sync = sync;
    this.#refuseMoved = movedFileGuard(path);
  }

  async init(): Promise<void> {}

  async take(lease: Lease): Promise<void> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
    lease.isHeld = true;
  }

  #giveBack(lease: Lease): void {
    if (!lease.isHeld) return;
    lease.isHeld = false;
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  }

  /** After a commit. */
  async flush(lease: Lease): Promise<void> {
    if (this.#sync === null) return;
    this.#giveBack(lease);
    await this.#sync.flushed();
  }

  async acquireConnection(): Promise<Lease> {
    const lease = new Lease(this, this.#connection);
    await this.take(lease);
    return lease;
  }

  async releaseConnection(lease: Lease): Promise<void> {
    this.#giveBack(lease);
  }

  /**
   * `immediate` takes the write lock at once: a transaction that reads first can then never fail at
   * its first write.
   */
  async beginTransaction(): Promise<void> {
    this.#refuseMoved();
    this.#connection.run('begin immediate');
    transactionCounts.set(this.#database, transactionNumber(this.#database) + 1);
  }

  async commitTransaction(lease: Lease): Promise<void> {
    this.#connection.run('commit');
    lease.isOver = true;
    if (this.#connection.takeCommitted()) await this.flush(lease);
  }

  async rollbackTransaction(lease: Lease): Promise<void> {
    lease.isOver = true;
    // A full disk and some other errors have already rolled back; after a failed flush nothing is
    // left to roll back.
    if (lease.isHeld && this.#connection.inTransaction) this.#connection.run('rollback');
    if (lease.isHeld) this.#connection.takeCommitted();
  }

  async savepoint(_lease: Lease, name: string): Promise<void> {
    this.#connection.run(`savepoint ${quoted(name)}`);
  }

  async rollbackToSavepoint(_lease: Lease, name: string): Promise<void> {
    this.#connection.run(`rollback to ${quoted(name)}`);
  }

  async releaseSavepoint(_lease: Lease, name: string): Promise<void> {
    this.#connection.run(`release ${quoted(name)}`);
  }

  async destroy(): Promise<void> {
    await this.#sync?.close();
    if (this.#database.isOpen) this.#database.close();
  }
}

/**
 * With a rollback journal, SQLite refuses to write to a file that lost its name. With a write-ahead
 * log it continues, and no other process sees the writes.
 */
function movedFileGuard(path: string): () => void {
  const noted = identityOf(path);
  if (noted === null) return () => {};
  return () => {
    if (identityOf(path) === noted) return;
    throw databaseRefusal(
      `The database ${path} was deleted, moved or replaced while it was open; nothing was changed. Try again.`,
    );
  };
}

function identityOf(path: string): string | null {
  if (path === ':memory:') return null;
  try {
    const facts = statSync(path, { throwIfNoEntry: false });
    return facts === undefined ? null : `${facts.dev}:${facts.ino}`;
  } catch {
    return null;
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * The driver keeps its own queue for the connection, so Kysely need not put a second one in front
 * of it.
 */
class QueueingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

export function sqliteDialect(
  database: DatabaseSync,
  path: string,
  sync: GroupSync | null,
): Dialect {
  return {
    createDriver: () => new SqliteDriver(database, path, sync),
    createQueryCompiler: (): QueryCompiler => new SqliteQueryCompiler(),
    createAdapter: () => new QueueingAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}
