// Kysely's driver and dialect for one connection of node:sqlite. It starts no timers, so it also
// runs in a simulation.

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

/** Number of transactions started on each connection. */
const transactionCounts = new WeakMap<DatabaseSync, number>();

/** Different for each transaction of the connection. */
export function transactionNumber(database: DatabaseSync): number {
  return transactionCounts.get(database) ?? 0;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly mayWrite: boolean;
  /** Names of the columns; empty for a statement that returns no rows. */
  columns: readonly string[];
}

/** After these, statements that were prepared earlier may have different columns. */
const changesSchema = /^\s*(?:create|alter|drop)\b/i;
/** Only these leave nothing to flush. Any statement may follow `with`. */
const onlyReads =
  /^\s*(?:(?:select|pragma|explain|begin|commit|end|rollback|savepoint|release)\b|with\b(?![^]*\b(?:insert|update|delete|replace)\b))/i;

/**
 * For these statements SQLite counts the rows or returns the changed ones. An idle backend polls
 * for waiting workflows every second, with a statement that might write.
 */
const tellsChanges = /^\s*(?:insert|update|delete|with)\b/i;

/** The single connection. Its current user has a lease. */
class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #path: string;
  /** Least recently used first, because a Map preserves insertion order. */
  readonly #prepared = new Map<string, Prepared>();
  #hasWritten = false;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Returns true once after writes were committed since the last call. */
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
    // A separate statement, because the next query with the same text would reset a cached one.
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
 * Builds the row objects, which takes half the time of node:sqlite's own objects: those have no
 * prototype and are slow to read.
 */
function objectsOf(prepared: Prepared, rows: unknown): readonly object[] {
  const arrays = rows as readonly (readonly unknown[])[];
  // Another process may have added a column since this statement was prepared.
  if (arrays[0] !== undefined && arrays[0].length !== prepared.columns.length) {
    prepared.columns = namesOf(prepared.statement);
  }
  const { columns } = prepared;
  // Copying an object that already has all keys is faster than adding them one by one.
  const blank = Object.fromEntries(columns.map((name) => [name, null as unknown]));
  return arrays.map((values) => {
    const row: Record<string, unknown> = { ...blank };
    for (let i = 0; i < columns.length; i += 1) row[columns[i] as string] = values[i];
    return row;
  });
}

/**
 * The right to use the connection. It is released as soon as a commit is made, before the commit is
 * on the disk, so that the next user can commit in the meantime and both are flushed together.
 */
class Lease implements DatabaseConnection {
  readonly #driver: SqliteDriver;
  readonly #connection: SqliteConnection;
  isHeld = true;
  /**
   * Its transaction has ended. Later statements of a body that is still running would be committed
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

/** Gives the only connection to one caller after another, in the order of their requests. */
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

  /** Called after a commit. */
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
   * `immediate` takes the write lock at once, so a transaction that reads first cannot fail at its
   * first write.
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
    // A full disk and some other errors already roll back, and after a failed flush nothing is left
    // to roll back.
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
 * Detects that the file was moved or deleted. With a rollback journal, SQLite refuses to write to
 * such a file. With a write-ahead log it continues, but no other process sees the writes.
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

/** The driver has its own queue for the connection, so Kysely does not need another one. */
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
